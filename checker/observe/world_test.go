package observe

import (
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Judges search the groups of a history at the same time, in one world. The race detector watches.
func TestAWorldServesManyGoroutines(t *testing.T) {
	w := NewWorld(Config{Profile: classic.Java})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 40 {
				b := w.NewBranch(fmt.Sprint("g", g))
				list := fmt.Sprintf("p%d", (n*7+g)%50)
				id := fmt.Sprintf("m%d-%d", g, n)
				step := func(req kmsg.Request, version int16) {
					err := w.Apply(b, Request{Ticket: checker.Ticket(n + 1), Message: req, Version: version, ClientID: "c", Minted: id}, Window{}, func(o Outcome) bool {
						b = o.Branch
						return true
					})
					if err != nil {
						t.Error(err)
					}
				}
				step(join("", list, "common"), 9)
				step(join(id, list, "common"), 9)
				step(sync5(id, 1, list, id, "x"), 5)
				if b.State().Phase != classic.Stable || !b.Has(id) {
					t.Errorf("group %d, round %d: %v", g, n, b)
				}
			}
		})
	}
	wg.Wait()
}

// More symbols than there are is capacity, not a verdict.
func TestTooManyListsOverflow(t *testing.T) {
	w := NewWorld(Config{Profile: classic.Java})
	overflows := 0
	for n := range 300 {
		err := w.Apply(w.NewBranch(group), Request{Ticket: 1, Message: join("", fmt.Sprint("p", n)), Version: 9, Minted: "m"}, Window{}, func(o Outcome) bool {
			if o.Overflow {
				overflows++
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if overflows != 300-255 {
		t.Errorf("%d of 300 lists did not fit", overflows)
	}
}

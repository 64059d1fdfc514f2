package linearize

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/muster-kafka/muster/checker/history"
)

// letters are calls with an answer each, right or wrong, of which small histories are made.
var letters = []struct {
	name  string
	write func(b *book, from, to int)
	small bool // it is also one of those of which histories of four calls are made
}{
	{"A is given an id", func(b *book, from, to int) { b.join("a", from, to, "", refusedJoin(79, "A")) }, false},
	{"A joins alone", func(b *book, from, to int) { b.join("a", from, to, "A", joined(1, "A", "A", "A")) }, true},
	{"A syncs", func(b *book, from, to int) { b.sync("a", from, to, "A", 1, []string{"A"}, 0, "A") }, true},
	{"A is alive", func(b *book, from, to int) { b.heartbeat("a", from, to, "A", 1, 0) }, false},
	{"A is unknown", func(b *book, from, to int) { b.heartbeat("a", from, to, "A", 1, 25) }, false},
	{"A is to rejoin", func(b *book, from, to int) { b.heartbeat("a", from, to, "A", 1, 27) }, true},
	{"A leaves", func(b *book, from, to int) { b.leave("a", from, to, "A") }, true},
	{"A may have left", func(b *book, from, to int) { b.leave("a", from, to, "A"); eaten(b.last()) }, false},
	{"A commits", func(b *book, from, to int) { b.commit("a", from, to, "A", 1, 5, 0) }, false},
	{"A may have committed", func(b *book, from, to int) { eaten(b.commit("a", from, to, "A", 1, 5, 0)) }, false},
	{"a tool may have committed", func(b *book, from, to int) { eaten(b.commit("t", from, to, "", -1, 7, 0)) }, false},
	{"nothing is committed", func(b *book, from, to int) { b.fetch("r", from, to, -1) }, false},
	{"A's offset is seen", func(b *book, from, to int) { b.fetch("r", from, to, 5) }, false},
	{"the tool's offset is seen", func(b *book, from, to int) { b.fetch("r", from, to, 7) }, false},
	{"B is given an id", func(b *book, from, to int) { b.join("b", from, to, "", refusedJoin(79, "B")) }, true},
	{"B joins", func(b *book, from, to int) { b.join("b", from, to, "B", joined(2, "A", "B")) }, true},
	{"B may have joined", func(b *book, from, to int) { eaten(b.join("b", from, to, "B", nil)) }, false},
	{"A joins with B", func(b *book, from, to int) { b.join("a", from, to, "A", joined(2, "A", "A", "A", "B")) }, true},
}

func (b *book) last() *history.Call { return &b.Calls[len(b.Calls)-1] }

// overlaps yields every way in which so many calls, in the order of their beginnings, can overlap: from and to of each, without two at one instant.
func overlaps(n int, yield func(from, to []int)) {
	from, to := make([]int, n), make([]int, n)
	var place func(instant, begun int, open []int)
	place = func(instant, begun int, open []int) {
		if begun == n && len(open) == 0 {
			yield(from, to)
			return
		}
		if begun < n {
			from[begun] = instant
			place(instant+1, begun+1, append(open[:len(open):len(open)], begun))
		}
		for i, one := range open {
			to[one] = instant
			rest := append(append([]int{}, open[:i]...), open[i+1:]...)
			place(instant+1, begun, rest)
		}
	}
	place(0, 0, nil)
}

// TestUntimedAgreement judges all histories of up to so many calls in which no timer can fire, whatever they answer and however they overlap, of a group that does
// not exist and of one with a member: the judge and the clock have to agree on each. With MUSTER_SECOND_OPINION set they are of up to four calls,
// two otherwise.
func TestUntimedAgreement(t *testing.T) {
	t.Parallel()
	most := 2
	if os.Getenv("MUSTER_SECOND_OPINION") != "" {
		most = 4
	}
	var legal, illegal atomic.Int64
	t.Run("beginning", func(t *testing.T) {
		for first, letter := range letters {
			t.Run(letter.name, func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= most; n++ {
					if n == 4 && !letter.small {
						continue
					}
					written := make([]int, n)
					written[0] = first
					words(written, 1, func() {
						overlaps(n, func(from, to []int) {
							for _, member := range []bool{false, true} {
								if agree(t, spell(written, from, to, member)) == Legal {
									legal.Add(1)
								} else {
									illegal.Add(1)
								}
							}
						})
					})
				}
			})
		}
	})
	t.Logf("%d legal, %d illegal", legal.Load(), illegal.Load())
	if legal.Load() < 500 || illegal.Load() < 500 {
		t.Error("too few were compared")
	}
}

// words fills in the letters from the given place on, in every way.
func words(written []int, at int, yield func()) {
	if at == len(written) {
		yield()
		return
	}
	for i := range letters {
		if len(written) < 4 || letters[i].small {
			written[at] = i
			words(written, at+1, yield)
		}
	}
}

// spell writes a history, of a group that has a member or is not there.
func spell(written, from, to []int, member bool) *book {
	b := newBook("reference")
	b.Header.Tick = 0
	start := 0
	if member {
		b.alone()
		start = 6
	}
	for i, letter := range written {
		letters[letter].write(b, start+from[i], start+to[i])
	}
	return b
}

// agree judges a history both ways.
func agree(t *testing.T, b *book) Result {
	t.Helper()
	v, err := Check(t.Context(), &b.History, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := Illegal
	if newClock(t, &b.History).legal() {
		want = Legal
	}
	if v.Result != want {
		t.Errorf("the judge says %v %s, the clock says %v:\n%s", v.Result, v.Reason, want, tellAll(t, &b.History))
	}
	return want
}

// tellAll tells a small history, a line for each call.
func tellAll(t testing.TB, h *history.History) string {
	t.Helper()
	var all strings.Builder
	for i := range h.Calls {
		c := &h.Calls[i]
		req, err := c.DecodeRequest()
		if err != nil {
			t.Fatal(err)
		}
		end := string(c.Outcome)
		if c.Outcome == history.Answered {
			resp, err := c.DecodeResponse()
			if err != nil {
				t.Fatal(err)
			}
			end = answerText(resp)
		}
		fmt.Fprintf(&all, "  %2.0f-%2.0f ms  %s -> %s\n", ms(c.Call), ms(c.Return), requestText(req, c.Version), end)
	}
	return all.String()
}

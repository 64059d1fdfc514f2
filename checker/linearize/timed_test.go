package linearize

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/internal/golden"
)

// Times of histories in which timers fire, in milliseconds. All of them are short, so that every instant can be tried.
const (
	briefSession, briefRebalance = 6, 9
	briefHorizon                 = 34
)

// asked are the requests of such histories.
var asked = []func(b *book, from int){
	func(b *book, from int) { b.join("a", from, from, "", refusedJoin(79, "A")) },
	func(b *book, from int) { b.join("a", from, from, "A", refusedJoin(79, "A")) },
	func(b *book, from int) { b.join("b", from, from, "B", refusedJoin(79, "B")) },
	func(b *book, from int) { b.sync("a", from, from, "A", 1, []string{"A"}, 0, "A") },
	func(b *book, from int) { b.sync("b", from, from, "B", 2, nil, 0, "B") },
	func(b *book, from int) { b.heartbeat("a", from, from, "A", 1, 0) },
	func(b *book, from int) { b.heartbeat("a", from, from, "A", 1, 0) },
	func(b *book, from int) { b.heartbeat("b", from, from, "B", 2, 0) },
	func(b *book, from int) { b.leave("a", from, from, "A") },
	func(b *book, from int) { b.commit("a", from, from, "A", 1, int64(from), 0) },
	func(b *book, from int) { b.fetch("r", from, from, -1) },
}

// brief makes a legal history in which timers fire: A is a member, B has been given an id, and then requests come at random. Each is taken up, and each timer
// fires, at a random instant at which it may.
func brief(t *testing.T, r *rand.Rand) *book {
	slack := 1 + r.Int64N(3)
	b := newBook("reference")
	b.Header.Tick, b.Header.Slack = 0, time.Duration(slack*ms1)
	b.join("a", 0, 0, "", nil)
	b.join("a", 1, 1, "A", nil)
	b.sync("a", 2, 2, "A", 1, []string{"A"}, 0, "A")
	b.join("b", 3, 3, "", nil)
	from := 4
	for range 3 + r.IntN(4) {
		from += r.IntN(5)
		asked[r.IntN(len(asked))](b, from)
	}
	for i := range b.Calls {
		b.Calls[i].Outcome, b.Calls[i].Response = history.Open, nil
		if req, err := b.Calls[i].DecodeRequest(); err != nil {
			t.Fatal(err)
		} else if join, ok := req.(*kmsg.JoinGroupRequest); ok {
			join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = briefSession, briefRebalance
			b.Calls[i].Request = history.EncodeRequest(join, b.Calls[i].Version)
		}
	}
	answerAll(t, r, b)
	return b
}

// answerAll lets the specification answer all calls, instant by instant.
func answerAll(t *testing.T, r *rand.Rand, b *book) {
	t.Helper()
	config, err := configOf(&b.History, nil)
	if err != nil {
		t.Fatal(err)
	}
	slack := int64(b.Header.Slack) / ms1
	world := observe.NewWorld(config)
	branch := world.NewBranch("g")
	fires, given := map[string]int64{}, map[string]bool{}
	took := make([]int64, len(b.Calls))
	for i := range b.Calls {
		took[i] = b.Calls[i].Call + ms1*r.Int64N(slack+1)
	}
	for now := int64(0); now <= briefHorizon*ms1; now += ms1 {
		for {
			var due []func(yield func(observe.Outcome) bool)
			at := observe.Window{Earliest: now, Latest: now}
			for i := range b.Calls {
				if took[i] == now {
					c := &b.Calls[i]
					due = append(due, func(yield func(observe.Outcome) bool) {
						took[i] = -1
						req, _ := c.DecodeRequest()
						minted := map[string]string{"a": "A", "b": "B"}[c.Client]
						if given[minted] { // no id is given twice
							minted = fmt.Sprint(minted, c.ID)
						}
						err = world.Apply(branch, observe.Request{Ticket: checker.Ticket(c.ID), Message: req, Version: c.Version, ClientID: c.Client, Minted: minted}, at, yield)
					})
				}
			}
			for _, timer := range branch.Timers() {
				key := fmt.Sprint(timer.Kind, timer.Member, timer.Window)
				if _, known := fires[key]; !known {
					fires[key] = timer.Window.Latest + ms1*r.Int64N(slack+1)
				}
				if fires[key] <= now {
					due = append(due, func(yield func(observe.Outcome) bool) { world.Fire(branch, timer, at, yield) })
				}
			}
			if len(due) == 0 {
				break
			}
			var all []observe.Outcome
			due[r.IntN(len(due))](func(o observe.Outcome) bool { all = append(all, o); return true })
			if err != nil {
				t.Fatal(err)
			}
			o := all[r.IntN(len(all))]
			branch = o.Branch
			for _, id := range branch.Ids() {
				given[id] = true
			}
			for _, a := range o.Answers {
				c := &b.Calls[a.Ticket-1]
				c.Outcome, c.Response = history.Answered, history.EncodeResponse(a.Message, c.Version)
				c.Return = now + ms1*r.Int64N(1+slack)
			}
		}
	}
	for i := range b.Calls {
		if c := &b.Calls[i]; c.Outcome == history.Open {
			c.Outcome, c.Return = history.GivenUp, min(briefHorizon*ms1, c.Call+ms1*(8+r.Int64N(24)))
			if took[i] < 0 && c.Return < briefHorizon*ms1 {
				c.Return = briefHorizon * ms1
			}
		}
	}
}

// spoiledBook changes a history in one way, which may leave it legal.
func spoiledBook(t *testing.T, r *rand.Rand, b *book) *history.History {
	h := &history.History{Header: b.Header, Calls: slices.Clone(b.Calls)}
	shift := ms1 * (1 + r.Int64N(5)) * int64(1-2*r.IntN(2))
	at := 3 + r.IntN(len(h.Calls)-3)
	switch r.IntN(4) {
	case 0: // one call is at another time
		c := &h.Calls[at]
		c.Call, c.Return = max(0, c.Call+shift), max(0, c.Return+shift)
	case 1: // all that follows is
		for i := at; i < len(h.Calls); i++ {
			c := &h.Calls[i]
			c.Call, c.Return = max(0, c.Call+shift), max(0, c.Return+shift)
		}
	case 2: // an answer is lost
		eaten(&h.Calls[at])
	default:
		if spoiled := mutate(t, r, h, mutations[r.IntN(len(mutations))]); spoiled != nil {
			return spoiled
		}
	}
	return h
}

// TestTimedAgreement judges random histories in which timers fire, right ones and spoiled ones. What the clock can explain the judge has to explain. The judge may
// explain more, as its windows say less than single instants do; how much more is written down, by the reason.
func TestTimedAgreement(t *testing.T) {
	t.Parallel()
	runs := 1500
	if os.Getenv("MUSTER_SECOND_OPINION") != "" {
		runs = 20_000
	}
	count := map[string]int{}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 6))
		b := brief(t, r)
		h := &b.History
		spoiled := seed%4 > 0
		if spoiled {
			h = spoiledBook(t, r, b)
		}
		legal := newClock(t, h).legal()
		if !spoiled && !legal {
			t.Fatalf("seed %d: the clock does not explain what the specification did:\n%s", seed, tellAll(t, h))
		}
		v, err := Check(t.Context(), h, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case legal && v.Result != Legal:
			t.Errorf("seed %d: the clock explains what the judge does not (%v %s):\n%s", seed, v.Result, v.Reason, tellAll(t, h))
		case legal:
			count["both explain it"]++
		case v.Result == Legal:
			count["only the judge explains it: "+beyond(t, h)]++
			if testing.Verbose() {
				t.Logf("seed %d: %s\n%s", seed, beyond(t, h), tellAll(t, h))
			}
		default:
			count["neither explains it"]++
		}
	}
	var lines []string
	for what, n := range count {
		lines = append(lines, fmt.Sprintf("%5d  %s\n", n, what))
	}
	slices.Sort(lines)
	golden.Testdata(t, fmt.Sprintf("timed-%d.txt", runs), strings.Join(lines, ""))
}

// beyond says why the judge explains what no choice of instants does.
func beyond(t *testing.T, h *history.History) string {
	t.Helper()
	v, err := Check(t.Context(), h, Limits{apart: true})
	if err != nil {
		t.Fatal(err)
	}
	if v.Result == Illegal {
		return "two ways that differ in their windows only were merged into one with both"
	}
	return "a window does not know with which others it began"
}

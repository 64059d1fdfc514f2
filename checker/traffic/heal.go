package traffic

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Healed is what has come of the healing of one group.
type Healed struct {
	Group  string
	Result Healing
	Began  time.Time
	Took   time.Duration
	Why    converge.Reason // why they are Apart; of one that is Untold its text alone
}

// Healing says whether a group's clients have got together.
type Healing uint8

const (
	// Untold: there was no time to see, or nothing to see it by.
	Untold Healing = iota
	// Together: the group is Stable, by what it says itself, with all its clients and nobody else; and their next heartbeats find it so.
	Together
	// Apart: it is not, although there was time enough.
	Apart
)

// Sessions and rebalances of clients that heal are at least as long, so that a machine that stands still for a moment expels nobody.
const healingTimeout = 2 * time.Second

// HealsWithin is how long healing may take, where nothing is done to the target: two rounds of what was left behind by clients that are gone, and
// one of the clients that heal.
func (s *Setup) HealsWithin(initialDelay time.Duration) time.Duration {
	session, rebalance := s.longest()
	return 3*time.Second + initialDelay + 2*(session+rebalance) + 2*healingTimeout
}

// longest are the longest timeouts that clients draw.
func (s *Setup) longest() (session, rebalance time.Duration) { return s.unit() * 5, s.unit() * 7 }

// healing is a group that heals. What its clients know is guarded by its lock.
type healing struct {
	*driver
	began  time.Time
	within time.Duration
	beat   time.Duration // the longest between two heartbeats
	decide context.CancelFunc

	mu    sync.Mutex
	group converge.Group
	beats map[*converge.Member]int           // heartbeats that were answered with NONE
	known map[*converge.Member]time.Duration // the session timeouts that the coordinator knows
}

// Heal has all clients follow the program of package converge, until each group is together or it is plain that it will not be. Nothing is to
// be done to their connections any more. What they do is recorded like all else. The error is that of Drive.
func (r *Run) Heal(ctx context.Context, within time.Duration) ([]Healed, error) {
	out := make([]Healed, len(r.plan.Groups))
	if given := r.silent.Load() + r.closed.Load(); r.silent.Load() >= enough || r.closed.Load() >= enough {
		for i, g := range r.plan.Groups {
			out[i] = Healed{Group: g, Why: converge.Reason{Text: fmt.Sprintf("it was not tried: %d calls had no answer, or the target had closed their connection", given)}}
		}
		return out, nil
	}
	session, rebalance := r.plan.longest()
	r.plan.Patience = max(r.plan.Patience, 2*max(rebalance, healingTimeout)+time.Second) // longer than the target may hold a request back
	clients := make([]*gen.Client, len(r.runners))
	for i, one := range r.runners {
		clients[i] = one.client.Client
		one.disconnect()
	}
	gen.Ready(clients)
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range r.plan.Groups {
		ctx, decide := context.WithCancel(ctx)
		h := &healing{
			driver: r.driver, within: within, beat: max(150*time.Millisecond, r.plan.MinSession/4), decide: decide,
			group: converge.Group{Name: name, Patience: r.plan.Patience, Crowded: true},
			beats: map[*converge.Member]int{}, known: map[*converge.Member]time.Duration{}, began: r.target.Clock().Now(),
		}
		for _, one := range r.runners {
			if one.client.Group == name {
				h.admit(one, session)
			}
		}
		for _, one := range r.runners {
			if one.heals == h {
				group.Go(func() error { return one.heal(ctx) })
			}
		}
		group.Go(func() (err error) {
			defer decide()
			out[i], err = h.watch(ctx)
			return err
		})
	}
	return out, group.Wait()
}

// admit makes a runner's client one that heals.
func (h *healing) admit(r *runner, longestSession time.Duration) {
	r.heals, r.member = h, &converge.Member{Client: r.client.Client, Asked: h.began}
	h.group.Members = append(h.group.Members, r.member)
	h.known[r.member] = max(h.plan.MinSession, 100*time.Millisecond) // the shortest that it may have drawn
	r.client.List = lists[0]
	r.client.Session, r.client.Rebalance = max(healingTimeout, longestSession), max(healingTimeout, r.client.Rebalance)
	if most := h.plan.MaxSession; most > 0 {
		r.client.Session = min(r.client.Session, most)
	}
}

// learns changes what the client knows.
func (r *runner) learns(change func()) {
	if r.heals != nil {
		r.heals.mu.Lock()
		defer r.heals.mu.Unlock()
	}
	change()
}

// loses is a client that will have no answer.
func (r *runner) loses(req kmsg.Request) {
	r.client.Lost(req)
	if r.heals != nil {
		r.member.Unanswered++
	}
}

// hears is a client that has an answer.
func (r *runner) hears(req kmsg.Request, resp kmsg.Response) {
	r.client.Answer(req, resp)
	if r.heals == nil {
		return
	}
	r.heals.group.Heard(r.member, resp, r.target.Clock().Now())
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		if m.ErrorCode == 0 {
			r.heals.known[r.member] = r.client.Session
		}
	case *kmsg.HeartbeatResponse:
		if m.ErrorCode == 0 {
			r.heals.beats[r.member]++
		}
	}
}

// heal has the client follow the program until its group is decided.
func (r *runner) heal(ctx context.Context) error {
	h := r.heals
	for n := 0; ctx.Err() == nil; n++ {
		var step Step
		var before converge.Knows
		r.learns(func() {
			before = r.member.Knows()
			r.member.Asked = r.target.Clock().Now()
			step = r.client.newest(r.member.Request(func(member string) string { return fmt.Sprintf("%s.h%d.%s", r.client.Name, n, member) }))
		})
		if step.Request == nil {
			return nil // which the target does not offer: the group will not get together, and says so
		}
		o, err := r.begin(ctx, &r.main, step)
		if err != nil {
			return err
		}
		if o != nil {
			if err := r.await(ctx, o); err != nil {
				return err
			}
		}
		var pause time.Duration
		r.learns(func() {
			switch {
			case r.member.Settled():
				pause = min(h.beat, h.known[r.member]/4)
			case o == nil || r.member.Knows() == before:
				pause = h.beat / 3
			}
		})
		if r.target.Clock().Sleep(ctx, pause) != nil {
			return nil
		}
	}
	return nil
}

// await waits for the answer. A member that waits for its assignment goes on with its heartbeats.
func (r *runner) await(ctx context.Context, o *ongoing) error {
	if _, sync := o.req.(*kmsg.SyncGroupRequest); sync {
		for !r.target.Clock().Await(ctx, o.call, r.heals.beat) && ctx.Err() == nil && r.rec.Now() < o.giveUp {
			var beat Step
			r.learns(func() { beat = r.client.newest(r.client.Heartbeat()) })
			other, err := r.begin(ctx, &r.side, beat)
			if err == nil && other != nil {
				err = r.end(ctx, &r.side, other)
			}
			if err != nil {
				return err
			}
		}
	}
	return r.end(ctx, &r.main, o)
}

// watch looks at the group until it is decided.
func (h *healing) watch(ctx context.Context) (Healed, error) {
	looker := &runner{driver: h.driver, client: &Client{Client: gen.NewClient(h.plan.Name+"h", h.group.Name), setup: &h.plan.Setup}}
	defer looker.disconnect()
	clock := h.target.Clock()
	out := Healed{Group: h.group.Name, Began: h.began}
	for life := int64(-1); ; {
		if clock.Sleep(ctx, h.beat/10) != nil {
			out.Why.Text = fmt.Sprintf("there was no time to see whether its clients get together: %v of %v", clock.Now().Sub(h.began).Round(time.Millisecond), h.within)
			return out, nil
		}
		now, err := h.plan.Around.Enter(ctx)
		if err != nil {
			continue
		}
		if now != life { // what was done to the target is over now
			life, h.began = now, clock.Now()
		}
		late := clock.Now().Sub(h.began) > h.within
		if !h.settled() && !late {
			continue
		}
		d, err := looker.describe(ctx)
		if err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			continue
		}
		if h.whole(d) && h.steady(ctx) {
			out.Result, out.Took = Together, clock.Now().Sub(out.Began)
			return out, nil
		}
		if late {
			h.mu.Lock()
			defer h.mu.Unlock()
			out.Result, out.Took, out.Why = Apart, clock.Now().Sub(out.Began), h.group.Why(d, h.sight())
			return out, nil
		}
		clock.Sleep(ctx, h.beat/3)
	}
}

func (h *healing) settled() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.group.Settled()
}

// whole says whether the group has all its clients; where the target does not describe groups, they have to know.
func (h *healing) whole(d *kmsg.DescribeGroupsResponseGroup) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, offered := h.plan.Versions[int16(kmsg.DescribeGroups)]; !offered {
		return h.group.Settled()
	}
	return h.group.Whole(d)
}

// steady says whether each client has one more heartbeat that finds all as it was.
func (h *healing) steady(ctx context.Context) bool {
	h.mu.Lock()
	settled := h.group.Settled() // somebody may have been told otherwise meanwhile
	before, knew := map[*converge.Member]int{}, map[*converge.Member]converge.Knows{}
	for _, m := range h.group.Members {
		if m.Settled() { // one for which there is no room is not
			before[m], knew[m] = h.beats[m], m.Knows()
		}
	}
	h.mu.Unlock()
	for settled && h.target.Clock().Sleep(ctx, h.beat/10) == nil {
		done, same := true, true
		h.mu.Lock()
		for m, n := range before {
			done, same = done && h.beats[m] > n, same && m.Knows() == knew[m]
		}
		h.mu.Unlock()
		if done || !same {
			return done && same
		}
		if h.target.Clock().Now().Sub(h.began) > 2*h.within {
			return false
		}
	}
	return false
}

// describe asks what the target says of the group; nil where it does not say.
func (r *runner) describe(ctx context.Context) (*kmsg.DescribeGroupsResponseGroup, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{r.client.Group}
	step := r.client.newest(req)
	if step.Request == nil {
		return nil, nil
	}
	o, err := r.begin(ctx, &r.main, step)
	if o == nil || err != nil {
		return nil, err
	}
	if err := r.end(ctx, &r.main, o); err != nil || !o.call.Ended() {
		return nil, err
	}
	resp, err := o.call.Answer()
	if err != nil {
		return nil, nil
	}
	groups := resp.(*kmsg.DescribeGroupsResponse).Groups
	if len(groups) != 1 || groups[0].ErrorCode != 0 {
		return nil, nil
	}
	return &groups[0], nil
}

// sight is what can be seen of a target whose timers cannot.
func (h *healing) sight() converge.Sight {
	now := h.target.Clock().Now()
	past := now.Sub(h.began).Round(100 * time.Millisecond)
	session, rebalance := h.plan.longest()
	who := func(member string) *converge.Member {
		for _, m := range h.group.Members {
			if slices.Contains(m.Ids, member) {
				return m
			}
		}
		return nil
	}
	return converge.Sight{
		Now: now,
		Who: func(member string) string {
			switch m := who(member); {
			case m == nil:
				return "the member " + member + ", which no client has heard of"
			case m.ID() != member:
				return "an id that " + m.Name + " had before, " + member
			default:
				return m.Name
			}
		},
		Timer: func(kind classic.TimerKind, member string) string {
			switch m := who(member); {
			case kind != classic.SessionTimer:
				return fmt.Sprintf("; after %v no timer has ended that, though no client has a rebalance timeout longer than %v", past, max(rebalance, healingTimeout))
			case m == nil || m.ID() != member:
				return fmt.Sprintf(", whose session has not ended in %v, though it was no longer than %v", past, max(session, healingTimeout))
			default:
				return ""
			}
		},
	}
}

package core

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Coordinator coordinates groups. It must not be used from two goroutines at a time.
type Coordinator struct {
	settings Settings
	now      time.Time
	groups   map[string]*group
	timers   map[TimerID]armed
	writes   map[AppendID]*write
	open     map[Ticket]struct{} // requests that wait for a group or for the log
	effects  []Effect
	ids      []AppendID // room of openWrites

	status    status
	epoch     int32    // the highest seen
	lostFor   []string // topics that were deleted during loading
	cleaning  bool     // the cleanup timer is armed
	timerSeq  uint64
	lastID    AppendID
	abandoned AppendID // no write up to this one is waited for any more
	position  int64    // in the log, of the last offset record: it only counts which of two is newer
	faulty    bool     // an inconsistency was met in this step
	reason    Reason   // for what the step is doing at the moment
	beating   bool     // the step is one of Beat, and nothing unusual has come of it
	beaten    Beaten
}

// New returns a coordinator without groups.
func New(s Settings) *Coordinator {
	return &Coordinator{
		settings: s.WithDefaults(),
		groups:   map[string]*group{}, timers: map[TimerID]armed{}, writes: map[AppendID]*write{}, open: map[Ticket]struct{}{},
	}
}

// Step lets one event happen at the given time, which does not run backwards, and returns what the caller has to do, in order.
func (c *Coordinator) Step(now time.Time, ev Event) []Effect {
	c.begin(now)
	switch ev := ev.(type) {
	case Request:
		c.request(ev)
	case TimerDue:
		c.timerDue(ev)
	case Appended:
		c.appended(ev)
	case TopicsDeleted:
		c.topicsDeleted(ev.Topics)
	case Marker:
		c.marker(ev)
	case Cleanup:
		c.cleanup()
	case LoadBegin:
		c.loadBegin(ev)
	case Replay:
		c.replay(ev)
	case LoadEnd:
		c.loadEnd(ev)
	case Unload:
		c.unload(ev)
	}
	return c.effects
}

func (c *Coordinator) begin(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
	c.effects, c.faulty = nil, false
	c.startCleaning()
}

// request answers a request, parks it or makes it wait for the log; it does not leave it in between.
func (c *Coordinator) request(r Request) {
	if _, twice := c.open[r.Ticket]; twice {
		_ = c.inconsistent("", fmt.Sprintf("ticket %d is in use", r.Ticket))
		return
	}
	if r.Message == nil {
		c.emit(Reject{r.Ticket, "no message"})
		return
	}
	offered, ok := versions[kmsg.Key(r.Message.Key())]
	if !ok {
		c.emit(Reject{r.Ticket, fmt.Sprintf("API key %d is not served by a group coordinator", r.Message.Key())})
		return
	}
	if !offered.Has(r.Version) {
		c.open[r.Ticket] = struct{}{}
		c.answer(r.Ticket, errorAnswer(r, UnsupportedVersion))
		return
	}
	if !fits(r.Message) {
		c.emit(Reject{r.Ticket, fmt.Sprintf("a string of the request is longer than %d bytes", maxString)})
		return
	}
	c.open[r.Ticket] = struct{}{}
	c.handle(r)
}

func (c *Coordinator) handle(r Request) {
	c.faulty = false
	answer := c.dispatch(r)
	if c.faulty {
		answer = errorAnswer(r, UnknownServerError)
		c.unpark(r.Ticket)
	} else if answer == nil {
		return
	}
	if _, waits := c.open[r.Ticket]; waits {
		c.answer(r.Ticket, answer)
	}
}

// dispatch returns the answer, or nil where the request waits or has been answered on the way.
func (c *Coordinator) dispatch(r Request) kmsg.Response {
	switch req := r.Message.(type) {
	case *kmsg.JoinGroupRequest:
		return c.joinGroup(r, req)
	case *kmsg.SyncGroupRequest:
		return c.syncGroup(r, req)
	case *kmsg.HeartbeatRequest:
		return c.heartbeat(r, req)
	case *kmsg.LeaveGroupRequest:
		return c.leaveGroup(r, req)
	case *kmsg.OffsetCommitRequest:
		return c.offsetCommit(r, req)
	case *kmsg.OffsetFetchRequest:
		return c.offsetFetch(r, req)
	case *kmsg.DescribeGroupsRequest:
		return c.describeGroups(r, req)
	case *kmsg.ListGroupsRequest:
		return c.listGroups(r, req)
	case *kmsg.DeleteGroupsRequest:
		return c.deleteGroups(r, req)
	case *kmsg.TxnOffsetCommitRequest:
		return c.txnOffsetCommit(r, req)
	case *kmsg.OffsetDeleteRequest:
		return c.offsetDelete(r, req)
	case *kmsg.FindCoordinatorRequest:
		return c.findCoordinator(r, req)
	}
	_ = c.inconsistent("", fmt.Sprintf("%T claims API key %d", r.Message, r.Message.Key()))
	return nil
}

func (c *Coordinator) emit(e Effect) {
	if c.beating {
		c.spill()
	}
	if c.effects == nil {
		c.effects = make([]Effect, 0, usualEffects)
	}
	c.effects = append(c.effects, e)
}

// usualEffects is how many effects a step usually has at most.
const usualEffects = 4

func (c *Coordinator) answer(t Ticket, message kmsg.Response) {
	if _, waits := c.open[t]; !waits {
		_ = c.inconsistent("", fmt.Sprintf("ticket %d would be answered twice", t))
		return
	}
	delete(c.open, t)
	if message == nil {
		c.emit(Reject{t, "the request has no answer"})
		return
	}
	c.emitAnswer(Answer{t, message})
}

// unpark forgets a request that is about to be answered UNKNOWN_SERVER_ERROR.
func (c *Coordinator) unpark(t Ticket) {
	for _, name := range sortedKeys(c.groups) {
		g := c.groups[name]
		for _, m := range g.order {
			if m.join != nil && m.join.ticket == t {
				m.join = nil
				g.joining--
			}
			if m.sync != nil && m.sync.ticket == t {
				m.sync = nil
			}
		}
	}
}

// inconsistent reports a situation that cannot be; the request at hand is then answered UNKNOWN_SERVER_ERROR (§2.0.5).
func (c *Coordinator) inconsistent(group, detail string) error {
	err := &InconsistencyError{Group: group, Detail: detail}
	c.faulty = true
	c.settings.Report(err)
	return err
}

func (c *Coordinator) choose(n int) int {
	if n == 1 {
		return 0
	}
	i := c.settings.Choose(n)
	if i < 0 || i >= n {
		_ = c.inconsistent("", fmt.Sprintf("Choose(%d) returned %d", n, i))
		return 0
	}
	return i
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

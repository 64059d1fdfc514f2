package campaign

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// cell is one history in the making: a group or two, from before their beginning, with their members.
type cell struct {
	plan      traffic.Plan
	rec       *history.Recorder
	disturbed bool // its connections may be
	started   time.Time

	history *history.History // when it is over
	worst   time.Duration    // for so long nothing came back
	moved   bool             // the target has given its groups up by itself meanwhile; set by around
	healed  []traffic.Healed // what has become of its groups in the end
	ended   time.Time
	before  *history.History // what was recorded before somebody else's target went away; nil where it did not

	of *cell // whose history this is the beginning of; see early

	// Guarded by the campaign's lock.
	known  map[string]bool // groups that are known to be illegal by their beginning
	judged bool            // all of it has been
}

// names are those of its clients.
func (c *cell) names() []string {
	all := make([]string, c.plan.Clients)
	for n := range all {
		all[n] = fmt.Sprintf("%sc%d", c.plan.Name, n)
	}
	return all
}

// newCell draws a cell; n is the number of groups before it.
func (c *campaign) newCell(n int) *cell {
	seed := c.o.Seed + uint64(n)*0x9e3779b97f4a7c15
	r := rand.New(rand.NewPCG(seed, 0xce11))
	groups, clients := 1, 2+r.IntN(7)
	if r.IntN(4) == 0 && (c.o.Groups == 0 || n+1 < c.o.Groups) {
		groups = 2
		clients += 2 + r.IntN(5)
	}
	steps := 60 + r.IntN(341)
	if c.o.Steps > 0 {
		steps = c.o.Steps
	}
	disturbed := c.o.Faults.Connections && r.IntN(2) == 0
	static := c.caps.Has(target.Static) && r.IntN(2) == 0
	long := c.caps.MinSession <= 100*time.Millisecond
	period := max(1500*time.Millisecond, c.caps.MinSession*3/2)
	steady := long && rand.New(rand.NewPCG(seed, 0x57ead)).IntN(6) == 0
	if steady {
		period = 4 * time.Second
	}
	one := &cell{
		disturbed: disturbed,
		plan: traffic.Plan{
			Setup: traffic.Setup{
				Seed: seed, Clients: clients, Name: fmt.Sprintf("k%d", n), Versions: c.versions(static), MinSession: c.caps.MinSession, MaxSession: c.caps.MaxSession, MaxMetadata: maxMetadata,
				Static: static, OffsetDelete: c.caps.Has(target.OffsetDelete),
				Long: long, Steady: steady, Period: period,
			},
			Calls: steps, Duration: max(10*time.Second, 5*c.caps.MinSession), Patience: c.o.Patience, Overlap: maxOverlap,
			Pace: c.pace, Around: c.around,
		},
	}
	for i := range groups {
		one.plan.Groups = append(one.plan.Groups, fmt.Sprintf("%slin-%s-%d", c.caps.Prefix, c.stamp, n+i))
	}
	one.plan.Topic = c.topic()
	if one.disturbed && c.caps.MinSession < time.Second {
		one.plan.Patience = min(c.o.Patience, 1500*time.Millisecond)
	}
	return one
}

// topic is one for which offsets can be committed, as long as there is one.
func (c *campaign) topic() string {
	if names := slices.Sorted(maps.Values(c.caps.Topics)); len(names) > 0 {
		return names[0]
	}
	return c.caps.Prefix + "t" // commits are refused then
}

// run makes the history of a cell and hands it over to be judged. Its clients do what they do until ctx is over; then nothing is done to their
// connections any more, and they heal.
func (c *campaign) run(ctx, healing context.Context, one *cell) {
	if err := c.place(ctx, one); err != nil {
		if ctx.Err() == nil {
			c.fail(err)
		}
		return
	}
	clock := c.target.Clock()
	one.started = clock.Now()
	one.rec = &history.Recorder{Clock: clock.Now, Start: one.started, Groups: one.plan.Groups}
	c.around.join(one)
	err := c.work(ctx, healing, one)
	c.around.leave(one)
	one.ended = clock.Now()
	c.finish(one, one.rec.History(history.Header{}), one.ended)
	interrupted := c.interrupted(healing, one)
	if err != nil && !(interrupted && !c.canary.away().until.IsZero()) {
		c.fail(err)
	}
	c.handOver(healing, one, c.lostGroups(one))
}

// place gives the groups of a cell names by which one broker coordinates them all.
func (c *campaign) place(ctx context.Context, one *cell) (err error) {
	for i, group := range one.plan.Groups {
		if one.plan.Groups[i], err = c.caps.Named(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// handOver removes the groups of a history that is over, where they must not stay, and has it judged unless it is lost.
func (c *campaign) handOver(ctx context.Context, one *cell, lost bool) {
	if c.caps.MaxGroups > 0 {
		c.tidy(ctx, one)
	}
	if len(one.history.Calls) == 0 {
		return
	}
	c.count(one)
	if one.before != nil {
		if one.history = one.before; len(one.history.Calls) == 0 {
			return
		}
	}
	if lost {
		c.threwAway()
		return
	}
	select {
	case c.ready <- one:
	default: // so many wait already that there is no hope
		c.leftOver(one)
	}
}

func (c *campaign) work(ctx, healing context.Context, one *cell) error {
	run, err := traffic.Prepare(c.target, one.plan, one.rec)
	if err != nil {
		return err
	}
	defer run.Close()
	if err := run.Drive(ctx); err != nil {
		return err
	}
	c.around.spare(one)
	var early sync.WaitGroup
	early.Add(1)
	timer := time.AfterFunc(slowHealing, func() {
		defer early.Done()
		c.early(healing, one)
	})
	one.healed, err = run.Heal(healing, one.plan.HealsWithin(c.caps.InitialDelay))
	if !timer.Stop() {
		early.Wait()
	}
	return err
}

// slowHealing is longer than the clients of a coordinator that is right take to get together. Where they take longer, what is wrong may be seen
// already.
const slowHealing = 3 * time.Second

// early has what was recorded until now judged, while the clients still try to get together: they may until their time is up.
func (c *campaign) early(ctx context.Context, one *cell) {
	now := c.target.Clock().Now()
	beginning := &cell{plan: one.plan, rec: one.rec, disturbed: one.disturbed, started: one.started, ended: now, moved: c.around.moved(one), of: one}
	trouble, goesOn := c.around.troubling(one) // asked for before what has been recorded, where it is once it is over
	recorded := one.rec.History(history.Header{})
	if goesOn {
		recorded.AddFaults(trouble)
	}
	c.finish(beginning, recorded, now)
	if c.lostGroups(beginning) || c.absent(ctx, beginning) {
		return
	}
	beginning.history = cutOpen(beginning.history, one.rec.At(now))
	select {
	case c.ready <- beginning:
	default: // so many wait already
	}
}

// finish puts the history together: what was recorded, what it was made against, and when target or machine stood still meanwhile.
func (c *campaign) finish(one *cell, recorded *history.History, ended time.Time) {
	topics := recorded.Header.Topics
	if topics == nil {
		topics = map[string]int32{}
		for _, name := range c.caps.Topics {
			topics[name] = 2
		}
	}
	if f, ok := c.target.(interface{ Fenced() bool }); ok && f.Fenced() {
		one.moved = true
		c.around.moves() // and who is there still
	}
	slack, stalled := c.o.Slack, c.stalls(one, recorded, ended)
	if one.disturbed {
		slack += longestHold
	}
	if one.worst > c.o.Slack {
		slack += one.worst // what befell a thread that was looked at may befall one that was not: that of the timers
	}
	recorded.Header = history.Header{
		Format: recorded.Header.Format,
		Target: c.target.Name(), Seed: one.plan.Seed, Started: one.started.UTC().Format(time.RFC3339),
		MinSession: c.caps.MinSession, MaxSession: c.caps.MaxSession, NewMemberTimeout: newMemberTimeout, MaxMetadata: maxMetadata,
		InitialDelay: c.initialDelay(), Tick: c.o.Tick, Slack: slack, StalledFor: stalled, Ran: ended.Sub(one.started),
		Groups: one.plan.Groups, Topics: topics, Cleanup: c.caps.Cleanup,
	}
	one.history = recorded
}

// initialDelay is how long the first rebalance of a group waits. Kafka starts a timer for it even where it is to wait for no time at all, so
// others may join before that fires; only the reference completes such a rebalance with the JoinGroup that begins it, and only where nothing is on its way to its log
// (core.Arm): in memory nothing ever is, on the disk of a server that can be killed something may be.
func (c *campaign) initialDelay() time.Duration {
	if _, mortal := c.target.(Mortal); !mortal && slices.Equal(c.o.Profiles, []string{reference}) {
		return c.caps.InitialDelay
	}
	return max(c.caps.InitialDelay, time.Nanosecond)
}

// count counts calls by their ends.
func (c *campaign) count(one *cell) {
	h := one.history
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Made += len(h.Calls)
	for i := range h.Calls {
		if h.Calls[i].Outcome == history.Answered {
			c.report.Answered++
		} else {
			c.report.NotAnswered++
		}
	}
	c.report.Stall = max(c.report.Stall, one.worst)
}

// tidy removes the groups of a cell from a target that may have few of ours at a time: their members leave, then they are deleted. What
// cannot be removed is so when the target is closed.
func (c *campaign) tidy(ctx context.Context, one *cell) {
	conn, err := c.target.Dial(ctx, "tidy")
	if err != nil {
		return
	}
	defer conn.Close()
	ask := func(req kmsg.Request, most int16) {
		if c.pace == nil || c.pace(ctx) == nil {
			c.target.Clock().Await(ctx, conn.Send(req, min(c.caps.Versions[req.Key()].Max, most)), 2*time.Second)
		}
	}
	for _, group := range one.plan.Groups {
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group = group
		for _, id := range membersOf(one.history, group) {
			member := kmsg.NewLeaveGroupRequestMember()
			member.MemberID = id
			leave.Members = append(leave.Members, member)
		}
		ask(leave, 5)
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = one.plan.Groups
	ask(remove, 2)
}

// membersOf are the ids that members of a group were given.
func membersOf(h *history.History, group string) (ids []string) {
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Key != int16(kmsg.JoinGroup) || c.Outcome != history.Answered || !slices.Contains(c.Groups, group) {
			continue
		}
		if resp, err := c.DecodeResponse(); err == nil {
			if id := resp.(*kmsg.JoinGroupResponse).MemberID; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

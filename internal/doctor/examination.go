package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// examination is one run of the doctor.
type examination struct {
	o       Options
	c       *cluster
	log     *groupLog // nil: not read
	started time.Time
	looks   int

	groups  map[string]*patient
	refused map[string]string // groups that were asked for or listed, and may not be looked at
	absent  []string          // groups that were asked for and do not exist
	gone    map[string]bool   // groups that vanished while looked at
	notes   []string

	lost bool // a broker did not answer: they may be others now

	offsetsAt time.Time // when offsets were last looked at
	ends      map[topicPartition]int64
	led       map[string]map[int32]int32
}

// patient is a group under examination.
type patient struct {
	listed    listed
	watch     *anomaly.Watch
	notJudged string
	seen      string // the state in which it was described last
	dead      int    // how often it was listed and yet described as Dead
	stale     bool   // it has to be described at the next look whatever its state
	lag       *anomaly.Lag
}

// clockTolerance is by how much two clocks may differ before it is worth a word.
const clockTolerance = 10 * time.Second

func newExamination(o Options, c *cluster) *examination {
	return &examination{o: o, c: c, started: time.Now(), groups: map[string]*patient{}, refused: map[string]string{}, gone: map[string]bool{}}
}

// run looks until it is time to stop. Only an error of the very first look is one: later ones become notes.
func (e *examination) run(ctx context.Context) error {
	for {
		begun := time.Now()
		if err := e.look(ctx); err != nil {
			if e.looks == 0 {
				return err
			}
			if ctx.Err() != nil {
				e.note("ended early: " + context.Cause(ctx).Error())
				return nil
			}
			e.note(err.Error())
		}
		e.o.Live(e.report())
		wait := e.next(begun)
		if wait < 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			e.note("ended early: " + context.Cause(ctx).Error())
			return nil
		case <-time.After(wait):
		}
	}
}

// next says how long to wait for the next look; negative: there is none.
func (e *examination) next(begun time.Time) time.Duration {
	passed := time.Since(e.started)
	wait := max(0, e.o.Every-time.Since(begun))
	switch {
	case e.o.Look > 0:
		if passed+wait > e.o.Look && e.looks > 1 {
			return -1
		}
	case passed+wait > defaultLook && e.looks > 2:
		// A group that has rebalanced at every look may be stuck, or slow: that takes a while to tell.
		if passed+wait > e.patience()+e.o.Every || !e.suspicious() {
			return -1
		}
		e.o.Progress(fmt.Sprintf("%s rebalancing since the first look; looking on for up to %s to tell slow from stuck", e.suspects(), (e.patience() - passed).Round(time.Second)))
	}
	return wait
}

func (e *examination) patience() time.Duration {
	s := e.o.Settings
	return defaultLook + max(s.StuckPreparing, s.StuckCompleting)
}

func (e *examination) suspicious() bool { return e.suspects() != "" }

// suspects are the groups that rebalanced at every look, unless that is a finding already.
func (e *examination) suspects() string {
	var names []string
	for name, p := range e.groups {
		if p.watch.Rebalancing() && len(p.watch.Findings()) == 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if len(names) > 3 {
		return fmt.Sprintf("%d groups have been", len(names))
	}
	verb := " has been"
	if len(names) > 1 {
		verb = " have been"
	}
	return strings.Join(names, ", ") + verb
}

// look asks once for everything that may have changed, and hands what it saw to the watches.
func (e *examination) look(ctx context.Context) error {
	if e.lost {
		if err := e.c.metadata(ctx); err != nil {
			return err
		}
		e.lost = false
	}
	all, failed := e.c.list(ctx)
	e.lost = len(failed) > 0
	if len(failed) == len(e.c.brokers) {
		for broker, err := range failed {
			return fmt.Errorf("broker %d: %w", broker, err)
		}
	}
	for broker, err := range failed {
		e.note(fmt.Sprintf("broker %d did not tell its groups: %v; they were not examined", broker, err))
	}
	e.admit(ctx, all, failed)
	if e.looks == 0 {
		e.readHistory(ctx)
	} else if e.log != nil {
		if err := e.log.readTail(ctx); err != nil {
			return err
		}
	}
	at := time.Now()
	seen := e.describe(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.looks == 0 || time.Since(e.offsetsAt) >= offsetsEvery {
		e.lookAtOffsets(ctx)
	}
	e.observe(at, seen)
	e.looks++
	if e.log != nil {
		if ahead := time.Until(e.log.brokerNow); ahead > clockTolerance {
			e.note("this machine's clock is " + ahead.Truncate(10*time.Second).String() + " or more behind the brokers'; ages are taken by theirs")
		}
	}
	return ctx.Err()
}

// admit takes in the groups that were listed, and lets those go that are listed no more.
func (e *examination) admit(ctx context.Context, all map[string]listed, failed map[int32]error) {
	if len(e.o.Groups) > 0 {
		all = e.asked(ctx, all)
	}
	settings := e.o.Settings
	// The more groups there are, the further apart two looks at one of them may be.
	settings.MaxGap = max(settings.MaxGap, time.Duration(5*float64(len(all)/describeBatch+2*len(e.c.brokers))/e.o.Rate*float64(time.Second)))
	for name, l := range all {
		p := e.groups[name]
		if p == nil {
			p = &patient{watch: anomaly.NewWatch(name, settings), stale: true}
			e.groups[name] = p
			delete(e.gone, name)
		}
		p.listed = l
		if why := l.notJudged(); why != "" {
			p.notJudged = why
		}
	}
	for name, p := range e.groups {
		if _, ok := all[name]; !ok && failed[p.listed.coordinator] == nil {
			delete(e.groups, name)
			e.gone[name] = true
		}
	}
}

// asked reduces the list to the groups that were asked for, and finds those that are not listed.
func (e *examination) asked(ctx context.Context, all map[string]listed) map[string]listed {
	out := map[string]listed{}
	var missing []string
	for _, g := range e.o.Groups {
		if l, ok := all[g]; ok {
			out[g] = l
		} else if p := e.groups[g]; p == nil && e.looks == 0 {
			missing = append(missing, g)
		} else if p != nil && p.listed.unlisted {
			out[g] = p.listed
		}
	}
	if len(missing) > 0 {
		found, bad := e.c.coordinators(ctx, missing)
		for g, broker := range found {
			out[g] = listed{coordinator: broker, unlisted: true}
		}
		for g, err := range bad {
			e.refused[g] = reason(err)
		}
	}
	return out
}

// readHistory opens the log of the groups and reads what is near its end.
func (e *examination) readHistory(ctx context.Context) {
	if e.o.NoLog {
		e.note(offsetsTopic + " was not read, as asked: diagnoses are inferred from what the coordinators tell")
		return
	}
	log, err := openLog(ctx, e.c)
	if err != nil {
		e.note(unread(err))
		return
	}
	wanted := map[string]struct{}{}
	for name, p := range e.groups {
		if p.notJudged == "" {
			wanted[name] = struct{}{}
		}
	}
	e.o.Progress(fmt.Sprintf("reading %s", offsetsTopic))
	err = log.readBack(ctx, wanted, e.o.Settings.Recent, e.o.LogBytes, time.Now().Add(e.o.LogTime))
	if err == nil {
		err = log.readTail(ctx)
	}
	if err == nil && log.refused != nil && log.bytes == 0 {
		err = log.refused
	}
	if err != nil {
		e.note(unread(err))
		return
	}
	if log.refused != nil {
		e.note(fmt.Sprintf("part of %s cannot be read (%s)", offsetsTopic, reason(log.refused)))
	}
	if !log.whole {
		e.note(fmt.Sprintf("%s was read to %d MiB from its end; what is older is unknown", offsetsTopic, log.bytes>>20))
	}
	e.log = log
}

// unread says why the log of the groups is not read, and what would let it be. A right is advised only where one is missing.
func unread(err error) string {
	const inferred = "diagnoses are inferred from what the coordinators tell"
	switch why := reason(err); codeOf(err) {
	case kerr.UnknownTopicOrPartition.Code:
		return fmt.Sprintf("there is no topic %s here (%s): %s", offsetsTopic, why, inferred)
	case kerr.TopicAuthorizationFailed.Code:
		return fmt.Sprintf("%s cannot be read (%s): %s; READ on that topic would make them certain", offsetsTopic, why, inferred)
	default:
		return fmt.Sprintf("%s cannot be read (%s): %s", offsetsTopic, why, inferred)
	}
}

// describe asks about the groups that may have changed: where the log is read, a group that is quiet in both is what it was.
func (e *examination) describe(ctx context.Context) map[string]described {
	ask := map[string]int32{}
	for name, p := range e.groups {
		if p.notJudged != "" || e.refused[name] != "" {
			continue
		}
		h := e.history(name)
		quiet := e.log.covers(name) && p.listed.state != "" && p.listed.state == p.seen && !anomalyRebalancing(p.listed.state) && (h == nil || len(h.generations) == 0)
		if p.stale || !quiet {
			ask[name] = p.listed.coordinator
		}
	}
	seen, failed := e.c.describe(ctx, ask)
	for broker, err := range failed {
		if ctx.Err() == nil {
			e.note(fmt.Sprintf("broker %d did not describe its groups at one look: %v", broker, err))
		}
	}
	return seen
}

func anomalyRebalancing(state string) bool {
	return state == string(anomaly.PreparingRebalance) || state == string(anomaly.CompletingRebalance)
}

func (e *examination) history(name string) *history {
	if e.log == nil {
		return nil
	}
	return e.log.groups[name]
}

// observe hands what was seen to the watches.
func (e *examination) observe(at time.Time, seen map[string]described) {
	for _, name := range slices.Sorted(maps.Keys(e.groups)) {
		p := e.groups[name]
		if p.notJudged != "" || e.refused[name] != "" {
			continue
		}
		d, fresh := seen[name]
		if fresh && !e.understand(name, p, d) {
			continue
		}
		if !fresh && p.stale {
			continue // asked for and not answered
		}
		o := anomaly.Observation{At: at, Log: e.log.covers(name), Lag: p.lag}
		p.lag = nil
		if fresh {
			o.State, o.ProtocolType, o.Members, o.MembersKnown = d.state, d.protocolType, d.members, true
			p.seen, p.stale = string(d.state), false
		} else {
			o.State = anomaly.State(p.listed.state)
		}
		if h := e.history(name); h != nil {
			if h.removed && e.looks > 0 {
				p.watch = anomaly.NewWatch(name, e.o.Settings)
				h.removed = false
			}
			o.Generations, o.LastCommit, o.BrokerNow = h.generations, h.lastCommit, e.log.brokerNow
			if anomalyRebalancing(string(o.State)) && len(h.recent) > 0 {
				o.Committers = owners(h.assigned, h.recent)
			}
			h.generations = nil
			clear(h.recent)
		}
		p.watch.Add(o)
	}
}

// understand sorts out groups that are described as gone, or not at all.
func (e *examination) understand(name string, p *patient, d described) bool {
	switch {
	case d.err != nil:
		if kerr.IsRetriable(d.err) {
			p.stale = true
			e.note(fmt.Sprintf("group %s could not be described at one look: %s", name, reason(d.err)))
		} else {
			e.refused[name] = reason(d.err)
		}
		return false
	case d.state == anomaly.Dead && p.listed.unlisted:
		delete(e.groups, name)
		e.absent = append(e.absent, name)
		return false
	case d.state == anomaly.Dead:
		p.stale = true
		if p.dead++; p.dead > 2 {
			p.notJudged = "group of another protocol"
		}
		return false
	}
	p.dead = 0
	return true
}

func (e *examination) note(text string) {
	if !slices.Contains(e.notes, text) && len(e.notes) < 50 {
		e.notes = append(e.notes, text)
	}
}

// reason is an error without what Kafka explains at length.
func reason(err error) string {
	if k := kerr.TypedErrorForCode(codeOf(err)); k != nil {
		return k.Message
	}
	return err.Error()
}

func codeOf(err error) int16 {
	if k, ok := err.(*kerr.Error); ok { //nolint:errorlint // kerr's errors are handed on as they are
		return k.Code
	}
	return 0
}

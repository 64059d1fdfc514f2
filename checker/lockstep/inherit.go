package lockstep

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// inherited is a log that others have written, until it is loaded.
type inherited struct{ records []gen.Logged }

// inherits draws the log with which the walk begins. It belongs to the head of the run, as the clients do: shrinking leaves it as it is.
func (w *walk) inherits() {
	w.log = &inherited{w.gen.Foreign(w.machine.Now())}
	w.machine.(checker.Heir).Inherit(w.log.records)
	for group := range w.sets {
		delete(w.sets, group)
	}
}

// loads has the machine load what it has inherited, and looks at all of it, before the first event.
func (w *walk) loads() *Violation {
	if w.log == nil {
		return nil
	}
	log := w.log.records
	w.log = nil
	w.open(fmt.Sprintf("# the coordinator loads a log of %d records that others have written", len(log)))
	for _, group := range w.gen.All() {
		b, err := w.world.Foreign(group, log)
		if errors.Is(err, observe.ErrDamaged) {
			b, err, w.damaged = w.world.NewBranch(group), nil, true
		}
		if err != nil {
			w.stats.Inconclusive = err.Error()
			return nil
		}
		w.set(group)[0] = b
	}
	m := w.machine.(checker.Broker)
	const first, late = 2, 1
	w.gen.Heard(first)
	for _, order := range []func() *Violation{
		func() *Violation { return w.load(m, first) },
		func() *Violation { return w.unload(m, late) }, // load.epoch
		func() *Violation { return w.loaded(m) },
		func() *Violation { return w.load(m, late) },
	} {
		if v := order(); v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	list := kmsg.NewPtrListGroupsRequest()
	questions := []gen.Event{{Request: list, Version: 5}}
	for _, group := range w.gen.All() {
		describe, fetch := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrOffsetFetchRequest()
		describe.Groups = []string{group}
		fetch.Group, fetch.Groups = group, []kmsg.OffsetFetchRequestGroup{{Group: group}}
		stable := *fetch
		stable.RequireStable = true
		for _, topic := range w.gen.Topics() {
			stable.Topics = append(stable.Topics, kmsg.OffsetFetchRequestTopic{Topic: topic, Partitions: []int32{0, 1}})
		}
		questions = append(questions, gen.Event{Request: describe, Version: 6}, gen.Event{Request: fetch, Version: 7}, gen.Event{Request: &stable, Version: 7})
	}
	for _, q := range questions {
		if v := w.request(q); v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	return nil
}

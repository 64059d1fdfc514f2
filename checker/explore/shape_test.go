package explore

import (
	"context"
	"reflect"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

// shaped is a group whose events are made twice: as the search has them, for all states of a shape, and for the very state.
type shaped struct {
	*machine
	t     *testing.T
	fresh *machine
}

func (m shaped) Expand(k Key, x *Expansion) {
	m.machine.Expand(k, x)
	m.fresh.events, m.fresh.leaves, m.fresh.instances, m.fresh.record = nil, nil, nil, m.record
	m.fresh.make(&m.state)
	if !reflect.DeepEqual(m.events, m.fresh.events) {
		m.t.Errorf("%+v has\n%+v\nand is given\n%+v", m.state, m.fresh.events, m.events)
		x.Err = errTooLarge // one is enough
	}
}

// States of one shape have the same events.
func TestShapes(t *testing.T) {
	everything := Group{
		Profile: classic.Java, Members: 2, Lists: []string{"a"}, Subscriptions: true, AnySubset: true, WriteFailures: true,
		WriteInFlight: true, Static: true, Delay: true, Failover: true, Unjudged: true,
	}
	offsets := everything
	offsets.Profile, offsets.Offsets, offsets.Removal, offsets.Delay, offsets.WriteInFlight = classic.Scala, true, true, false, false
	for _, g := range []Group{everything, offsets} {
		r := Run(context.Background(), "shapes", func() Machine {
			return shaped{g.Machine().(*machine), t, g.Machine().(*machine)}
		}, Options{Workers: 2})
		if !r.Ok() {
			t.Error(r)
		}
	}
}

package embedded

import (
	"context"
	"fmt"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/impl/core"
)

// Inject makes something happen to the coordinator.
func (v *virtual) Inject(_ context.Context, f target.Fault) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.deliver()
	switch f {
	case target.RefuseWrites:
		v.sim.FailWrites(core.MessageTooLarge)
	case target.AcceptWrites:
		v.sim.FailWrites(core.None)
	case target.Resign:
		v.sim.Unload()
		v.sim.LoseLog()
	case target.Load:
		v.sim.BeginLoad()
	case target.Serve:
		return v.sim.Failover()
	case target.DeleteTopic:
		v.sim.Step(core.TopicsDeleted{Topics: []string{otherTopic}})
	default:
		return fmt.Errorf("impl knows no fault %q", f)
	}
	return nil
}

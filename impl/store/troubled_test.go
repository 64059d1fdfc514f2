package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// TestTroubled: what is refused is not kept and the log goes on; what hangs is kept when that is over, in its order.
func TestTroubled(t *testing.T) {
	log := store.NewTroubled(store.NewMemory())
	var ends []string
	write := func(group string) {
		value := kmsg.NewGroupMetadataValue()
		value.Version = 3
		log.Append(0, core.Append{Group: group, Records: []core.Record{{Kind: core.GroupRecord, Group: group, Metadata: &value}}}, func(err error) {
			var refused *store.RefusedError
			switch {
			case errors.As(err, &refused) && refused.Code == core.NotEnoughReplicas:
				ends = append(ends, group+" refused")
			case err != nil:
				t.Error(err)
			default:
				ends = append(ends, group)
			}
		})
	}
	write("a")
	log.Refuse(core.NotEnoughReplicas)
	write("b")
	log.Refuse(core.None)
	log.Hang(true)
	write("c")
	write("d")
	ends = append(ends, "over")
	log.Hang(false)
	write("e")
	if want := []string{"a", "b refused", "over", "c", "d", "e"}; !slices.Equal(ends, want) {
		t.Errorf("ended %q, want %q", ends, want)
	}
	var kept []string
	if _, err := log.Load(0, func(all []core.Record) error {
		for _, r := range all {
			kept = append(kept, r.Group)
		}
		return nil
	}); err != nil || !slices.Equal(kept, []string{"a", "c", "d", "e"}) {
		t.Errorf("kept %q (%v)", kept, err)
	}
}

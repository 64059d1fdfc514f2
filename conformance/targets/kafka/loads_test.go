package kafka

import "testing"

// TestLoads reads logs of brokers that were started again, shortened: the second is of a 4.3.1 that then answered that nothing was committed.
func TestLoads(t *testing.T) {
	const scheduled = "INFO CoordinatorRuntime - [GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-0 with epoch 22\n"
	const unloaded = "INFO CoordinatorRuntime - [GroupCoordinator id=1] Finished unloading metadata for __consumer_offsets-0 with epoch OptionalInt[23].\n"
	const finished = "INFO CoordinatorRuntime - [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-0 with epoch 22 in 2245ms\n"
	const ignored = "INFO CoordinatorRuntime - [GroupCoordinator id=1] Ignored load completion from __consumer_offsets-0 because context is in ACTIVE state.\n"
	const failed = "ERROR CoordinatorRuntime - [GroupCoordinator id=1] Failed to load metadata from __consumer_offsets-0 with epoch 22 due to\n"
	for _, test := range []struct {
		name, log             string
		asked, ended, ignored int
	}{
		{"one after the other", scheduled + finished + unloaded + scheduled + finished, 2, 2, 0},
		{"the first ends as the second", scheduled + unloaded + scheduled + finished + ignored, 2, 2, 1},
		{"the second is still on its way", scheduled + unloaded + scheduled + finished, 2, 1, 0},
		{"the first fails", scheduled + failed + unloaded + scheduled + finished, 2, 2, 0},
		{"Scala", "INFO GroupMetadataManager - Finished loading offsets and group metadata from __consumer_offsets-0\n", 0, 0, 0},
	} {
		if asked, ended, ignored := loads([]byte(test.log)); asked != test.asked || ended != test.ended || ignored != test.ignored {
			t.Errorf("%s: %d asked for, %d ended, %d ignored", test.name, asked, ended, ignored)
		}
	}
}

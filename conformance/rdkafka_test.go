package conformance_test

import (
	"os"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/rdkafka"
)

// TestRDKafkaMock holds librdkafka's mock against its register, in both directions. It takes a C compiler and two minutes: the mock has
// timers of whole seconds, so that a failure is only believed if it shows again.
func TestRDKafkaMock(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes a C compiler and two minutes; MUSTER_NIGHTLY=1 runs it")
	}
	reg, ok, err := conformance.Registered(rdkafka.Name)
	if err != nil || !ok {
		t.Fatalf("no register of %s: %v", rdkafka.Name, err)
	}
	tg := opened(t, rdkafka.Name)
	rep, err := conformance.Suite{Parallel: 32, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, crash := range tg.(*rdkafka.Target).Crashes() {
		t.Logf("the mock ended by itself: %s", crash)
	}
	hold(t, reg, rep)
}

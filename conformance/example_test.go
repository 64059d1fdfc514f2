package conformance_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/wire"
)

// A go test of one's own coordinator: every scenario is a subtest.
func Example() {
	_ = func(t *testing.T) {
		tg, err := wire.Open(t.Context(), wire.Options{Addr: "127.0.0.1:9092"})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		conformance.Run(t, tg)
	}
}

// Without testing: what a program makes of a report.
func ExampleSuite_Run() {
	tg, err := embedded.New(embedded.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tg.Close()
	s, err := conformance.Parse("hello.txt", []byte(`# A consumer that is alone gets a generation of its own.
# rule: join.empty.rebalances

join A range=x
join A
----
A: MEMBER_ID_REQUIRED
A: NONE gen=2 leader=A protocol=range members=[A:x]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, OutDir: os.TempDir()}.Run(context.Background(), tg, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Failures() {
		fmt.Printf("%s in block %d, a rule of class %s:\n%s", f.Scenario, f.Block, f.Class, f.Text)
	}
	// Output:
	// hello in block 1, a rule of class contract:
	// # A consumer that is alone gets a generation of its own.
	// # rule: join.empty.rebalances
	//
	// join A range=x
	// join A
	// ----
	//   A: MEMBER_ID_REQUIRED
	// - A: NONE gen=2 leader=A protocol=range members=[A:x]
	// + A: NONE gen=1 leader=A protocol=range members=[A:x]
}

package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance/script"
)

// TestArguments holds that what cannot be sent is told with file and line when a file is loaded.
func TestArguments(t *testing.T) {
	for text, want := range map[string]string{
		"form A\ncommit A t/0=99999999999999999999:x\n----\n": "test.txt:5: t/0=99999999999999999999:x: the offset is no number of 64 bits",
		"form A\ncommit A t/0=x\n----\n":                      "test.txt:5: t/0=x: the offset",
		"form A\ncommit A t/0=\n----\n":                       "test.txt:5: t/0=: the offset",
		"form A\ncommit A t/0=1:x*99999999\n----\n":           "test.txt:5: t/0=1:x*99999999: metadata is repeated as in x*4097, to at most 65536 bytes",
		"form A\ncommit A t/0=1:x*many\n----\n":               "test.txt:5: t/0=1:x*many: metadata",
		"form A\ncommit A t/0=1:x*0\n----\n":                  "test.txt:5: t/0=1:x*0: metadata",
		"form A\ncommit A t/99999999999=1\n----\n":            "test.txt:5: commit does not know t/99999999999=",
		"form A\nheartbeat A gen=99999999999\n----\n":         "test.txt:5: gen=99999999999: use a number",
		"form A\nheartbeat A gen=+2000000000\n----\n":         "test.txt:5: gen=+2000000000: a step is 1000000 at most",
		"form A\nheartbeat A v=5\n----\n":                     "test.txt:5: v=5: scenarios speak Heartbeat up to version 4",
		"form A\nheartbeat A v=-1\n----\n":                    "test.txt:5: v=-1: use a version number",
		"form A v=10\n----\n":                                 "test.txt:4: v=10: scenarios speak JoinGroup up to version 9",
		"form A\nleave-batch A v=6\n----\n":                   "test.txt:5: v=6: scenarios speak LeaveGroup up to version 5",
		"group join=vx\n----\n":                               "test.txt:4: join=vx: use a version number",
		"group join=v10\n----\n":                              "test.txt:4: join=v10: scenarios speak JoinGroup up to version 9",
		"group session=-1s\n----\n":                           "test.txt:4: session=-1s: it is not between 0 and 24h0m0s",
		"group rebalance=9999h\n----\n":                       "test.txt:4: rebalance=9999h: it is not between",
		"group rebalance=min\n----\n":                         "test.txt:4: rebalance=min: the target's bounds are those of session=",
		"join A\n----\n":                                      "test.txt:4: A has no protocol yet",
		"join A -empty\njoin A\n----\n":                       "test.txt:5: A has no protocol yet",
		"form A\nsync A B'1=x\n----\n":                        "test.txt:5: B'1 has not joined before this line",
		"form A\nA: NONE\n\n":                                 "test.txt:5: expected output without ---- before it",
		"form A\n----\n\nA: NONE\n":                           "test.txt:7: expected output without ---- before it",
	} {
		_, err := Parse("test.txt", []byte(head+text))
		var fault *script.Error
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, good := range []string{
		"form A\ncommit A t/0=-1 t/1=9223372036854775807:x*65536\n----\n", "form A session=max rebalance=24h\n----\n",
		"form A B\nroles L F from A B\njoin L F\n----\n", "roles L F from A B C\njoin L F1 F2\n----\n",
	} {
		if _, err := Parse("test.txt", []byte(head+good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

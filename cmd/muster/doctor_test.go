package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/internal/doctor"
)

func TestDoctorWrongUsage(t *testing.T) {
	bad := writeText(t, "client.properties", "security.protocol=NONSENSE\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no address":        {nil, "takes the address of one cluster"},
		"half an address":   {[]string{"localhost"}, "HOST:PORT"},
		"a rate of nothing": {[]string{"127.0.0.1:1", "--rate", "-3"}, "0.1 to 1000"},
		"no time to watch":  {[]string{"127.0.0.1:1", "--watch", "0s"}, "--watch 2m"},
		"a bad threshold":   {[]string{"127.0.0.1:1", "--flap-count", "1"}, "FlapCount"},
		"bad properties":    {[]string{"127.0.0.1:1", "--config", bad}, "security.protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			e := muster(t, 20*time.Second, append([]string{"doctor"}, c.args...)...)
			if e.code != 64 || !strings.Contains(e.stderr, c.want) {
				t.Errorf("exit code %d, stderr %q; want 64 and %q", e.code, e.stderr, c.want)
			}
		})
	}
}

func TestDoctorUnreachable(t *testing.T) {
	if e := muster(t, 20*time.Second, "doctor", "127.0.0.1:1"); e.code != 3 || !strings.Contains(e.stderr, "127.0.0.1:1") {
		t.Errorf("exit code %d, stderr %q", e.code, e.stderr)
	}
	if e := muster(t, 20*time.Second, "doctor", "127.0.0.1:1", "--json", "/no/such/folder/x.json"); e.code != 3 || !strings.Contains(e.stderr, "/no/such/folder") {
		t.Errorf("exit code %d, stderr %q", e.code, e.stderr)
	}
}

// The doctor examines coordinators that are not Kafka too: a fake, and the reference coordinator, which has no Fetch.
func TestDoctorOfOthers(t *testing.T) {
	fake, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(3, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Close()
	const groups = 9 // over three coordinators
	for i := range groups {
		cl, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...), kgo.ConsumerGroup(fmt.Sprint("g", i)), kgo.ConsumeTopics("t"))
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		go cl.PollFetches(t.Context())
	}
	lists, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer lists.Close()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), lists)
		if err == nil && len(resp.Groups) == groups {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d groups did not come: %v", groups, err)
		}
	}
	reference, err := server.Start(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	for name, addr := range map[string]string{"kfake": fake.ListenAddrs()[0], "impl": reference.Addr()} {
		judged := map[string]int{"kfake": groups}[name]
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			e := muster(t, 30*time.Second, "doctor", addr, "--json", file, "--watch", "1s", "--every", "200ms")
			if e.code != 0 || !strings.Contains(e.stdout, "no findings") {
				t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
			}
			// None of them has the topic that Kafka keeps its groups in, and no right could bring it about.
			if !strings.Contains(e.stdout, "there is no topic __consumer_offsets here (UNKNOWN_TOPIC_OR_PARTITION)") || strings.Contains(e.stdout, "READ") {
				t.Errorf("what is said of the log:\n%s", e.stdout)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r doctor.Report
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			if r.Verdict != "healthy" || r.Looks < 2 || r.Target != addr || r.Groups.Judged != judged {
				t.Errorf("%+v", r)
			}
			if e := muster(t, 30*time.Second, "doctor", addr, "--group", "nobody"); e.code != 3 || !strings.Contains(e.stdout, "not there: nobody") {
				t.Errorf("a group that is not there: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
			}
		})
	}
}

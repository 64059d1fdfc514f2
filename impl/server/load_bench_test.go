package server_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

// groupOf3 is the record of a Stable group of three members.
func groupOf3(n int) core.Append {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.ProtocolType, v.Generation, v.CurrentStateTimestamp = 3, "consumer", 1, time.Now().UnixMilli()
	v.Protocol = kmsg.StringPtr("range")
	for m := range 3 {
		vm := kmsg.NewGroupMetadataValueMember()
		vm.MemberID, vm.ClientID, vm.ClientHost = core.MemberID("app", uint64(n), uint64(m)), "app", "/127.0.0.1"
		vm.SessionTimeoutMillis, vm.RebalanceTimeoutMillis = 3_600_000, 300_000
		metadata := kmsg.NewConsumerMemberMetadata()
		metadata.Topics = []string{"orders"}
		vm.Subscription = metadata.AppendTo(nil)
		vm.Assignment = []byte(fmt.Sprintf("\x00\x00\x00\x00\x00\x01\x00\x06orders\x00\x00\x00\x01\x00\x00\x00%c", m))
		v.Members = append(v.Members, vm)
	}
	v.Leader = &v.Members[0].MemberID
	return core.Append{Records: []core.Record{{Kind: core.GroupRecord, Group: fmt.Sprint("group-", n), Metadata: &v}}}
}

// BenchmarkColdLoad starts a cluster on a folder with 100,000 groups of three members, of which each was written twice: in how many seconds they are
// loaded, and how much memory the process then takes from the system, with kfake and all.
func BenchmarkColdLoad(b *testing.B) {
	const groups = 100_000
	dir := b.TempDir()
	disk, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	ends := make(chan error, 2*groups)
	for n := range 2 * groups {
		disk.Append(server.PartitionOf(fmt.Sprint("group-", n%groups), 50), groupOf3(n%groups), func(err error) { ends <- err })
	}
	for range 2 * groups {
		if err := <-ends; err != nil {
			b.Fatal(err)
		}
	}
	if err := disk.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		disk, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		c, err := server.StartCluster(server.ClusterOptions{Log: disk})
		if err != nil {
			b.Fatal(err)
		}
		loaded, err := c.AwaitLoad(context.Background())
		if err != nil || loaded.Records < groups {
			b.Fatalf("loaded %+v, %v", loaded, err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/load")
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-heap")
		b.ReportMetric(resident(), "MiB-peak")
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		if err := disk.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// resident is the most memory that the process has had, in MiB; 0 where the system does not say so.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024
		}
	}
	return 0
}

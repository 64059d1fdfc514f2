package mutants

import (
	"context"
	bigendian "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// recordWrittenVar asks for testdata/written anew: it names Kafka releases, "4.3.1,3.9.2,2.8.2".
const recordWrittenVar = "MUSTER_RECORD_WRITTEN"

// brief is how long a scenario may take on a network to be recorded: what is left of those before must not write meanwhile.
const brief = 2 * time.Second

// TestRecordWritten plays scenarios on real brokers, and keeps what those write. Where that is not what the specification writes it says so: then somebody has to find out why.
func TestRecordWritten(t *testing.T) {
	releases := os.Getenv(recordWrittenVar)
	if releases == "" {
		t.Skipf("records logs of the releases that %s names", recordWrittenVar)
	}
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range strings.Split(releases, ",") {
		broker, err := kafka.Open(t.Context(), release, "", kafka.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.New(model.Options{Name: "model:" + release}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tg := &tapped{Target: broker}
		reader, err := broker.Dial(t.Context(), "reader")
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{"# What Kafka " + release + " writes in which scenario. Recorded by " + recordWrittenVar + "=" + release + " go test ./fuzz/mutants -run TestRecordWritten.\n"}
		end := int64(0)
		for _, s := range conformance.ByProfile(all)[0].Scenarios {
			if s.Estimate(tg.Capabilities()) > brief || unspoken[s.Name] {
				continue
			}
			tg.groups = nil
			rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Hasty: true, OutDir: os.DevNull}.Run(t.Context(), tg, nil)
			if err != nil {
				t.Fatal(err)
			}
			written, next, err := readLog(t.Context(), broker, reader, end)
			if err != nil {
				t.Fatal(err)
			}
			end = next
			if r := rep.Results[0]; r.Status != conformance.Pass || r.Unsteady != nil {
				t.Logf("%s on %s, left out: %v %s %v", s.Name, release, r.Status, r.Reason, r.Failure)
				continue
			}
			w := &writes{}
			for _, one := range written {
				if slices.Contains(tg.groups, one[0]) {
					w.add(one[0], one[1])
				}
			}
			line := w.String()
			if line == "" {
				continue
			}
			if got, err := writtenAs(t.Context(), spec, s); err != nil || !slices.Contains(got, line) {
				t.Errorf("%s: Kafka %s writes %q, the specification %q (%v)", s.Name, release, line, got, err)
			}
			lines = append(lines, s.Name+": "+line+"\n")
		}
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d scenarios", release, len(lines)-1)
		if err := os.WriteFile(filepath.Join(writtenFolder, release+".txt"), []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readLog reads what has been written from a position on: group and write, and the position behind them.
func readLog(ctx context.Context, tg target.Target, c target.Conn, from int64) (all [][2]string, end int64, err error) {
	for end = from; ; {
		req := kmsg.NewPtrFetchRequest()
		req.ReplicaID, req.MaxBytes, req.SessionEpoch = -1, 1<<20, -1
		req.Topics = []kmsg.FetchRequestTopic{{Topic: "__consumer_offsets", Partitions: []kmsg.FetchRequestTopicPartition{{FetchOffset: end, CurrentLeaderEpoch: -1, PartitionMaxBytes: 1 << 20}}}}
		call := c.Send(req, 11)
		if !tg.Clock().Await(ctx, call, time.Minute) {
			return nil, 0, fmt.Errorf("the broker does not answer a Fetch of its log from %d on", end)
		}
		resp, err := call.Answer()
		if err != nil {
			return nil, 0, err
		}
		p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			return nil, 0, fmt.Errorf("a Fetch of the broker's log from %d on is answered with error %d", end, p.ErrorCode)
		}
		if len(p.RecordBatches) == 0 {
			return all, end, nil
		}
		for b := p.RecordBatches; len(b) > 12; {
			size := 12 + int(bigendian.BigEndian.Uint32(b[8:]))
			if size > len(b) {
				break
			}
			var last [2]string // what is written of one group at once is one write
			err := record.ReadBatches(b[:size], func(r record.Raw) error {
				end = r.Position + 1
				known, ok, err := r.Record()
				if err != nil || !ok || r.Marker {
					return err
				}
				if one := [2]string{known.Group, writeOf(known)}; one != last {
					all, last = append(all, one), one
				}
				return nil
			})
			if err != nil {
				return nil, 0, err
			}
			b = b[size:]
		}
	}
}

func writeOf(r core.Record) string {
	switch {
	case r.Kind == core.GroupRecord:
		return writesGroup
	case r.Kind == core.GroupTombstone:
		return writesGone
	case r.Kind == core.OffsetTombstone:
		return writesTombstones
	case r.Producer != nil:
		return writesTxn
	}
	return writesOffsets
}

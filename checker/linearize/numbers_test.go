package linearize

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// large simulates one history of so many groups with so many members each.
func large(b testing.TB, groups, members, calls int, edit func(*simOptions)) *history.History {
	b.Helper()
	o := simOptions{seed: 77, groups: groups, clients: groups * members, calls: calls, loss: 100, roomy: true}
	if edit != nil {
		edit(&o)
	}
	h := simulate(b, o)
	if len(h.Calls) < calls {
		b.Fatalf("%d calls were simulated, of %d", len(h.Calls), calls)
	}
	return h
}

// judged judges a history that is legal, and tells what that takes.
func judged(b *testing.B, h *history.History) {
	b.Helper()
	lost := 0
	for i := range h.Calls {
		if h.Calls[i].Outcome.Unknown() {
			lost++
		}
	}
	var v Verdict
	for b.Loop() {
		var err error
		if v, err = Check(b.Context(), h, Limits{}); err != nil {
			b.Fatal(err)
		}
		if v.Result != Legal {
			b.Fatalf("%v: %s", v.Result, v.Reason)
		}
	}
	widest, slowest := 0, time.Duration(0)
	for _, g := range v.Groups {
		widest, slowest = max(widest, g.Overlap), max(slowest, g.Elapsed)
	}
	b.ReportMetric(float64(widest), "widest")
	b.ReportMetric(float64(lost), "unanswered")
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(h.Calls)), "µs/call")
}

// BenchmarkCheck judges the histories for which docs/history.md gives numbers.
func BenchmarkCheck(b *testing.B) {
	for _, members := range []int{5, 8} {
		b.Run(fmt.Sprintf("20 groups of %d", members), func(b *testing.B) {
			judged(b, large(b, 20, members, 10_000, nil))
		})
	}
	b.Run("one group of 5", func(b *testing.B) { judged(b, large(b, 1, 5, 2000, nil)) })
}

// BenchmarkUnknown judges histories in which the effect of 20 calls is unknown until later answers tell.
func BenchmarkUnknown(b *testing.B) {
	b.Run("consumers", func(b *testing.B) {
		h := large(b, 1, 5, 400, func(o *simOptions) { o.loss = 11 })
		judged(b, h)
	})
	b.Run("commits", func(b *testing.B) { judged(b, unansweredCommits(20)) })
}

// BenchmarkForking judges the same histories twice: as always, and with the explanations doubled by each call of unknown effect and never merged again,
// nor any evidence looked for. The latter takes twice as long for each such call more, so there are fewer of them here.
func BenchmarkForking(b *testing.B) {
	for name, h := range map[string]*history.History{
		"consumers": large(b, 1, 5, 400, func(o *simOptions) { o.loss = 40 }),
		"commits":   unansweredCommits(12),
	} {
		b.Run(name, func(b *testing.B) {
			var own, forking time.Duration
			for b.Loop() {
				own += takes(b, h, Limits{})
				forking += takes(b, h, Limits{blind: true, forks: true, Explanations: 1 << 20, Timeout: time.Minute})
			}
			b.ReportMetric(forking.Seconds()/own.Seconds(), "times-slower")
		})
	}
}

// takes judges a history that is legal.
func takes(b *testing.B, h *history.History, limits Limits) time.Duration {
	b.Helper()
	began := time.Now()
	v, err := Check(b.Context(), h, limits)
	if err != nil || v.Result != Legal {
		b.Fatalf("%v: %s %v", v.Result, v.Reason, err)
	}
	return time.Since(began)
}

// unansweredCommits is a history of so many commits to as many partitions, all of them unanswered and open at the same time. A fetch of all of them tells
// that every other one has had its effect.
func unansweredCommits(n int) *history.History {
	b := newBook("reference")
	b.Header.Topics["t"] = int32(n)
	told := kmsg.NewPtrOffsetFetchResponse()
	asked := kmsg.NewPtrOffsetFetchRequest()
	asked.Group = "g"
	topic, answer := kmsg.NewOffsetFetchRequestTopic(), kmsg.NewOffsetFetchResponseTopic()
	topic.Topic, answer.Topic = "t", "t"
	for i := range n {
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Group, r.Generation = "g", -1
		partition := kmsg.NewOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = int32(i), int64(i+1)
		r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{partition}}}
		eaten(b.call(fmt.Sprint(i), 10+i, 10+n, r, nil))

		topic.Partitions = append(topic.Partitions, int32(i))
		seen := kmsg.NewOffsetFetchResponseTopicPartition()
		seen.Partition, seen.Offset, seen.Metadata = int32(i), -1, new(string)
		if i%2 == 0 {
			seen.Offset = int64(i + 1)
		}
		answer.Partitions = append(answer.Partitions, seen)
	}
	asked.Topics = append(asked.Topics, topic)
	told.Topics = append(told.Topics, answer)
	b.call("reader", 200, 201, asked, told)
	return &b.History
}

// BenchmarkMemory judges a file of more than 32 MB.
func BenchmarkMemory(b *testing.B) {
	file := filepath.Join(b.TempDir(), "large.jsonl")
	if err := sideBySide(b, 31).WriteFile(file); err != nil {
		b.Fatal(err)
	}
	stat, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	if stat.Size() < 32e6 {
		b.Fatalf("the file has %d bytes only", stat.Size())
	}
	debug.FreeOSMemory()
	var peak uint64
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
				metrics.Read(taken)
				peak = max(peak, taken[0].Value.Uint64()-taken[1].Value.Uint64())
			}
		}
	}()
	calls := 0
	for b.Loop() {
		v, h, err := CheckFile(b.Context(), file, Limits{})
		if err != nil || v.Result != Legal {
			b.Fatalf("%v: %s %v", v.Result, v.Reason, err)
		}
		calls = len(h.Calls)
	}
	close(stop)
	<-stopped
	b.ReportMetric(float64(peak>>20), "peak-MiB")
	b.ReportMetric(float64(stat.Size())/1e6, "file-MB")
	b.ReportMetric(float64(calls), "calls")
}

// sideBySide is so many histories of two groups as one.
func sideBySide(b *testing.B, n int) *history.History {
	b.Helper()
	var whole *history.History
	for i := range n {
		one := large(b, 2, 5, 4000, func(o *simOptions) { o.seed, o.name = uint64(i), fmt.Sprintf("g%d-", i) })
		one = one.Keep(func(c *history.Call) bool { return c.Key != int16(kmsg.ListGroups) }) // which shows one's own groups alone
		if whole == nil {
			whole = one
			continue
		}
		whole.Header.Groups = append(whole.Header.Groups, one.Header.Groups...)
		whole.Calls = append(whole.Calls, one.Calls...)
	}
	slices.SortStableFunc(whole.Calls, func(a, b history.Call) int { return cmp.Compare(a.Call, b.Call) })
	for i := range whole.Calls {
		whole.Calls[i].ID = int64(i + 1)
	}
	return whole
}

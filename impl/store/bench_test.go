package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// committed is the write of an OffsetCommit of one partition.
func committed(n int) core.Append {
	v := kmsg.NewOffsetCommitValue()
	v.Version, v.Offset, v.CommitTimestamp = 4, int64(n), 1
	return core.Append{Records: []core.Record{{Kind: core.OffsetRecord, Group: fmt.Sprint("group-", n%1000), Topic: "topic", Offset: &v}}}
}

// BenchmarkFsync is what one sync of a little more data costs on this machine, beside which the others are to be read.
func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 256)
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	report(b, took)
}

// BenchmarkAppend has writers that each wait for their write: many share a commit.
func BenchmarkAppend(b *testing.B) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		for _, writers := range []int{1, 16, 256, 4096} {
			b.Run(fmt.Sprintf("%s/%d", d, writers), func(b *testing.B) {
				l, err := store.Open(store.Options{Dir: b.TempDir(), Durability: d, Report: func(err error) { b.Error(err) }})
				if err != nil {
					b.Fatal(err)
				}
				var next atomic.Int64
				all := make([][]time.Duration, writers)
				var work sync.WaitGroup
				b.ResetTimer()
				for w := range writers {
					work.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							begin := time.Now()
							if err := put(l, committed(int(n))); err != nil {
								b.Error(err)
							}
							all[w] = append(all[w], time.Since(begin))
						}
					})
				}
				work.Wait()
				b.StopTimer()
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				report(b, slices.Concat(all...))
			})
		}
	}
}

func report(b *testing.B, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "writes/s")
}

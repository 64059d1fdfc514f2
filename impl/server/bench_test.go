package server_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

// What a cluster does in a second, over TCP: requests of 16 connections, each with so many on their way at a time.
func BenchmarkServe(b *testing.B) {
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", "nobody", 1
	for _, c := range []struct {
		name  string
		req   kmsg.Request
		depth int
		disk  bool
	}{{"heartbeat/1", beat, 1, false}, {"heartbeat/16", beat, 16, false}, {"commit/1", commitReq("g", 5), 1, false}, {"commit/1/disk", commitReq("g", 5), 1, true}} {
		b.Run(c.name, func(b *testing.B) {
			o := server.ClusterOptions{Topics: map[string]int32{"t": 4}}
			if c.disk {
				disk, err := store.Open(store.Options{Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				defer disk.Close()
				o.Log = disk
			}
			cluster, err := server.StartCluster(o)
			if err != nil {
				b.Fatal(err)
			}
			defer cluster.Close()
			one := frame(c.req, 4, 1)
			const conns = 16
			var work sync.WaitGroup
			b.ResetTimer()
			for range conns {
				work.Go(func() {
					conn, err := net.Dial("tcp", cluster.Addrs()[0])
					if err != nil {
						b.Error(err)
						return
					}
					defer conn.Close()
					in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
					for done := 0; done < b.N/conns+1; done += c.depth {
						for range c.depth {
							_, _ = out.Write(one)
						}
						if err := out.Flush(); err != nil {
							b.Error(err)
							return
						}
						for range c.depth {
							var size [4]byte
							if _, err := io.ReadFull(in, size[:]); err != nil {
								b.Error(err)
								return
							}
							_, _ = in.Discard(int(binary.BigEndian.Uint32(size[:])))
						}
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// backing is everything that is not group coordination: a cluster of franz-go's kfake with as many brokers as there are nodes. It listens on
// pipes in memory and goes by the nodes' own addresses, so that what it tells of where its brokers are is right for clients, and nobody can
// come to it but through a node.
type backing struct {
	cluster *kfake.Cluster
	network kfake.VirtualNetwork // where its brokers listen: that of node N on port N+1
	offered map[kmsg.Key]core.VersionRange
	hello   *kmsg.ApiVersionsResponse // what it says of its features

	inUse  inUse // empty where nothing is kept
	killed bool  // whoever used the folder last was
	unkept *unkept

	mu    sync.Mutex
	lines []*line // to the brokers, for what nodes ask themselves
}

// served are the APIs that kfake serves here. Those of groups are not among them, nor those that would change who may do what, nor the
// newer kinds of groups, which kfake would coordinate apart from the others.
var served = []kmsg.Key{
	kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.DeleteRecords, kmsg.InitProducerID,
	kmsg.OffsetForLeaderEpoch, kmsg.AddPartitionsToTxn, kmsg.AddOffsetsToTxn, kmsg.EndTxn, kmsg.DescribeConfigs, kmsg.AlterConfigs,
	kmsg.IncrementalAlterConfigs, kmsg.DescribeLogDirs, kmsg.CreatePartitions, kmsg.DescribeCluster, kmsg.DescribeProducers,
	kmsg.DescribeTransactions, kmsg.ListTransactions, kmsg.DescribeTopicPartitions,
}

// unserved are features of clusters that speak of other kinds of groups.
var unserved = map[string]bool{"group.version": true, "share.version": true, "streams.version": true}

// startBacking starts it for nodes at these addresses.
func startBacking(addrs []string, s core.Settings, o ClusterOptions) (*backing, error) {
	b := &backing{}
	made := 0
	opts := []kfake.Opt{
		kfake.NumBrokers(len(addrs)), kfake.ClusterID(clusterID), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) {
			made++
			l, err := b.network.Listen("tcp", behind(made-1))
			return goesBy{l, address(addrs[made-1])}, err
		}),
		kfake.BrokerConfigs(brokerConfigs(s)),
	}
	if o.Records != "" {
		b.unkept = &unkept{dir: o.Records, report: o.Report}
		opts = append(opts, kfake.DataDir(o.Records), kfake.WithLogger(b.unkept))
		if o.Sync {
			opts = append(opts, kfake.SyncWrites())
		}
	}
	for name, n := range o.Topics {
		opts = append(opts, kfake.SeedTopics(n, name))
	}
	var err error
	if b.cluster, err = kfake.NewCluster(opts...); err != nil {
		if o.Records != "" {
			return nil, fmt.Errorf("starting kfake, which keeps topics and records in %s: %w; if that folder is damaged or of a newer version, put a copy in its place, or move it away to begin without topics", o.Records, err)
		}
		return nil, fmt.Errorf("starting kfake, which serves what is not group coordination: %w", err)
	}
	b.lines = make([]*line, len(addrs))
	if o.Records != "" {
		b.inUse = inUseOf(o.Records)
		if b.killed, err = b.inUse.take(); err != nil {
			b.close()
			return nil, err
		}
	}
	if err := b.greet(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// unkept tells of topics and records that kfake cannot keep, or read: it goes on with what it has in memory.
type unkept struct {
	dir    string
	report func(error)
	any    atomic.Bool
}

// Logf implements kfake.Logger.
func (u *unkept) Logf(level kfake.LogLevel, format string, args ...any) {
	if level > kfake.LogLevelWarn || strings.HasPrefix(format, "txn") { // which are slow, or have timed out
		return
	}
	err := fmt.Errorf("%s, where kfake keeps topics and records: %w", u.dir, fmt.Errorf(format, args...))
	if strings.Contains(format, "persist") || strings.HasPrefix(format, "save") {
		u.any.Store(true)
		err = fmt.Errorf("%w; what cannot be written is gone with this process", err)
	}
	u.report(err)
}

// behind is the address of a node's broker on the network in memory.
func behind(node int) string { return "127.0.0.1:" + strconv.Itoa(node+1) }

// goesBy is a listener that goes by another address than its own.
type goesBy struct {
	net.Listener
	addr net.Addr
}

func (g goesBy) Addr() net.Addr { return g.addr }

// address is HOST:PORT.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// brokerConfigs are the settings of groups, for DescribeConfigs.
func brokerConfigs(s core.Settings) map[string]string {
	configs := map[string]string{}
	for _, c := range (&Front{settings: s.WithDefaults()}).brokerSettings() {
		configs[c.name] = strconv.FormatInt(c.value, 10)
	}
	return configs
}

// greet asks what there is.
func (b *backing) greet() error {
	req := kmsg.NewPtrApiVersionsRequest()
	req.SetVersion(offered[kmsg.ApiVersions].Max)
	req.ClientSoftwareName, req.ClientSoftwareVersion = "muster", "1"
	resp, err := b.ask(0, req)
	if err != nil {
		return err
	}
	b.hello = resp.(*kmsg.ApiVersionsResponse)
	b.hello.SupportedFeatures = slices.DeleteFunc(b.hello.SupportedFeatures, func(f kmsg.ApiVersionsResponseSupportedFeature) bool { return unserved[f.Name] })
	b.hello.FinalizedFeatures = slices.DeleteFunc(b.hello.FinalizedFeatures, func(f kmsg.ApiVersionsResponseFinalizedFeature) bool { return unserved[f.Name] })
	there := map[kmsg.Key]core.VersionRange{}
	for _, k := range b.hello.ApiKeys {
		there[kmsg.Key(k.ApiKey)] = core.VersionRange{Min: k.MinVersion, Max: k.MaxVersion}
	}
	b.offered = map[kmsg.Key]core.VersionRange{}
	for _, key := range served {
		if r, ok := there[key]; ok {
			b.offered[key] = r
		}
	}
	return nil
}

// ask lets a node ask its broker something itself. The version of the request is the one that is spoken.
func (b *backing) ask(node int32, req kmsg.Request) (kmsg.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[node] == nil {
		l, err := b.dial(node)
		if err != nil {
			return nil, err
		}
		b.lines[node] = l
	}
	resp, err := b.lines[node].ask(req)
	if err != nil {
		b.lines[node].close()
		b.lines[node] = nil
	}
	return resp, err
}

func (b *backing) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lines {
		if l != nil {
			l.close()
		}
	}
	clear(b.lines)
	b.cluster.Close()
	if b.inUse != "" && !b.unkept.any.Load() {
		_ = b.inUse.release() // who finds it takes the folder for one of a process that was killed, and looks at more than need be
	}
}

// line is a connection to a broker of kfake.
type line struct {
	conn net.Conn
	last int32 // correlation id of what was asked last by ask
}

func (b *backing) dial(node int32) (*line, error) {
	conn, err := b.network.DialContext(context.Background(), "tcp", behind(int(node)))
	if err != nil {
		return nil, err
	}
	return &line{conn: conn}, nil
}

func (l *line) close() { _ = l.conn.Close() }

// errBacking ends a connection whose request kfake has not answered: it closes connections for what it cannot serve.
var errBacking = errors.New("kfake, which serves what is not group coordination, has closed its connection")

// send passes a request on as it came.
func (l *line) send(frame []byte) error {
	size := binary.BigEndian.AppendUint32(make([]byte, 0, 4+min(len(frame), smallFrame)), uint32(len(frame)))
	first := append(size, frame[:min(len(frame), smallFrame)]...)
	for _, part := range [][]byte{first, frame[len(first)-4:]} {
		if len(part) == 0 {
			continue
		}
		if _, err := l.conn.Write(part); err != nil {
			return errBacking
		}
	}
	return nil
}

// receive reads an answer as it comes, its size in front.
func (l *line) receive() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(l.conn, size[:]); err != nil {
		return nil, errBacking
	}
	reply := make([]byte, 4+binary.BigEndian.Uint32(size[:]))
	copy(reply, size[:])
	if _, err := io.ReadFull(l.conn, reply[4:]); err != nil {
		return nil, errBacking
	}
	return reply, nil
}

func (l *line) ask(req kmsg.Request) (kmsg.Response, error) {
	l.last++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("muster")).AppendRequest(nil, req, l.last)
	if err := l.send(frame[4:]); err != nil {
		return nil, err
	}
	reply, err := l.receive()
	if err != nil {
		return nil, err
	}
	return readReply(req, reply)
}

// readReply reads the answer to a request.
func readReply(req kmsg.Request, reply []byte) (kmsg.Response, error) {
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	body := reply[min(8, len(reply)):]
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) && len(body) > 0 {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("answer of kfake to %s v%d: %w", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return resp, nil
}

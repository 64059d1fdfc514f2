// Package server is the reference coordinator behind a socket: Kafka's protocol over TCP, one goroutine that owns the coordinator,
// wall-clock timers, and a log in memory that acknowledges at once.
//
// Start runs one node that has groups and a table of topics, for judges. StartCluster runs what muster serve does: nodes that real clients can
// use, each the coordinator of some partitions of __consumer_offsets (a loop for each), with kfake behind them for topics, records and transactions.
package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/groupstats"
	"github.com/muster-kafka/muster/impl/store"
)

// defaultMaxFrame is far above any request of a group that fits the tests of a coordinator, and small enough to be held in memory
// for each connection.
const defaultMaxFrame = 4 << 20

// defaultCleanup is Kafka's offsets.retention.check.interval.ms.
const defaultCleanup = 10 * time.Minute

// Options are a server's settings. The zero value listens on a free port of the loopback.
type Options struct {
	Addr     string           // HOST:PORT to listen on; default "127.0.0.1:0"
	Settings core.Settings    // Node.Host, Node.Port, topics and transactions are the server's own; CleanupInterval is 10 min by default
	Topics   map[string]int32 // topics to begin with: name to number of partitions
	MaxFrame int              // largest request in bytes, 4 MiB by default; a larger one closes the connection

	Log store.Log // where groups and offsets are kept, in partition 0, and loaded from; it is the caller's to close. In memory by default

	Admin string             // HOST:PORT to serve GET /metrics on; default: nowhere
	Stats groupstats.Options // how the groups are counted and logged; the clock is the server's own

	// Report is told of inconsistencies, failed writes and connections that are closed for what they sent. It is called from several
	// goroutines.
	Report func(error)

	// Watch is told of every event that the coordinator takes, in their order, with its instant and what came of it, before that is carried out. The effects
	// are the coordinator's again afterwards. It is called once at a time, and everything waits for it.
	Watch func(at time.Time, ev core.Event, effects []core.Effect)
}

// Server is a running node.
type Server struct {
	options  Options
	listener *listener
	loop     *loop
	stats    *groupstats.Stats
	admin    *admin // may be nil
	work     sync.WaitGroup
	closing  sync.Once
}

// offered are the versions of what is served here.
var offered = Versions()

// Start listens and serves until Close.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = defaultMaxFrame
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	limits := Limits{Frame: o.MaxFrame}.withDefaults()
	listener, err := listen(net.Listen, o.Addr, limits, newMemory(limits), o.Report)
	if err != nil {
		return nil, err
	}
	settings := o.Settings
	settings.Node.Host, settings.Node.Port, err = hostPort(listener.Addr())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	o.Stats.Now = time.Now
	stats := groupstats.New(o.Stats)
	settings = running(settings, stats, o.Report)
	l := newLoop(settings, o.Topics)
	l.watch = o.Watch
	if l.report = o.Report; o.Log != nil {
		l.begin(o.Log, 0, nil)
	}
	s := &Server{options: o, listener: listener, loop: l, stats: stats}
	if o.Admin != "" {
		if s.admin, err = startAdmin(o.Admin, stats, nil, o.Report); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	s.work.Go(l.run)
	listener.start(s.session)
	return s, nil
}

// running are the settings of a coordinator that runs on wall time and by chance.
func running(s core.Settings, stats *groupstats.Stats, report func(error)) core.Settings {
	if s.NewMemberID == nil {
		s.NewMemberID = func(clientID string) string { return core.MemberID(clientID, rand.Uint64(), rand.Uint64()) }
	}
	if s.Choose == nil {
		s.Choose = rand.IntN
	}
	if s.CleanupInterval == 0 {
		s.CleanupInterval = defaultCleanup
	}
	if s.Report == nil {
		s.Report = report
	}
	s.Observe = both(stats.Observe, s.Observe)
	return s
}

func hostPort(a net.Addr) (string, int32, error) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "", 0, fmt.Errorf("address %s: %w", a, err)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // clients are told to come back here
	}
	n, err := strconv.ParseInt(port, 10, 32)
	return host, int32(n), err
}

// Addr is where the server listens, HOST:PORT.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// AdminAddr is where it serves /metrics, HOST:PORT; empty where it does not.
func (s *Server) AdminAddr() string {
	if s.admin == nil {
		return ""
	}
	return s.admin.listener.Addr().String()
}

// Stats says how the groups are doing.
func (s *Server) Stats() *groupstats.Stats { return s.stats }

// both calls two observers, of which the second may be nil.
func both(first, second func(core.Change)) func(core.Change) {
	if second == nil {
		return first
	}
	return func(c core.Change) {
		first(c)
		second(c)
	}
}

// Close stops listening, drops all connections and returns when nothing of the server runs any more. Parked requests stay unanswered.
func (s *Server) Close() (err error) {
	s.closing.Do(func() {
		err = s.listener.Close()
		if s.admin != nil {
			err = errors.Join(err, s.admin.close())
		}
		s.loop.stop()
		s.listener.wait()
		s.work.Wait()
	})
	return err
}

// session answers the requests of a connection.
func (s *Server) session(c *conn) (session, error) {
	return &lone{server: s, conn: c, peer: host(c)}, nil
}

// lone is a connection to a node that is alone.
type lone struct {
	server *Server
	conn   *conn
	peer   string
}

// handle answers a request. A parked one holds the ones after it. That the client has gone is noticed when its answer is written, and does
// not concern its group.
func (l *lone) handle(frame []byte) error {
	h, req, err := parseRequest(frame, offered)
	if err != nil {
		return err
	}
	resp, err := l.server.loop.ask(0, core.Request{Message: req, Version: h.version, ClientID: h.clientID, ClientHost: "/" + l.peer}, l.conn.first)
	if err != nil {
		return fmt.Errorf("%s v%d: %w", kmsg.NameForKey(h.key), h.version, err)
	}
	l.conn.out = appendResponse(l.conn.out, h.correlation, resp)
	return nil
}

func (*lone) close() {}

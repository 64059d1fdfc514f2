// Package wire speaks to a group coordinator over TCP: any HOST:PORT that answers Kafka's protocol.
//
// Actors' connections are framed here, with kmsg for the bytes: a judge must send exactly the version it says, once, with no
// retry and no client-side timeout. What surrounds them (topics, settings, clean-up) goes through franz-go's admin client.
//
// Time is wall time. Conventions that scenarios rely on: the smallest session timeout that a scenario names is 6 s, Kafka's own
// default minimum, and Scale maps it to what the target allows, but never below a twentieth: 6 s become 300 ms on the harness's
// own brokers, and stay 6 s on a broker with Kafka's defaults.
package wire

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"golang.org/x/time/rate"

	"github.com/muster-kafka/muster/conformance/target"
)

// Options say what to speak to and how far a run may go there.
type Options struct {
	// Addr is the HOST:PORT of one broker.
	Addr string

	// Name is how the target is called; empty means Addr.
	Name string

	// TLS and SASL are used on every connection; nil means none. package clientprops reads them from client.properties.
	TLS  *tls.Config
	SASL sasl.Mechanism

	// AllowWrites lets a run create groups and a topic on an address that is not on this machine.
	AllowWrites bool

	// LookOnly opens the target without writing: it joins no group, asks for no coordinator and creates no topic. What cannot be known
	// so is assumed. The target is for looking at, not for judging, and needs no AllowWrites.
	LookOnly bool

	// Own says that the harness has started the target for itself: no caps apply.
	Own bool

	// MaxGroups caps how many groups of the run exist at a time (0: 20), Rate the requests in a second (0: 50). Not for Own targets.
	MaxGroups int
	Rate      float64

	// Topic is an existing topic with at least two partitions to commit offsets for; empty means that one is created. Second is another
	// one, of an Own target whose topics exist already.
	Topic, Second string

	// Settings are broker settings that whoever started the target knows, by Kafka's names: they are not looked for.
	Settings map[string]string

	// Nulls has null read as empty where Kafka's protocol has no null, of a target that is known for it: what else is in such an answer can be judged then.
	Nulls bool

	// Release and Profile go into the capabilities as they are.
	Release, Profile string

	// Timeout bounds each step of opening and closing; 0 means 10 s.
	Timeout time.Duration
}

// Limits of a run on a coordinator that is not the harness's own.
const (
	defaultMaxGroups = 20
	defaultRate      = 50
)

const defaultTimeout = 10 * time.Second

// PrefixMark begins the prefix of each run; Cleanup removes nothing that does not begin so.
const PrefixMark = "muster-"

// Target is a group coordinator at an address. It implements target.Target.
type Target struct {
	opts   Options
	caps   target.Capabilities
	dialer dialer
	admin  *kgo.Client
	limit  *rate.Limiter // nil: none
	table  *table
	home   int32 // the broker that the run keeps to, seedNode where there is no choice; set while it is opened
	found  Findings
	topics []string // created by us

	mu      sync.Mutex
	conns   map[*Conn]struct{}
	groups  map[string]struct{}               // named in requests so far
	doubts  []string                          // see Doubts
	through func(addr string) (string, error) // see Divert
	closed  bool
}

var _ target.Target = (*Target)(nil)

// Open probes the address, creates the run's topic, and waits until offsets can be committed for it.
func Open(ctx context.Context, opts Options) (*Target, error) {
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Name == "" {
		opts.Name = opts.Addr
	}
	host, _, err := net.SplitHostPort(opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no HOST:PORT (%v)", ErrUnreachable, opts.Addr, err)
	}
	if !opts.AllowWrites && !opts.Own && !opts.LookOnly && !loopback(ctx, host) {
		return nil, fmt.Errorf("%w: %s", ErrWritesNotAllowed, opts.Addr)
	}
	t := &Target{
		opts:   opts,
		dialer: dialer{addr: opts.Addr, host: host, tls: opts.TLS, sasl: opts.SASL, timeout: opts.Timeout, nulls: opts.Nulls},
		home:   seedNode,
		conns:  map[*Conn]struct{}{},
		groups: map[string]struct{}{},
	}
	if !opts.Own {
		perSecond := opts.Rate
		if perSecond <= 0 {
			perSecond = defaultRate
		}
		t.limit = rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
	}
	t.caps.Prefix = newPrefix()
	t.caps.Release, t.caps.Profile = opts.Release, opts.Profile
	if err := t.open(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Target) open(ctx context.Context) error {
	if err := t.probe(ctx); err != nil {
		return err
	}
	if t.opts.LookOnly {
		return nil
	}
	return t.prepareTopic(ctx)
}

// Name implements target.Target.
func (t *Target) Name() string { return t.opts.Name }

// Capabilities implements target.Target.
func (t *Target) Capabilities() target.Capabilities {
	c := t.caps
	c.Versions = maps.Clone(c.Versions)
	c.Topics = maps.Clone(c.Topics)
	return c
}

// Findings tell how the capabilities were come by, for a person.
func (t *Target) Findings() Findings { return t.found }

// Doubts are answers that cannot be right and that the run went on without: what they show of the target is for judges to say, and what
// was not found out for lack of them is for whoever reads the verdict.
func (t *Target) Doubts() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.doubts)
}

func (t *Target) doubt(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(t.doubts, text) {
		t.doubts = append(t.doubts, text)
	}
}

// Clock implements target.Target.
func (t *Target) Clock() target.Clock { return target.WallClock{} }

// Dial implements target.Target. The connection goes to the broker that the run keeps to; requests of a group go on to its coordinator if
// that is another one.
func (t *Target) Dial(ctx context.Context, clientID string) (target.Conn, error) {
	l, err := t.actors().dial(ctx, t.homeAddr(), clientID)
	if err != nil {
		return nil, err
	}
	c := &Conn{target: t, clientID: clientID, links: map[int32]*link{t.home: l}, last: t.home}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = l.close()
		return nil, fmt.Errorf("dialling %s: %w", t.opts.Addr, target.ErrClosed)
	}
	t.conns[c] = struct{}{}
	return c, nil
}

// Close implements target.Target: it drops all connections, then removes the groups and the topic of the run. The time that
// takes is bounded; what could not be removed is in the error, with the command that removes it.
func (t *Target) Close() error {
	if !t.drop() || t.admin == nil {
		return nil
	}
	defer t.admin.Close()
	if t.opts.LookOnly {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*t.opts.Timeout)
	defer cancel()
	err := t.listens(ctx) // the admin client would try for as long as it is let
	if err == nil {
		err = t.removeOurs(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w\nwhat was left on %s can be removed with: muster cleanup %s --prefix %s", err, t.opts.Addr, t.opts.Addr, t.caps.Prefix)
	}
	return nil
}

// listens says why nobody listens at the address any more.
func (t *Target) listens(ctx context.Context) error {
	if len(t.groups)+len(t.topics) == 0 {
		return nil // nothing is to be removed
	}
	l, err := t.actors().dial(ctx, "", "muster")
	if err != nil {
		return fmt.Errorf("removing what the run left: %w", err)
	}
	return l.close()
}

// Abandon closes without removing anything: for a broker that is about to go, or has gone.
func (t *Target) Abandon() {
	if t.drop() && t.admin != nil {
		t.admin.Close()
	}
}

// drop closes all connections; it says no if that was done before.
func (t *Target) drop() bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	t.closed = true
	conns := slices.Collect(maps.Keys(t.conns))
	t.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
	return true
}

func (t *Target) forget(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// noteGroup remembers a group for the clean-up. Only those of our prefix are ever removed.
func (t *Target) noteGroup(group string) {
	if !strings.HasPrefix(group, t.caps.Prefix) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.groups[group] = struct{}{}
}

func newPrefix() string {
	var raw [4]byte
	_, _ = rand.Read(raw[:]) // never fails
	return PrefixMark + hex.EncodeToString(raw[:]) + "-"
}

// loopback says whether all addresses of the host are on this machine's loopback interface.
func loopback(ctx context.Context, host string) bool {
	if host == "" { // as in :9092, which connects to this machine
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil || len(addrs) == 0 {
		return host == "localhost"
	}
	for _, a := range addrs {
		if !a.IP.IsLoopback() {
			return false
		}
	}
	return true
}

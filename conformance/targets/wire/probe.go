package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// needed are the APIs without which there is nothing to judge.
var needed = []kmsg.Key{kmsg.FindCoordinator, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup}

// probe finds out what is at the address: whether it is Kafka, what it offers, how it is set and how far away it is.
func (t *Target) probe(ctx context.Context) error {
	c := control{target: t}
	defer c.close()
	t.table = &table{brokers: map[int32]string{}, groups: map[string]int32{}}
	if err := t.probeVersions(ctx, &c); err != nil {
		return err
	}
	if err := t.probeBrokers(ctx, &c); err != nil {
		return err
	}
	if err := t.openAdmin(); err != nil {
		return err
	}
	node, err := t.probeCoordinator(ctx, &c)
	if err != nil {
		return err
	}
	if err := t.keepTo(ctx, &c, node); err != nil {
		return err
	}
	if err := t.probeRoundTrip(ctx, &c); err != nil {
		return err
	}
	if t.home != seedNode {
		node = t.home
	}
	if err := t.probeSettings(ctx, node); err != nil {
		return err
	}
	t.setTimes()
	t.setFeatures()
	return nil
}

// probeCoordinator is the node whose settings count: the coordinator of a group of ours. FindCoordinator lets a broker create the offsets
// topic, so who only looks takes any broker.
func (t *Target) probeCoordinator(ctx context.Context, c *control) (int32, error) {
	if t.opts.LookOnly {
		return t.anyNode(), nil
	}
	node, err := c.findCoordinator(ctx, t.caps.Prefix+probeGroup)
	switch {
	case kerr.IsRetriable(err):
		return 0, fmt.Errorf("FindCoordinator: %w; the broker may still be starting, or __consumer_offsets has no leader: wait and run again", err)
	case hopeless(ctx, err):
		return 0, authError("FindCoordinator", err)
	case err != nil:
		t.doubt("FindCoordinator: %v; groups are looked for at %s", err, t.opts.Addr)
		return t.anyNode(), nil
	case node == seedNode:
		return t.anyNode(), nil
	}
	return node, nil
}

// anyNode is some broker of the cluster.
func (t *Target) anyNode() int32 {
	nodes := slices.Sorted(maps.Keys(t.table.brokers))
	if len(nodes) == 0 {
		return 0
	}
	return nodes[0]
}

// hopeless says whether an error is about reaching the broker or being let in, or will pass: then there is nothing to judge. Any other wrong
// answer is for the judges.
func hopeless(ctx context.Context, err error) bool {
	for _, kind := range []error{
		ErrUnreachable, ErrAuth, ErrNotKafka, target.ErrClosed,
		kerr.ClusterAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.SaslAuthenticationFailed,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return ctx.Err() != nil || kerr.IsRetriable(err)
}

// setFeatures tells what the target has, from what it offers. Transactions leave transactional ids behind that nobody can remove, and
// OffsetDelete needs a second topic: those only where the target is ours.
func (t *Target) setFeatures() {
	t.caps.Features = []target.Feature{target.Static, target.Operations, target.Corners}
	offers := func(keys ...kmsg.Key) bool {
		for _, k := range keys {
			if _, ok := t.caps.Versions[k.Int16()]; !ok {
				return false
			}
		}
		return true
	}
	if t.opts.Own && offers(kmsg.InitProducerID, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn) {
		t.caps.Features = append(t.caps.Features, target.Transactions)
	}
	if t.opts.Own && offers(kmsg.OffsetDelete) {
		t.caps.Features = append(t.caps.Features, target.OffsetDelete)
	}
}

// setTimes derives how scenarios are timed there; see the package's comment.
func (t *Target) setTimes() {
	const conventionalMin = 6 * time.Second
	t.caps.Scale = max(1.0/20, t.caps.MinSession.Seconds()/conventionalMin.Seconds())
	t.caps.Settle = min(80*time.Millisecond+4*t.found.RoundTrip, time.Second)
	t.caps.Slack = 250*time.Millisecond + 2*t.found.RoundTrip
	if !t.opts.Own {
		t.caps.MaxGroups = t.opts.MaxGroups
		if t.caps.MaxGroups <= 0 {
			t.caps.MaxGroups = defaultMaxGroups
		}
	}
}

func (t *Target) probeVersions(ctx context.Context, c *control) error {
	resp, err := c.ask(ctx, kmsg.NewPtrApiVersionsRequest(), 0)
	switch {
	case err == nil:
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrAuth):
		return err
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("%w: it accepts connections, but has not answered ApiVersions within %v", ErrUnreachable, t.opts.Timeout)
	case errors.Is(err, target.ErrClosed):
		return fmt.Errorf("%w: it did not answer ApiVersions (%w); if it wants TLS or SASL, give its client.properties with --config", ErrNotKafka, err)
	case errors.Is(err, ErrNotKafka):
		return fmt.Errorf("%w: %w", ErrNotKafka, err)
	default:
		return err
	}
	r := resp.(*kmsg.ApiVersionsResponse)
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		return fmt.Errorf("%w: ApiVersions answers %w", ErrNotKafka, err)
	}
	t.caps.Versions = map[int16]target.VersionRange{}
	for _, k := range r.ApiKeys {
		req := kmsg.RequestForKey(k.ApiKey)
		if req == nil || k.MinVersion > req.MaxVersion() {
			continue
		}
		// Versions that are newer than this build of muster cannot be written, so they are not offered to judges.
		t.caps.Versions[k.ApiKey] = target.VersionRange{Min: k.MinVersion, Max: min(k.MaxVersion, req.MaxVersion())}
	}
	var missing []string
	for _, k := range needed {
		if _, ok := t.caps.Versions[k.Int16()]; !ok {
			missing = append(missing, k.Name())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: ApiVersions of %s does not list %s", ErrNoGroupAPIs, t.opts.Addr, strings.Join(missing, ", "))
	}
	return nil
}

// probeBrokers learns the cluster's brokers; a target without Metadata is taken for a single one.
func (t *Target) probeBrokers(ctx context.Context, c *control) error {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{}
	if _, ok := t.caps.Versions[meta.Key()]; !ok {
		return nil
	}
	resp, err := c.ask(ctx, meta, t.pick(meta, 12))
	if err != nil {
		return authError("Metadata", err)
	}
	r := resp.(*kmsg.MetadataResponse)
	for _, b := range r.Brokers {
		t.table.brokers[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	t.found.Brokers = len(r.Brokers)
	if r.ClusterID != nil {
		t.found.ClusterID = *r.ClusterID
	}
	return nil
}

// A median of more than this is measured again: a few answers in a row are all late where this machine was busy for a moment, and whoever takes
// that for the way to the target waits longer all the time, and cannot ask for sessions that long.
const (
	soonAnswered = 5 * time.Millisecond
	roundTrips   = 5 // times that it is measured, at most
)

// probeRoundTrip takes the median time of a few answers that need no work, the least of several such.
func (t *Target) probeRoundTrip(ctx context.Context, c *control) error {
	for n := range roundTrips {
		var took []time.Duration
		for range 5 {
			start := time.Now()
			if _, err := c.ask(ctx, kmsg.NewPtrApiVersionsRequest(), 0); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		if median := took[len(took)/2]; n == 0 || median < t.found.RoundTrip {
			t.found.RoundTrip = median
		}
		if t.found.RoundTrip < soonAnswered || !pause(ctx) {
			break
		}
	}
	return nil
}

// openAdmin makes the client for topics, settings and clean-up. All brokers of a single-node cluster are at the address given.
func (t *Target) openAdmin() error {
	admin, err := newAdmin(t.dialer, !t.table.many())
	if err != nil {
		return err
	}
	t.admin = admin
	return nil
}

func newAdmin(d dialer, single bool) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(d.addr),
		kgo.ClientID("muster"),
		kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) {
			if single {
				addr = ""
			}
			return d.netDial(ctx, addr)
		}),
		kgo.RequestRetries(3),
		kgo.RetryTimeout(d.timeout),
		kgo.RequestTimeoutOverhead(d.timeout),
		kgo.DisableClientMetrics(),
	}
	if d.sasl != nil {
		opts = append(opts, kgo.SASL(d.sasl))
	}
	return kgo.NewClient(opts...)
}

// authError marks refusals for lack of rights, and connections that are closed on the first real request, as brokers do that
// want SASL.
func authError(api string, err error) error {
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed),
		errors.Is(err, kerr.SaslAuthenticationFailed), errors.As(err, &record):
		return fmt.Errorf("%w (%s answers %w)", ErrAuth, api, err)
	case errors.Is(err, target.ErrClosed):
		return fmt.Errorf("%w (it closed the connection on %s: %w)", ErrAuth, api, err)
	}
	return fmt.Errorf("%s: %w", api, err)
}

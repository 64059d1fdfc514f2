package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Findings say what the probe found, and how.
type Findings struct {
	ClusterID string
	Brokers   int
	Home      string        // of several, the address of the one that the run keeps to
	RoundTrip time.Duration // of a request that needs no work
	Settings  []Setting
}

// Setting is one broker setting as found.
type Setting struct {
	Name, Value string
	How         string // "known" beforehand, "described" by the broker, "measured" by joining groups, or "assumed"
}

const (
	minSessionKey  = "group.min.session.timeout.ms"
	maxSessionKey  = "group.max.session.timeout.ms"
	initialKey     = "group.initial.rebalance.delay.ms"
	metadataMaxKey = "offset.metadata.max.bytes"
	cleanupKey     = "offsets.retention.check.interval.ms"
)

// probeSettings reads the coordinator's settings, and measures those that it does not tell.
func (t *Target) probeSettings(ctx context.Context, node int32) error {
	told := t.describeSettings(ctx, node)
	m := measurer{target: t}
	defer m.clean()
	for _, s := range []struct {
		key     string
		measure func(context.Context) (time.Duration, error)
		into    *time.Duration
		kafkas  time.Duration // Kafka's default
	}{
		{minSessionKey, m.minSession, &t.caps.MinSession, 6 * time.Second},
		{maxSessionKey, m.maxSession, &t.caps.MaxSession, 30 * time.Minute},
		{initialKey, m.initialDelay, &t.caps.InitialDelay, 3 * time.Second},
	} {
		if ms, err := strconv.ParseInt(t.opts.Settings[s.key], 10, 64); err == nil && ms >= 0 {
			*s.into = time.Duration(ms) * time.Millisecond
			t.found.Settings = append(t.found.Settings, Setting{s.key, t.opts.Settings[s.key], "known"})
			continue
		}
		if ms, err := strconv.ParseInt(told[s.key], 10, 64); err == nil && ms >= 0 {
			*s.into = time.Duration(ms) * time.Millisecond
			t.found.Settings = append(t.found.Settings, Setting{s.key, told[s.key], "described"})
			continue
		}
		if t.opts.LookOnly {
			*s.into = s.kafkas
			t.found.Settings = append(t.found.Settings, Setting{s.key, strconv.FormatInt(s.kafkas.Milliseconds(), 10), "assumed"})
			continue
		}
		d, err := s.measure(ctx)
		if err != nil && !hopeless(ctx, err) {
			t.doubt("measuring %s, which the broker does not tell: %v; Kafka's default is assumed", s.key, err)
			*s.into = s.kafkas
			t.found.Settings = append(t.found.Settings, Setting{s.key, strconv.FormatInt(s.kafkas.Milliseconds(), 10), "assumed"})
			continue
		}
		if err != nil {
			return fmt.Errorf("measuring %s, which the broker does not tell: %w; wait until it serves groups and run again, or let it answer DescribeConfigs", s.key, err)
		}
		*s.into = d
		t.found.Settings = append(t.found.Settings, Setting{s.key, strconv.FormatInt(d.Milliseconds(), 10), "measured"})
	}
	if !t.opts.Own { // one of ours was told to do it rarely
		t.caps.Cleanup = 10 * time.Minute // Kafka's default
		if ms, err := strconv.ParseInt(told[cleanupKey], 10, 64); err == nil && ms > 0 {
			t.caps.Cleanup = time.Duration(ms) * time.Millisecond
		}
	}
	if v, ok := told[metadataMaxKey]; ok {
		t.found.Settings = append(t.found.Settings, Setting{metadataMaxKey, v, "described"})
	}
	return nil
}

// describeSettings is empty where the broker has no DescribeConfigs, or does not let us ask. A broker that is busy with something else
// is asked again, for the time that one step may take.
func (t *Target) describeSettings(ctx context.Context, node int32) map[string]string {
	told := map[string]string{}
	if _, ok := t.caps.Versions[kmsg.DescribeConfigs.Int16()]; !ok {
		return told
	}
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	for {
		all, err := kadm.NewClient(t.admin).DescribeBrokerConfigs(ctx, node)
		for _, resource := range all {
			if resource.Err != nil {
				err = errors.Join(err, resource.Err)
				continue
			}
			for _, c := range resource.Configs {
				if c.Value != nil {
					told[c.Key] = *c.Value
				}
			}
		}
		if len(told) > 0 || !kerr.IsRetriable(err) || !pause(ctx) {
			return told
		}
	}
}

// retryEvery is how long the probe waits before it asks again.
const retryEvery = 100 * time.Millisecond

// pause waits before the next try. It says no if there is no time for one.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(retryEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// measurer finds settings out by joining groups.
type measurer struct {
	target *Target
	groups []string
}

// clean removes the groups that were measured with; Close sees to those that it cannot remove.
func (m *measurer) clean() {
	ctx, cancel := context.WithTimeout(context.Background(), m.target.opts.Timeout)
	defer cancel()
	_ = m.target.removeGroups(ctx, m.groups)
}

// join lets a new member join a new group and leaves it again. It returns the error of the JoinGroup and how long the whole took. A refusal
// that passes (NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS) says nothing of the settings: it is asked again,
// with another group, for the time that one step may take.
func (m *measurer) join(ctx context.Context, session time.Duration) (error, time.Duration, error) {
	until, cancel := context.WithTimeout(ctx, m.target.opts.Timeout)
	defer cancel()
	for {
		refused, took, err := m.once(ctx, session)
		if !kerr.IsRetriable(refused) {
			return refused, took, err
		}
		if !pause(until) {
			return refused, took, fmt.Errorf("JoinGroup still answers %w after %v", refused, m.target.opts.Timeout)
		}
	}
}

// once is one try of join.
func (m *measurer) once(ctx context.Context, session time.Duration) (error, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, m.target.opts.Timeout+joinPatience)
	defer cancel()
	c, err := m.target.Dial(ctx, "muster-probe")
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	group, err := m.target.caps.Named(ctx, fmt.Sprintf("%s%s-%d", m.target.caps.Prefix, probeGroup, len(m.groups)+1))
	if err != nil {
		return nil, 0, err
	}
	m.groups = append(m.groups, group)
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group = group
	req.SessionTimeoutMillis = int32(session.Milliseconds())
	req.RebalanceTimeoutMillis = int32(joinPatience.Milliseconds())
	req.ProtocolType = "consumer"
	proto := kmsg.NewJoinGroupRequestProtocol()
	proto.Name, proto.Metadata = "range", []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	req.Protocols = append(req.Protocols, proto)
	version := m.target.pick(req, 7)
	ask := func(req kmsg.Request, version int16) (kmsg.Response, error) {
		call := c.Send(req, version)
		select {
		case <-call.Done():
			return call.Answer()
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer to %s: %w", kmsg.NameForKey(req.Key()), ctx.Err())
		}
	}
	start := time.Now()
	resp, err := ask(req, version)
	if err != nil {
		return nil, 0, err
	}
	joined := resp.(*kmsg.JoinGroupResponse)
	if joined.ErrorCode == kerr.MemberIDRequired.Code {
		req.MemberID = joined.MemberID
		start = time.Now()
		if resp, err = ask(req, version); err != nil {
			return nil, 0, err
		}
		joined = resp.(*kmsg.JoinGroupResponse)
	}
	took := time.Since(start)
	if joined.ErrorCode == 0 {
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group, leave.MemberID = group, joined.MemberID
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = joined.MemberID
		leave.Members = append(leave.Members, member)
		if _, err := ask(leave, m.target.pick(leave, 5)); err != nil {
			return nil, 0, err
		}
	}
	return kerr.ErrorForCode(joined.ErrorCode), took, nil
}

// joinPatience is the longest initial delay that is measured.
const joinPatience = 30 * time.Second

// accepts says whether a session timeout is in the target's range. An answer other than INVALID_SESSION_TIMEOUT is a yes: the
// coordinator looks at the timeout before all else that could be wrong with the request.
func (m *measurer) accepts(ctx context.Context, session time.Duration) (bool, error) {
	refused, _, err := m.join(ctx, session)
	return refused != kerr.InvalidSessionTimeout, err
}

// minSession halves the range between 1 ms and the first conventional timeout that is accepted.
func (m *measurer) minSession(ctx context.Context) (time.Duration, error) {
	high := 6 * time.Second
	for {
		ok, err := m.accepts(ctx, high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if high *= 5; high > 10*time.Minute {
			return 0, fmt.Errorf("no session timeout up to 10 minutes is accepted")
		}
	}
	low := time.Duration(0) // refused, or not tried
	for high-low > max(10*time.Millisecond, high/50) {
		mid := ((low + high) / 2).Round(time.Millisecond)
		ok, err := m.accepts(ctx, mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}

// maxSession is the largest of the usual bounds that is accepted.
func (m *measurer) maxSession(ctx context.Context) (time.Duration, error) {
	for _, d := range []time.Duration{30 * time.Minute, 5 * time.Minute, time.Minute, 30 * time.Second} {
		ok, err := m.accepts(ctx, d)
		if err != nil {
			return 0, err
		}
		if ok {
			return d, nil
		}
	}
	return max(t10s, m.target.caps.MinSession), nil
}

const t10s = 10 * time.Second

// initialDelay is how long the first member of a group waits, rounded down to what can be a setting.
func (m *measurer) initialDelay(ctx context.Context) (time.Duration, error) {
	refused, took, err := m.join(ctx, max(t10s, m.target.caps.MinSession))
	if err != nil {
		return 0, err
	}
	if refused != nil {
		return 0, fmt.Errorf("JoinGroup answers %w", refused)
	}
	took -= m.target.found.RoundTrip
	if took < 50*time.Millisecond {
		return 0, nil
	}
	return took.Truncate(10 * time.Millisecond), nil
}

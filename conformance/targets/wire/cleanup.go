package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrPrefix refuses to remove what no run of ours has made.
var ErrPrefix = errors.New("a prefix must name one run, as it was printed: " + PrefixMark + ", at least 4 hex digits and a dash, as in muster-0123abcd-")

// onePrefix is what the prefix of one run begins with. Less would take what other runs are at work with.
var onePrefix = regexp.MustCompile("^" + PrefixMark + "[0-9a-f]{4,}-")

// Removed tells what a clean-up has removed, or would remove.
type Removed struct {
	Groups, Topics []string
}

// Cleanup removes the groups and topics whose names begin with the prefix, which must be that of one run: "muster-", at least four hex
// digits, "-". Members that are still in such a group are made to leave. Of opts it uses Addr, TLS, SASL, Timeout and LookOnly: with that
// it only says what it would remove.
func Cleanup(ctx context.Context, opts Options, prefix string) (Removed, error) {
	if !onePrefix.MatchString(prefix) {
		return Removed{}, fmt.Errorf("%w (given: %q)", ErrPrefix, prefix)
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	host, _, err := net.SplitHostPort(opts.Addr)
	if err != nil {
		return Removed{}, fmt.Errorf("%w: %q is no HOST:PORT (%v)", ErrUnreachable, opts.Addr, err)
	}
	t := &Target{
		opts:   opts,
		dialer: dialer{addr: opts.Addr, host: host, tls: opts.TLS, sasl: opts.SASL, timeout: opts.Timeout},
		table:  &table{brokers: map[int32]string{}, groups: map[string]int32{}},
		home:   seedNode,
	}
	c := control{target: t}
	defer c.close()
	if err := t.probeVersions(ctx, &c); err != nil {
		return Removed{}, err
	}
	if err := t.probeBrokers(ctx, &c); err != nil {
		return Removed{}, err
	}
	if err := t.openAdmin(); err != nil {
		return Removed{}, err
	}
	defer t.admin.Close()

	var out Removed
	groups, gerr := listGroups(ctx, t.admin, prefix)
	if gerr == nil && !opts.LookOnly {
		gerr = t.removeGroups(ctx, groups)
	}
	if gerr == nil {
		out.Groups = groups
	}
	topics, terr := listTopics(ctx, t.admin, prefix)
	if terr == nil && !opts.LookOnly {
		terr = removeTopics(ctx, t.admin, topics)
	}
	if terr == nil {
		out.Topics = topics
	}
	return out, errors.Join(gerr, terr)
}

// removeOurs removes what this run has created: the groups that were named in requests, those that the broker lists under the run's
// prefix, and the topic.
func (t *Target) removeOurs(ctx context.Context) error {
	t.mu.Lock()
	groups := maps.Clone(t.groups)
	t.mu.Unlock()
	if listed, err := listGroups(ctx, t.admin, t.caps.Prefix); err == nil {
		// The list is the truth; requests only tell where there is none.
		groups = map[string]struct{}{}
		for _, g := range listed {
			groups[g] = struct{}{}
		}
	}
	var gerr, terr error
	if len(groups) > 0 {
		gerr = t.removeGroups(ctx, slices.Sorted(maps.Keys(groups)))
	}
	if len(t.topics) > 0 {
		terr = removeTopics(ctx, t.admin, t.topics)
	}
	return errors.Join(gerr, terr)
}

// removeGroups deletes groups, and makes members leave that are still in them. A group that is not there is as good as removed.
func (t *Target) removeGroups(ctx context.Context, groups []string) error {
	if _, ok := t.caps.Versions[kmsg.DeleteGroups.Int16()]; !ok || len(groups) == 0 {
		return nil // they go by themselves, when empty and their offsets expire
	}
	adm := kadm.NewClient(t.admin)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		resps, err := adm.DeleteGroups(ctx, groups...)
		var part *kadm.ShardErrors
		if err != nil && !errors.As(err, &part) {
			return fmt.Errorf("deleting groups: %w", err)
		}
		var left []string
		var last error
		for _, g := range groups {
			r, ok := resps[g]
			switch {
			case ok && (r.Err == nil || errors.Is(r.Err, kerr.GroupIDNotFound)):
				continue
			case ok && errors.Is(r.Err, kerr.NonEmptyGroup):
				last = errors.Join(r.Err, t.expel(ctx, g))
			case ok && !kerr.IsRetriable(r.Err):
				return fmt.Errorf("deleting group %s: %w", g, r.Err)
			case ok:
				last = r.Err
			default:
				last = err
			}
			left = append(left, g)
		}
		if len(left) == 0 {
			return nil
		}
		groups = left
		select {
		case <-ctx.Done():
			return fmt.Errorf("deleting groups: %d are left, among them %s (%w)", len(left), left[0], last)
		case <-tick.C:
		}
	}
}

// expel makes all members of a group leave.
func (t *Target) expel(ctx context.Context, group string) error {
	described, err := kadm.NewClient(t.admin).DescribeGroups(ctx, group)
	if err != nil {
		return err
	}
	for _, m := range described[group].Members {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group, req.MemberID = group, m.MemberID
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID, member.InstanceID = m.MemberID, m.InstanceID
		req.Members = append(req.Members, member)
		if _, err := req.RequestWith(ctx, t.admin); err != nil {
			return err
		}
	}
	return nil
}

func listGroups(ctx context.Context, cl *kgo.Client, prefix string) ([]string, error) {
	listed, err := kadm.NewClient(cl).ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing groups: %w", err)
	}
	return slices.DeleteFunc(listed.Groups(), func(g string) bool { return !strings.HasPrefix(g, prefix) }), nil
}

func listTopics(ctx context.Context, cl *kgo.Client, prefix string) ([]string, error) {
	listed, err := kadm.NewClient(cl).ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing topics: %w", err)
	}
	return slices.DeleteFunc(listed.Names(), func(t string) bool { return !strings.HasPrefix(t, prefix) }), nil
}

func removeTopics(ctx context.Context, cl *kgo.Client, topics []string) error {
	if len(topics) == 0 {
		return nil
	}
	resps, err := kadm.NewClient(cl).DeleteTopics(ctx, topics...)
	if err != nil {
		return fmt.Errorf("deleting topics: %w", err)
	}
	for _, r := range resps.Sorted() {
		if r.Err != nil && !errors.Is(r.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("deleting topic %s: %w", r.Topic, r.Err)
		}
	}
	return nil
}

package conformance

import (
	"strconv"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	keys := []string{"session", "rebalance", "type"}
	register("group", &verb{
		example: "group session=10s rebalance=30s type=consumer join=v3",
		keys:    keys,
		open: func(key string) bool {
			_, ok := apis[key]
			return ok
		},
		run: runGroup,
	})
}

// runGroup sets what later commands use; it sends nothing.
func runGroup(r *run, c *script.Command) error {
	for _, a := range c.Args {
		switch a.Key {
		case "session":
			r.set.session = a.Value
		case "rebalance":
			r.set.rebalance = a.Value
		case "type":
			r.set.typ = a.Value
		default:
			if n, ok := groupVersion(a); ok { // the file was checked
				r.set.versions[a.Key] = n
			}
		}
	}
	return nil
}

// groupVersion is the version that group sets for a request, as in join=v3.
func groupVersion(a script.Arg) (int16, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(a.Value, "v"), 10, 15)
	_, request := apis[a.Key]
	return int16(n), request && err == nil
}

// sessionBound recognises session timeouts that are named by the target's bounds.
func sessionBound(s string) (func(lo, hi time.Duration) time.Duration, bool) {
	switch s {
	case "min":
		return func(lo, _ time.Duration) time.Duration { return lo }, true
	case "below-min":
		return func(lo, _ time.Duration) time.Duration { return lo - time.Millisecond }, true
	case "max":
		return func(_, hi time.Duration) time.Duration { return hi }, true
	case "above-max":
		return func(_, hi time.Duration) time.Duration { return hi + time.Millisecond }, true
	}
	return nil, false
}

// millis is a client's duration on the target: scaled, in milliseconds.
func (r *run) millis(s string) (int32, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	return int32(r.scaled(d) / time.Millisecond), nil
}

func (r *run) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * r.caps.Scale)
}

// session is a session timeout on the target. One that the target would refuse for its length makes the scenario one that cannot be
// asked; only the named bounds and what lies beyond them are sent as they are.
func (r *run) session(s string) (int32, error) {
	if bound, ok := sessionBound(s); ok {
		return int32(bound(r.caps.MinSession, r.caps.MaxSession) / time.Millisecond), nil
	}
	ms, err := r.millis(s)
	if err != nil {
		return 0, err
	}
	d := time.Duration(ms) * time.Millisecond
	if d < r.caps.MinSession {
		return 0, skipf("needs a session of %s, and the target allows no less than %s: lower group.min.session.timeout.ms on the broker", d, r.caps.MinSession)
	}
	if r.caps.MaxSession > 0 && d > r.caps.MaxSession {
		return 0, skipf("needs a session of %s, and the target allows no more than %s: raise group.max.session.timeout.ms on the broker", d, r.caps.MaxSession)
	}
	return ms, nil
}

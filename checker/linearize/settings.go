package linearize

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// profileOf finds the profile that a header names.
func profileOf(name string) (classic.Profile, error) {
	for _, p := range []classic.Profile{classic.Reference, classic.Java, classic.Scala} {
		if p.Name == name {
			return p, nil
		}
	}
	return classic.Profile{}, fmt.Errorf("no profile is called %q; there are reference, java and scala", name)
}

// configOf is what the model needs to know of the target that the header describes.
func configOf(h *history.Header, broken []classic.RuleID) (observe.Config, error) {
	profile, err := profileOf(h.Profile)
	if err != nil {
		return observe.Config{}, err
	}
	for name, d := range map[string]time.Duration{"min_session_ns": h.MinSession, "max_session_ns": h.MaxSession, "new_member_timeout_ns": h.NewMemberTimeout} {
		if d <= 0 {
			return observe.Config{}, fmt.Errorf("header: %s is %d; it must be positive", name, d)
		}
	}
	if h.Tick < 0 || h.Slack < 0 || h.Stall < 0 {
		return observe.Config{}, fmt.Errorf("header: tick_ns, slack_ns and stall_ns must not be negative")
	}
	topics := h.Topics
	return observe.Config{
		Profile:          profile,
		Broken:           broken,
		MinSession:       h.MinSession,
		MaxSession:       h.MaxSession,
		NewMemberTimeout: h.NewMemberTimeout,
		MaxMetadata:      h.MaxMetadata,
		Tick:             h.Tick,
		Topics: func(topic string, partition int32) bool {
			return partition >= 0 && partition < topics[topic]
		},
	}, nil
}

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
	p, err := classic.ProfileFor(name)
	if err != nil {
		return p, fmt.Errorf("no profile is called %q; there are reference, java, scala, and releases of Kafka from 2.4 to 4.4 as three numbers", name)
	}
	return p, nil
}

// configOf is what the model needs to know of the target that the header describes.
func configOf(run *history.History, broken []classic.RuleID) (observe.Config, error) {
	h := &run.Header
	profile, err := profileOf(h.Profile)
	if err != nil {
		return observe.Config{}, err
	}
	for name, d := range map[string]time.Duration{"min_session_ns": h.MinSession, "max_session_ns": h.MaxSession, "new_member_timeout_ns": h.NewMemberTimeout} {
		if d <= 0 {
			return observe.Config{}, fmt.Errorf("header: %s is %d; it must be positive", name, d)
		}
	}
	if h.Tick < 0 || h.Slack < 0 || h.Stall < 0 || h.InitialDelay < 0 || h.MaxSize < 0 || h.Cleanup < 0 {
		return observe.Config{}, fmt.Errorf("header: tick_ns, slack_ns, stall_ns, initial_delay_ns, max_size and cleanup_ns must not be negative")
	}
	topics, delay := h.Topics, h.InitialDelay
	hangs := run.Had(history.AppendHangs)
	if hangs {
		delay = max(delay, time.Nanosecond) // a timer all the same, and it waits for what hangs
	}
	return observe.Config{
		Profile:          profile,
		Broken:           broken,
		MinSession:       h.MinSession,
		MaxSession:       h.MaxSession,
		NewMemberTimeout: h.NewMemberTimeout,
		MaxMetadata:      h.MaxMetadata,
		Tick:             h.Tick,
		InitialDelay:     delay,
		MaxSize:          h.MaxSize,
		EmptyJoin:        profile.Name != classic.Reference.Name || delay > 0,
		EarlyAnswers:     profile.Name != classic.Reference.Name, // which shows what is on its way
		KeepLog:          run.Restarts(),
		MayLose:          mayLose(run, &profile),
		Topics: func(topic string, partition int32) bool {
			return partition >= 0 && partition < topics[topic]
		},
	}, nil
}

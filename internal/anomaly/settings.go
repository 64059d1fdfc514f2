package anomaly

import (
	"errors"
	"fmt"
	"time"
)

// Settings are the thresholds. A healthy group may pass any of them for a while: they say when it is worth a person's time.
type Settings struct {
	Rebalancing     time.Duration // without being Stable or Empty for longer than this is a finding; > 0
	StuckPreparing  time.Duration // in one PreparingRebalance for longer than this is a finding; > 0
	StuckCompleting time.Duration // in one CompletingRebalance for longer than this is a finding; > 0
	EmptyFor        time.Duration // Empty for longer than this is a finding; > 0

	Rebalances        int           // how many of the last rebalances are averaged; 2 to 30
	RebalanceInterval time.Duration // a smaller average interval between them is a finding; > 0

	FlapCount  int           // how often in a row a client has to lose its membership; 2 to 20
	ShortStint time.Duration // a membership shorter than this counts as lost early; > 0
	Recent     time.Duration // what ended longer ago is not held against a group; > 0

	Abandoned time.Duration // lag that nobody has worked on for longer than this is a finding; > 0
	MinLag    int64         // records; less lag is none; >= 1
	LeftOut   time.Duration // Stable with a member that was given nothing for longer than this is a finding; > 0

	// What clients use where nothing is known of them: the Java client's heartbeat.interval.ms and max.poll.interval.ms.
	HeartbeatInterval time.Duration // > 0
	RebalanceTimeout  time.Duration // > 0

	Slack  time.Duration // how late a coordinator's timer may be; >= 0
	MaxGap time.Duration // two looks that lie further apart say nothing of the time between them; > 0
}

// Defaults are thresholds for production.
func Defaults() Settings {
	return Settings{
		Rebalancing: 5 * time.Minute, StuckPreparing: time.Minute, StuckCompleting: 30 * time.Second, EmptyFor: 7 * 24 * time.Hour,
		Rebalances: 10, RebalanceInterval: time.Minute,
		FlapCount: 3, ShortStint: 10 * time.Minute, Recent: 30 * time.Minute,
		Abandoned: time.Hour, MinLag: 1, LeftOut: 10 * time.Second,
		HeartbeatInterval: 3 * time.Second, RebalanceTimeout: 5 * time.Minute,
		Slack: 5 * time.Second, MaxGap: 10 * time.Second,
	}
}

// Check refuses settings that no rule could be judged with.
func (s Settings) Check() error {
	var errs []error
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			errs = append(errs, fmt.Errorf("%s is %v: it has to be longer than 0", name, d))
		}
	}
	positive("Rebalancing", s.Rebalancing)
	positive("StuckPreparing", s.StuckPreparing)
	positive("StuckCompleting", s.StuckCompleting)
	positive("EmptyFor", s.EmptyFor)
	positive("RebalanceInterval", s.RebalanceInterval)
	positive("ShortStint", s.ShortStint)
	positive("Recent", s.Recent)
	positive("Abandoned", s.Abandoned)
	positive("LeftOut", s.LeftOut)
	positive("HeartbeatInterval", s.HeartbeatInterval)
	positive("RebalanceTimeout", s.RebalanceTimeout)
	positive("MaxGap", s.MaxGap)
	between := func(name string, n, low, high int) {
		if n < low || n > high {
			errs = append(errs, fmt.Errorf("%s is %d: it has to be from %d to %d", name, n, low, high))
		}
	}
	between("Rebalances", s.Rebalances, 2, maxGenerations-2)
	between("FlapCount", s.FlapCount, 2, 20)
	if s.MinLag < 1 {
		errs = append(errs, fmt.Errorf("MinLag is %d: it has to be 1 or more", s.MinLag))
	}
	if s.Slack < 0 {
		errs = append(errs, fmt.Errorf("Slack is %v: it cannot be negative", s.Slack))
	}
	return errors.Join(errs...)
}

package embedded

import (
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/impl/core"
)

// Step is what the coordinator says that it has done: a request or a timer, and what was answered, to whomever.
type Step struct {
	At      time.Time
	Request *checker.Request // its ticket is the coordinator's own
	Timer   *checker.Timer   // that was due
	Answers []checker.Answer
}

// watching tells of steps. The ends of writes come right after what has caused them, and are told of as steps of neither.
func watching(tell func(Step)) func(time.Time, core.Event, []core.Effect) {
	if tell == nil {
		return nil
	}
	return func(at time.Time, ev core.Event, effects []core.Effect) {
		s := Step{At: at}
		switch ev := ev.(type) {
		case core.Request:
			s.Request = &checker.Request{Ticket: checker.Ticket(ev.Ticket), Message: ev.Message, Version: ev.Version, ClientID: ev.ClientID, Verified: ev.Verified}
		case core.TimerDue:
			if ev.Timer.Kind == core.CleanupTimer {
				return
			}
			s.Timer = &checker.Timer{Group: ev.Timer.Group, Kind: timerKinds[ev.Timer.Kind], Member: ev.Timer.Member}
		}
		for _, e := range effects {
			if a, ok := e.(core.Answer); ok {
				s.Answers = append(s.Answers, checker.Answer{Ticket: checker.Ticket(a.Ticket), Message: a.Message})
			}
		}
		tell(s)
	}
}

package campaign

import "time"

// pacer adapts how many histories are made at a time. It begins with a few and lets a quarter more begin each period, until target or machine have
// fallen behind once; from then on it feels its way. Where they fall behind, or histories wait to be judged, a quarter fewer are allowed than are
// at work; and as those have to end by themselves, nothing more is concluded until enough of them have.
type pacer struct {
	allowed, most int
	smooth        time.Duration // lateness of the canary below which there is room for more
	strained      time.Duration // and above which there is too much
	careful       bool          // they have fallen behind before
}

const (
	pacerPeriod = 250 * time.Millisecond
	// waiting histories beyond which no more are begun.
	backlog = 12
)

// newPacer allows lateness in proportion to the slack, beyond which nothing can be told any more.
func newPacer(most int, slack time.Duration) *pacer {
	return &pacer{allowed: min(4, most), most: most, smooth: max(slack/4, 15*time.Millisecond), strained: max(slack/2, 50*time.Millisecond)}
}

func (p *pacer) adapt(late time.Duration, waiting, live int) {
	switch behind := late > p.strained || waiting > backlog; {
	case behind && live <= p.allowed:
		p.careful = true
		p.allowed = max(1, min(live, p.allowed)*3/4)
	case behind || late >= p.smooth || waiting > backlog/2:
	case p.careful:
		p.allowed = min(p.most, p.allowed+max(1, p.allowed/16))
	default:
		p.allowed = min(p.most, p.allowed+max(1, p.allowed/4))
	}
}

package campaign

import "time"

// pacer adapts how many histories are made at a time: one more while all goes smoothly, a third fewer when the target or the machine falls
// behind, or histories wait to be judged.
type pacer struct {
	allowed, most int
	since         int // how many periods all has gone smoothly
}

const (
	pacerPeriod = 250 * time.Millisecond
	// smooth is the lateness of the canary below which there is room for more; above strained there is too much.
	smooth   = 15 * time.Millisecond
	strained = 50 * time.Millisecond
	// waiting histories beyond which no more are begun.
	backlog = 6
)

func newPacer(most int) *pacer { return &pacer{allowed: min(2, most), most: most} }

func (p *pacer) adapt(late time.Duration, waiting int) {
	switch {
	case late > strained || waiting > backlog:
		p.since = 0
		p.allowed = max(1, p.allowed*2/3)
	case late < smooth && waiting <= backlog/2:
		p.since++
		p.allowed = min(p.most, p.allowed+1)
	}
}

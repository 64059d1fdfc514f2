package core

import "time"

// Beaten is what comes of a Heartbeat. Usually its member's timer is armed and it is answered; all that is not usual comes as by Step.
type Beaten struct {
	Arm    Arm // before the answer; only if Armed
	Armed  bool
	Answer Answer
	Others []Effect // not nil: these are all effects, and there is neither Arm nor Answer
}

// Beat is Step for a Heartbeat, which comes more often than all else: what usually comes of one comes without allocation. It is false, and nothing has
// happened, where the request may have to wait: then it is one for Step. So the request is the caller's again afterwards.
func (c *Coordinator) Beat(now time.Time, r Request) (b Beaten, ok bool) {
	if len(c.writes) > 0 {
		return b, false
	}
	c.beaten, c.beating = Beaten{}, true
	c.begin(now)
	c.request(r)
	if c.beating && c.beaten.Answer.Message == nil {
		c.spill()
	}
	c.beating = false
	c.beaten.Others = c.effects
	return c.beaten, true
}

// arming and emitAnswer put effects out, to Beat as they are.
func (c *Coordinator) arming(a Arm) {
	if c.beating && !c.beaten.Armed && c.beaten.Answer.Message == nil {
		c.beaten.Arm, c.beaten.Armed = a, true
		return
	}
	c.emit(a)
}

func (c *Coordinator) emitAnswer(a Answer) {
	if c.beating && c.beaten.Answer.Message == nil {
		c.beaten.Answer = a
		return
	}
	c.emit(a)
}

// spill makes what Beat was to return effects as all others, in their order.
func (c *Coordinator) spill() {
	b := c.beaten
	c.beaten, c.beating = Beaten{}, false
	if b.Armed {
		c.effects = append(c.effects, b.Arm)
	}
	if b.Answer.Message != nil {
		c.effects = append(c.effects, b.Answer)
	}
}

package linearize

import "time"

// assumption is what a search takes for granted. Most histories are explained although a lot is, and much sooner: there is less to try. What is not explained
// is searched again with less taken for granted.
type assumption struct {
	partition *partition
	cleanup   int64 // how often the target removes groups that have nothing; 0: never
	narrower  bool  // only some of what may have been: if nothing explains it, nothing is known
}

// assumptions are those under which a group is searched, one after the other.
func (p *partition) assumptions() []assumption {
	all := []assumption{{partition: p}}
	if prompt := p.prompt(); prompt != nil {
		all = []assumption{{partition: prompt, narrower: true}, {partition: p}}
	}
	if p.cleanup > 0 {
		all = append(all, assumption{partition: p, cleanup: p.cleanup})
	}
	return all
}

// time is how long a search may take of what is left for the group: half of it where another one comes after it anyway.
func (a assumption) time(left time.Duration) time.Duration {
	if a.narrower {
		left /= 2
	}
	return max(time.Millisecond, left)
}

// prompt is the partition where each request that was answered late, as it was parked, has been taken up in time, as requests are; nil if there is none.
// A target that was too busy may have taken one up later.
func (p *partition) prompt() *partition {
	q := *p
	q.operations = make([]*operation, len(p.operations))
	changed := false
	for i, op := range p.operations {
		q.operations[i] = op
		if c := op.call; op.stage == request && c.actual != nil && c.parks() && c.taken < op.at.Latest {
			sooner := *op
			sooner.at.Latest = max(sooner.at.Earliest, c.taken)
			q.operations[i], changed = &sooner, true
		}
	}
	if !changed {
		return nil
	}
	return &q
}

package linearize

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What only one call of a history has asked for and an answer to another shows proves that the call has had its effect, although its own answer was
// never seen, and by when. Each call that is known so is one that no longer doubles the explanations. That something does not show proves nothing.
//
// Two things are good for that: an offset with all that is committed with it, and the assignment that a leader gives to a member.

// evidence notes which calls of unknown effect are known to have had it.
func (p *partition) evidence() {
	by := map[string]*call{} // what is asked for; nil where more than one call asks for it
	for _, c := range p.calls {
		for _, what := range c.asks() {
			if other, known := by[what]; known && other != c {
				by[what] = nil
			} else {
				by[what] = c
			}
		}
	}
	for _, reader := range p.calls {
		for _, what := range reader.shows() {
			if c := by[what]; c != nil && c != reader && c.from <= reader.to && (!c.proven || reader.to < c.provenBy) {
				c.proven, c.provenBy = true, reader.to
			}
		}
	}
}

// asks names what an answer would show if the call, whose own was never seen, had its effect.
func (c *call) asks() (all []string) {
	switch r := c.message.(type) {
	case *kmsg.OffsetCommitRequest:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				all = append(all, offsetShown(t.Topic, p.Partition, p.Offset, p.Metadata))
			}
		}
	case *kmsg.SyncGroupRequest:
		for _, a := range r.GroupAssignment {
			if len(a.MemberAssignment) > 0 {
				all = append(all, "assignment "+string(a.MemberAssignment))
			}
		}
	}
	return all
}

// shows names what an answer shows of the effects of others.
func (c *call) shows() (all []string) {
	switch r := c.actual.(type) {
	case *kmsg.OffsetFetchResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				all = append(all, offsetShown(t.Topic, p.Partition, p.Offset, p.Metadata))
			}
		}
		for _, g := range r.Groups {
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					all = append(all, offsetShown(t.Topic, p.Partition, p.Offset, p.Metadata))
				}
			}
		}
	case *kmsg.SyncGroupResponse:
		if len(r.MemberAssignment) > 0 {
			all = append(all, "assignment "+string(r.MemberAssignment))
		}
	}
	return all
}

func offsetShown(topic string, partition int32, offset int64, metadata *string) string {
	what := "offset " + strconv.FormatInt(offset, 10) + " of " + topic + "/" + strconv.Itoa(int(partition))
	if metadata != nil && *metadata != "" {
		what += " " + *metadata
	}
	return what
}

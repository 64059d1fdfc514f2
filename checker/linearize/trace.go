package linearize

import (
	"context"
	"slices"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// What people are shown of an order is one explanation of it, followed from the beginning: when each timer was set, and when it fired.

// firing is an explanation after a timer has fired, and the instants at which it may have.
type firing struct {
	explanation
	timer observe.Timer
	at    observe.Window
}

// node is an explanation after an operation, and where it comes from.
type node struct {
	explanation
	from  *node
	op    *operation
	fired []firing // before the operation
}

// mostNodes bounds how many explanations are followed; any of them will do.
const mostNodes = 64

// follow returns one way through the operations, as far as they go, an entry for each.
func (j *judge) follow(ctx context.Context, order []*operation) (path []*node) {
	level := []*node{{explanation: j.initial().explanations[0]}}
	for _, op := range order {
		var next set
		var nodes []*node
		for _, n := range level {
			for _, way := range j.ways(ctx, n, op) {
				var placed set
				j.place(&way.explanation, op, &placed)
				for _, e := range placed.list {
					if at, _ := next.add(e); at == len(nodes) {
						nodes = append(nodes, &node{from: n, op: op, fired: way.fired})
					}
				}
			}
		}
		if len(nodes) == 0 || ctx.Err() != nil || j.abandoned() != nil {
			break
		}
		for i, n := range nodes {
			n.explanation = next.list[i]
		}
		level = nodes[:min(len(nodes), mostNodes)]
	}
	for n := level[0]; n.from != nil; n = n.from {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

// ways are what settle yields, each with the timers that fired on the way.
func (j *judge) ways(ctx context.Context, n *node, op *operation) (all []*node) {
	var found set
	found.add(n.explanation)
	all = []*node{{explanation: n.explanation}}
	for i := 0; i < len(all) && len(all) < mostNodes && ctx.Err() == nil; i++ {
		from := all[i].explanation
		for _, next := range j.firings(&from, op) {
			if at, _ := found.add(next.explanation); at == len(all) {
				all = append(all, &node{explanation: next.explanation, fired: append(slices.Clone(all[i].fired), next)})
			}
		}
	}
	present := max(n.now, op.at.Earliest)
	return slices.DeleteFunc(all, func(w *node) bool { return j.latest(&w.explanation) < present })
}

// span is a timer from when it was set to its end.
type span struct {
	kind   classic.TimerKind
	member string
	set    int64
	window observe.Window // of its deadline
	ended  int64          // 0: it never was
	fired  *observe.Window
}

// spans are all the timers of a path.
func spans(path []*node) []*span {
	type key struct {
		kind   classic.TimerKind
		member string
	}
	var all []*span
	open := map[key]*span{}
	end := func(k key, at int64) {
		if s := open[k]; s != nil {
			s.ended = max(at, s.set)
			delete(open, k)
		}
	}
	for _, n := range path {
		at := n.now
		for i := range n.fired {
			f := &n.fired[i]
			k := key{f.timer.Kind, f.timer.Member}
			if s := open[k]; s != nil {
				s.fired = &f.at
			}
			end(k, f.at.Earliest)
		}
		armed := map[key]bool{}
		for _, t := range n.branch.Timers() {
			k := key{t.Kind, t.Member}
			armed[k] = true
			if s := open[k]; s != nil && s.window == t.Window {
				continue
			}
			end(k, at)
			open[k] = &span{kind: t.Kind, member: t.Member, set: at, window: t.Window}
			all = append(all, open[k])
		}
		for k := range open {
			if !armed[k] {
				end(k, at)
			}
		}
	}
	return all
}

package linearize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/model/classic"
)

// finding is why one group's history is illegal: an order that explains all but the end of the wrong call, as far as it goes with that
// end known.
type finding struct {
	partition *partition
	wrong     *call
	before    *state       // where the group stood before
	order     []*operation // up to the one that does not fit
	failing   *operation   // the operation that does not fit there
	refusals  []refusal    // why: distinct ones, the most telling first
}

// find explains an illegal history that is legal without the end of the wrong call. It returns nil where that takes too long.
func find(ctx context.Context, h *history.History, group string, wrong int64, limits Limits) *finding {
	config, open, err := prepare(forget(h, wrong), group, limits)
	if err != nil {
		return nil
	}
	order := explain(ctx, newJudge(config, open, limits), open, limits)
	config, p, err := prepare(h, group, limits)
	if err != nil || order == nil {
		return nil
	}
	f := &finding{partition: p, wrong: p.calls[checker.Ticket(wrong)]}
	f.replay(ctx, newJudge(config, p, limits), p.arrange(order, f.wrong))
	if f.failing == nil {
		return nil
	}
	return f
}

// explain is an order of the operations that the specification explains, or nil.
func explain(ctx context.Context, j *judge, p *partition, limits Limits) []*operation {
	result, info := porcupine.CheckOperationsVerbose(j.model(ctx), p.porcupine(), limits.Timeout)
	if result != porcupine.Ok || j.abandoned() != nil {
		return nil
	}
	all := info.PartialLinearizationsOperations()[0][0]
	order := make([]*operation, len(all))
	for i := range all {
		order[i] = all[i].Input.(*operation)
	}
	return order
}

// arrange puts the operations of a partition into an order that was found for another, which lacks the last stage of one call.
func (p *partition) arrange(order []*operation, wrong *call) []*operation {
	type stageOf struct {
		id    int64
		stage stage
	}
	own := map[stageOf]*operation{}
	for _, op := range p.operations {
		own[stageOf{op.call.id, op.stage}] = op
	}
	var last *operation
	for _, s := range []stage{followUp, silent} {
		if op := own[stageOf{wrong.id, s}]; op != nil {
			last = op
		}
	}
	var arranged []*operation
	requested := false
	for _, op := range order {
		if last != nil && requested && op.at.Earliest > last.at.Latest {
			arranged, last = append(arranged, last), nil
		}
		arranged = append(arranged, own[stageOf{op.call.id, op.stage}])
		requested = requested || op.call.id == wrong.id
	}
	if last != nil {
		arranged = append(arranged, last)
	}
	return arranged
}

// replay walks the order to where it fails, and notes why.
func (f *finding) replay(ctx context.Context, j *judge, order []*operation) {
	f.before = j.initial()
	for i, op := range order {
		seen := map[string]bool{}
		f.refusals = nil
		j.trace = func(r refusal) {
			if key := r.String(); !seen[key] {
				seen[key] = true
				f.refusals = append(f.refusals, r)
			}
		}
		after := j.step(ctx, f.before, op)
		if after == nil {
			f.failing, f.order = op, order[:i]
			break
		}
		f.before = after
	}
	sort.SliceStable(f.refusals, func(i, k int) bool { return f.weight(&f.refusals[i]) > f.weight(&f.refusals[k]) })
}

// reasons are what is wrong with the wrong call, in each way that was found.
func (f *finding) reasons() (all []string) {
	for _, r := range f.refusals {
		if r.call == f.wrong {
			all = append(all, fmt.Sprint(r.reason, codes(r.predicted)))
		}
	}
	return all
}

// weight orders refusals: those about the wrong call say most, then those that compare answers; those about time alone say least.
func (f *finding) weight(r *refusal) int {
	switch {
	case r.call == f.wrong && r.predicted != nil:
		return 5
	case r.call == f.wrong && r.reason == heldUp: // a group in which others have yet to join breaks more, but that is not known
		return 4
	case r.call == f.wrong:
		return 3
	case r.predicted != nil:
		return 2
	case r.call != nil:
		return 1
	}
	return 0
}

func (r *refusal) String() string {
	var s strings.Builder
	if r.call != nil {
		fmt.Fprintf(&s, "#%d %s by %s: ", r.call.id, kmsg.NameForKey(r.call.message.Key()), r.call.client)
	}
	s.WriteString(r.reason)
	if r.predicted != nil {
		if must, was := answerText(r.predicted), r.call.endText(); must != was { // the reason says what differs in a field that texts leave out
			fmt.Fprintf(&s, "\n  must be: %s\n  was:     %s", must, was)
		}
	}
	for i, id := range r.rules {
		if i == 0 {
			s.WriteString("\n  by ")
		} else {
			s.WriteString(", ")
		}
		s.WriteString(id.String())
	}
	return s.String()
}

// codes are the error codes of an answer, in order.
func codes(resp kmsg.Response) []int16 {
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return []int16{r.ErrorCode}
	case *kmsg.SyncGroupResponse:
		return []int16{r.ErrorCode}
	case *kmsg.HeartbeatResponse:
		return []int16{r.ErrorCode}
	case *kmsg.LeaveGroupResponse:
		if len(r.Members) == 0 {
			return []int16{r.ErrorCode}
		}
		var all []int16
		for _, m := range r.Members {
			all = append(all, m.ErrorCode)
		}
		return all
	case *kmsg.OffsetCommitResponse:
		var all []int16
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				all = append(all, p.ErrorCode)
			}
		}
		return all
	case *kmsg.DeleteGroupsResponse:
		var all []int16
		for _, g := range r.Groups {
			all = append(all, g.ErrorCode)
		}
		return all
	}
	return nil
}

// rule is the rule that the finding is filed under: one of those that decided what must have been answered, contract rules first. What
// decides the answer of a parked request is mostly about another one; of its rules those about its own API come first.
func (f *finding) rule() (best classic.RuleID, ok bool) {
	bestWeight := -1
	for _, r := range f.refusals {
		for _, id := range r.rules {
			rule := id.Rule()
			weight := 4 * int(classic.Quirk-rule.Class)
			if r.call != nil && strings.HasPrefix(rule.ID, prefixes[kmsg.Key(r.call.message.Key())]) {
				weight += 2
			}
			if r.reason == dropped && strings.Contains(rule.ID, ".parked.") {
				weight += 16 // the rule by which it was dropped
			}
			if field, _, ok := strings.Cut(r.reason, ":"); ok && strings.Contains(rule.ID, strings.TrimSuffix(field, "s")) {
				weight++ // "generation: expected 3, got 4" is best told by join.complete.generation
			}
			if weight > bestWeight {
				best, bestWeight = id, weight
			}
		}
		if bestWeight >= 0 {
			return best, true
		}
		if r.call != nil && r.predicted == nil && f.failing.stage == followUp {
			if id, ok := waits[kmsg.Key(r.call.message.Key())]; ok {
				return id, true
			}
		}
	}
	return 0, false
}

// strictest is the strictest class of all the rules cited, and of the one given: a history that nothing explains breaks all of them.
func (f *finding) strictest(class classic.Class) classic.Class {
	for _, r := range f.refusals {
		for _, id := range r.rules {
			class = min(class, id.Rule().Class)
		}
	}
	return class
}

// waits are the rules by which a request is not answered yet.
var waits = map[kmsg.Key]classic.RuleID{kmsg.JoinGroup: classic.JoinPreparingParks, kmsg.SyncGroup: classic.SyncFollowerParks}

// prefixes begin the ids of the rules about an API.
var prefixes = map[kmsg.Key]string{
	kmsg.JoinGroup: "join.", kmsg.SyncGroup: "sync.", kmsg.Heartbeat: "heartbeat.", kmsg.LeaveGroup: "leave.", kmsg.OffsetCommit: "commit.",
	kmsg.OffsetFetch: "fetch.", kmsg.DescribeGroups: "describe.", kmsg.ListGroups: "list.", kmsg.DeleteGroups: "delete.",
}

// text is the whole explanation, for people.
func (f *finding) text(h *history.History) string {
	var s strings.Builder
	if id, ok := f.rule(); ok {
		rule := id.Rule()
		fmt.Fprintf(&s, "rule %s (%s): %s\nwhat a client suffers: %s\n\n", rule.ID, rule.Class, rule.Sentence, rule.Suffers)
	}
	fmt.Fprintf(&s, "Group %q: all that was seen until %.3f ms can be explained, but not this, which was seen then:\n\n  #%d %s %s\n  -> %s\n\n",
		f.partition.group, ms(f.wrong.to), f.wrong.id, f.wrong.client, requestText(f.wrong.message, f.wrong.version), f.wrong.endText())
	fmt.Fprintf(&s, "In an order that explains all the rest:\n\n")
	const most = 6
	for i, r := range f.refusals {
		if i == most {
			fmt.Fprintf(&s, "  … and %d more\n", len(f.refusals)-most)
			break
		}
		fmt.Fprintf(&s, "  %s\n", strings.ReplaceAll(r.String(), "\n", "\n  "))
	}
	fmt.Fprintf(&s, "\nWhere the group stood before:\n\n")
	for i, line := range strings.Split(f.before.describe(), "\n") {
		if i == most {
			fmt.Fprintf(&s, "  … or %d more possibilities\n", len(f.before.explanations)-most)
			break
		}
		fmt.Fprintf(&s, "  %s\n", line)
	}
	fmt.Fprintf(&s, "\nThe calls (milliseconds since the start; >> marks the one above; timers may be %v late, and while the target stands still):\n\n%s", h.Header.Lateness(), f.timeline(h.Faults))
	return s.String()
}

// timeline is a line for each call and each fault, in the order of their beginnings.
func (f *finding) timeline(faults []history.Fault) string {
	var s strings.Builder
	for _, m := range f.partition.moments(faults) {
		if m.fault != nil {
			s.WriteString(faultText(m.fault))
			continue
		}
		c, mark := m.call, "  "
		if c == f.wrong {
			mark = ">>"
		}
		fmt.Fprintf(&s, "%s %9.3f - %9.3f  #%-4d %-4s %s\n%35s-> %s\n",
			mark, ms(c.from), ms(c.to), c.id, c.client, requestText(c.message, c.version), "", c.endText())
	}
	return s.String()
}

// moment is a call or a fault.
type moment struct {
	at    int64
	call  *call
	fault *history.Fault
}

// moments are all calls and faults, in the order of their beginnings.
func (p *partition) moments(faults []history.Fault) []moment {
	var all []moment
	for i := range faults {
		all = append(all, moment{at: faults[i].At, fault: &faults[i]})
	}
	for _, ticket := range slices.Sorted(maps.Keys(p.calls)) {
		all = append(all, moment{at: p.calls[ticket].from, call: p.calls[ticket]})
	}
	sort.SliceStable(all, func(i, k int) bool { return all[i].at < all[k].at })
	return all
}

// faultText is a line for what was done on purpose.
func faultText(f *history.Fault) string {
	return fmt.Sprintf("== %9.3f - %9.3f  %s\n", ms(f.At), ms(f.End()), faultWords(f))
}

func faultWords(f *history.Fault) string {
	what := string(f.Kind)
	switch f.Kind {
	case history.Restart:
		what = "the target is killed, and started again"
	case history.Shutdown:
		what = "the target is shut down, and started again"
	case history.Pause:
		what = "the target stands still"
	case history.AppendFails:
		what = "what the target writes may fail"
	case history.AppendHangs:
		what = "what the target writes takes until the end of this"
	}
	if f.Client != "" {
		what += " for " + f.Client
	}
	if f.What != "" {
		what += ": " + f.What
	}
	return what
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

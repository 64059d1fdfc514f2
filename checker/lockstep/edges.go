package lockstep

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// What coordinators decide though no group is asked about it: requests that nobody takes, and errors of the log (gen.Edges).

// tooFewReplicas is what the log of a machine says where nothing else is asked for.
const tooFewReplicas = 19

// unsupportedVersion is the error of a request of a version that is not offered.
const unsupportedVersion = 35

// fails makes the writes of what comes next fail, or not.
func (w *walk) fails(e gen.Event) {
	w.logError = tooFewReplicas
	if refuser, ok := w.machine.(checker.Refuser); ok && e.FailWrites && e.WriteError != 0 {
		if w.serving == classic.Active { // else nothing is written, and errors are of another kind
			w.logError = e.WriteError
		}
		refuser.RefuseWrites(e.WriteError)
		return
	}
	w.machine.FailWrites(e.FailWrites)
}

// unmarked orders the marker of a transaction where it cannot be written. The transaction stays open in all groups, and its coordinator is told what
// sends it to look for the group's coordinator again, where that helps.
func (w *walk) unmarked(m checker.Broker, e gen.Event) *Violation {
	v := w.happens(gen.Event{FailWrites: e.FailWrites, WriteError: e.WriteError}, func() { m.EndTxn(e.Producer.ID, e.Producer.Epoch, e.Commit) }, void)
	if v != nil || w.stats.Inconclusive != "" || w.blind {
		return v
	}
	expected := observe.MarkerError(w.logError)
	if w.serving != classic.Active {
		expected = observe.MarkerError(classic.CodeNotCoordinator)
	}
	if !slices.Equal(w.marked, []int16{expected}) {
		return w.violation("?", &difference{what: "marker", expected: checker.ErrorName(expected), got: errorNames(w.marked)}, 0)
	}
	return nil
}

func errorNames(codes []int16) string {
	var names []string
	for _, c := range codes {
		names = append(names, checker.ErrorName(c))
	}
	return fmt.Sprint(names)
}

// transactionKey is the key type of transactions, which the brokers that machines stand for coordinate too.
const transactionKey = 1

// invalidRequest is the error of a FindCoordinator for what this broker coordinates none of.
const invalidRequest = 42

// noCoordinator is the answer to a FindCoordinator for what is neither a group nor a transaction.
func noCoordinator(find *kmsg.FindCoordinatorRequest, version int16) kmsg.Response {
	m := observe.Coordinator(find, version, -1, "", -1).(*kmsg.FindCoordinatorResponse)
	if version < 4 {
		m.ErrorCode = invalidRequest
	}
	for i := range m.Coordinators {
		m.Coordinators[i].ErrorCode = invalidRequest
	}
	return m
}

// refused judges what becomes of a request that nobody takes: it changes nothing, and is given up where it cannot be read, or answered
// UNSUPPORTED_VERSION in each place that its answer has for an error.
func (w *walk) refused(e gen.Event, ticket checker.Ticket, effects checker.Effects, before []checker.Timer) *Violation {
	defer w.forget(effects)
	d := &difference{what: "refusal", expected: "no answer", rules: nil}
	switch {
	case len(effects.Records) > 0 || !slices.Equal(before, w.armed):
		d.expected, d.got = "nothing written, and the timers that were", "a write, or other timers"
	case e.TooLong && slices.Equal(effects.Dropped, []checker.Ticket{ticket}) && len(effects.Answers) == 0:
		return nil
	case e.TooLong:
		d.got = "not given up alone"
	case len(effects.Dropped) > 0 || len(effects.Answers) != 1 || effects.Answers[0].Ticket != ticket:
		d.expected, d.got = "an answer to it alone", "no such answer, or more than that"
	default:
		answer := effects.Answers[0].Message
		if answer.Key() == e.Request.Key() && (answer.GetVersion() == e.Version || answer.MaxVersion() == 0) && onlyErrors(reflect.ValueOf(answer).Elem(), unsupportedVersion, places(e.Request)) {
			return nil
		}
		d.expected, d.got = "UNSUPPORTED_VERSION wherever an error is told of", w.answer(ticket, answer)
	}
	return w.violation(w.sent.group(ticket), d, 0)
}

// onlyErrors says whether an answer has this error in as many places as it is to be told in, and no other error.
func onlyErrors(v reflect.Value, code int16, places int) bool {
	for _, c := range errorCodes(v, nil) {
		switch c {
		case 0:
		case code:
			places--
		default:
			return false
		}
	}
	return places == 0
}

func errorCodes(v reflect.Value, all []int16) []int16 {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			all = errorCodes(v.Index(i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "ErrorCode" {
				all = append(all, int16(v.Field(i).Int()))
			} else {
				all = errorCodes(v.Field(i), all)
			}
		}
	default:
	}
	return all
}

// places is in how many places the newest versions tell of an error of a whole request.
func places(req kmsg.Request) (n int) {
	switch m := req.(type) {
	case *kmsg.OffsetCommitRequest:
		for _, t := range m.Topics {
			n += len(t.Partitions)
		}
		return n
	case *kmsg.TxnOffsetCommitRequest:
		for _, t := range m.Topics {
			n += len(t.Partitions)
		}
		return n
	case *kmsg.OffsetFetchRequest:
		return len(m.Groups)
	case *kmsg.DescribeGroupsRequest:
		return len(m.Groups)
	case *kmsg.DeleteGroupsRequest:
		return len(m.Groups)
	case *kmsg.FindCoordinatorRequest:
		return len(m.CoordinatorKeys)
	}
	return 1
}

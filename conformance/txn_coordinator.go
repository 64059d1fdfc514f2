package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// initProducer gives the actor a producer id; the text is an error of the coordinator.
func (r *run) initProducer(a *actor) (string, error) {
	msg := kmsg.NewPtrInitProducerIDRequest()
	txnID := r.base + "-" + a.name
	msg.TransactionalID, msg.TransactionTimeoutMillis = &txnID, 60_000
	if err := r.awaitTxnCoordinator(txnID); err != nil {
		return "", err
	}
	req := &request{verb: "txn-init", actor: a, group: mainGroup, hidden: true}
	if err := r.transmit(req, msg, -1); err != nil {
		return "", err
	}
	if err := r.taken(req); err != nil {
		return "", err
	}
	code := func(resp kmsg.Response) int16 { return resp.(*kmsg.InitProducerIDResponse).ErrorCode }
	if err := r.retry(req, msg, code); err != nil {
		return "", err
	}
	if !req.call.Ended() {
		return "parked", nil
	}
	resp, err := req.call.Answer()
	if err != nil {
		return "CONNECTION_CLOSED", nil
	}
	got := resp.(*kmsg.InitProducerIDResponse)
	if got.ErrorCode != 0 {
		return errName(got.ErrorCode), nil
	}
	a.producer = &producer{txnID: txnID, id: got.ProducerID, epoch: got.ProducerEpoch}
	return "", nil
}

// awaitTxnCoordinator asks who coordinates the transactions until somebody does: the first question creates the topic that they are
// kept in.
func (r *run) awaitTxnCoordinator(txnID string) error {
	deadline := r.clock.Now().Add(4 * r.patience)
	for !r.caps.Virtual && r.clock.Now().Before(deadline) {
		msg := kmsg.NewPtrFindCoordinatorRequest()
		msg.CoordinatorKey, msg.CoordinatorType, msg.CoordinatorKeys = txnID, 1, []string{txnID}
		resp, ok := r.private("find-coordinator", msg).(*kmsg.FindCoordinatorResponse)
		if ok && resp.ErrorCode == 0 && (len(resp.Coordinators) == 0 || resp.Coordinators[0].ErrorCode == 0) {
			break
		}
		if err := r.sleep(r.ctx, 5*tick); err != nil {
			return err
		}
	}
	return nil
}

// retry asks again while the transaction coordinator has the last transaction's markers under way, or has no topic of its own yet:
// that is its business and no group's.
func (r *run) retry(req *request, msg kmsg.Request, code func(kmsg.Response) int16) error {
	const loading, noCoordinator, notCoordinator, concurrent = 14, 15, 16, 51
	deadline := r.clock.Now().Add(4 * r.patience)
	for r.clock.Now().Before(deadline) && req.call.Ended() {
		resp, err := req.call.Answer()
		if err != nil {
			return nil
		}
		switch code(resp) {
		case loading, noCoordinator, notCoordinator, concurrent:
		default:
			return nil
		}
		if r.caps.Virtual {
			return nil
		}
		if err := r.sleep(r.ctx, 5*tick); err != nil {
			return err
		}
		again := *req
		again.taken, again.hidden = false, true
		if err := r.transmit(&again, msg, req.call.Version); err != nil {
			return err
		}
		if err := r.taken(&again); err != nil {
			return err
		}
		req.call = again.call
	}
	return nil
}

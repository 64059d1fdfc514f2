package record_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/impl/core"
)

// groupsOfCast are what cast has done something to.
var groupsOfCast = []string{"dynamic", "static", "emptied", "simple", "retained", "partly", "deleted", "committed", "aborted", "overtaken", "open"}

// cast makes a coordinator at an address write every kind of record of classic groups, in the way that any release offers.
type cast struct {
	t    *testing.T
	addr string
	ctx  context.Context
}

func newCast(t *testing.T, addr string) *cast {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return &cast{t, addr, ctx}
}

// client is one with a connection of its own, that speaks the same versions with every release.
func (c *cast) client(id string, versions ...[2]int16) *kgo.Client {
	c.t.Helper()
	v := kversion.Stable()
	for _, most := range append([][2]int16{
		{int16(kmsg.JoinGroup), 5},
		{int16(kmsg.SyncGroup), 3},
		{int16(kmsg.LeaveGroup), 2},
		{int16(kmsg.OffsetCommit), 7},
		{int16(kmsg.OffsetFetch), 7},
		{int16(kmsg.DescribeGroups), 5},
		{int16(kmsg.DeleteGroups), 1},
		{int16(kmsg.InitProducerID), 1},
		{int16(kmsg.AddOffsetsToTxn), 1},
		{int16(kmsg.TxnOffsetCommit), 2},
		{int16(kmsg.EndTxn), 1},
		{int16(kmsg.Fetch), 11},
		{int16(kmsg.Produce), 7},
	}, versions...) {
		v.SetMaxKeyVersion(most[0], most[1])
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addr), kgo.ClientID(id), kgo.MaxVersions(v))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(cl.Close)
	return cl
}

func (c *cast) ask(cl *kgo.Client, req kmsg.Request) kmsg.Response {
	c.t.Helper()
	resp, err := cl.Request(c.ctx, req)
	if err != nil {
		c.t.Fatalf("%T: %v", req, err)
	}
	return resp
}

func (c *cast) must(code int16, what string) {
	c.t.Helper()
	if code != core.None {
		c.t.Fatalf("%s: error code %d", what, code)
	}
}

func (c *cast) play() {
	admin := c.client("admin")
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 30_000
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "t", NumPartitions: 3, ReplicationFactor: 1}}
	c.must(c.ask(admin, create).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode, "CreateTopics")

	c.pair("dynamic")
	first := c.client("static-1")
	c.sync(first, "static", c.join(first, "static", "", "instance"), "old")
	second := c.client("static-2")
	c.join(second, "static", "", "instance") // in its place: the record is written anew
	c.left("emptied", 11)

	c.commit(admin, "simple", "", -1, -1, 21)
	c.commit(admin, "simple", "", -1, -1, 22)
	c.commit(c.client("admin", [2]int16{int16(kmsg.OffsetCommit), 4}), "retained", "", -1, 3_600_000, 31)
	c.commit(admin, "partly", "", -1, -1, 41)
	forget := kmsg.NewPtrOffsetDeleteRequest()
	forget.Group, forget.Topics = "partly", []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 1}}}}
	c.must(c.ask(admin, forget).(*kmsg.OffsetDeleteResponse).ErrorCode, "OffsetDelete")
	c.left("deleted", 51)
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = []string{"deleted"}
	c.must(c.ask(admin, remove).(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode, "DeleteGroups")

	commit, abort := true, false
	c.transaction("committed", &commit, 61)
	c.transaction("aborted", &abort, 71)
	c.transaction("open", nil, 91)
	c.commit(admin, "overtaken", "", -1, -1, 80)
	end := c.transaction("overtaken", nil, 81)
	c.commit(admin, "overtaken", "", -1, -1, 82)
	end(true)
}

// left is a group whose only member has committed and left.
func (c *cast) left(group string, offset int64) {
	c.t.Helper()
	cl := c.client("leaver")
	j := c.join(cl, group, "", "")
	c.sync(cl, group, j, "gone")
	c.commit(cl, group, j.MemberID, j.Generation, -1, offset)
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = group, j.MemberID
	c.must(c.ask(cl, leave).(*kmsg.LeaveGroupResponse).ErrorCode, "LeaveGroup")
}

// pair is a group of two.
func (c *cast) pair(group string) {
	a, b := c.client("pair-a"), c.client("pair-b")
	first := c.join(a, group, "", "")
	c.sync(a, group, first, "alone")
	joined := make(chan *kmsg.JoinGroupResponse)
	go func() { joined <- c.join(b, group, "", "") }()
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = group, first.MemberID, first.Generation
	for c.ask(a, beat).(*kmsg.HeartbeatResponse).ErrorCode != core.RebalanceInProgress {
		time.Sleep(time.Millisecond) // until the other one has come
	}
	again := c.join(a, group, first.MemberID, "")
	other := <-joined
	done := make(chan struct{})
	go func() { defer close(done); c.sync(b, group, other, "b's") }()
	c.sync(a, group, again, "a's", other.MemberID)
	<-done
}

// join joins, with the id that it is given at first.
func (c *cast) join(cl *kgo.Client, group, id, instance string) *kmsg.JoinGroupResponse {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = group, id, "consumer", 60_000, 50_000
	if instance != "" {
		req.InstanceID = &instance
	}
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = []string{"t"}
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: metadata.AppendTo(nil)}, {Name: "sticky", Metadata: []byte{}}}
	resp, err := cl.Request(c.ctx, req)
	if err != nil {
		c.t.Errorf("JoinGroup: %v", err)
		return &kmsg.JoinGroupResponse{}
	}
	r := resp.(*kmsg.JoinGroupResponse)
	if r.ErrorCode == core.MemberIDRequired {
		return c.join(cl, group, r.MemberID, instance)
	}
	if r.ErrorCode != core.None {
		c.t.Errorf("JoinGroup of %s: error code %d", group, r.ErrorCode)
	}
	return r
}

func (c *cast) sync(cl *kgo.Client, group string, j *kmsg.JoinGroupResponse, mine string, others ...string) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, j.MemberID, j.Generation
	if j.LeaderID == j.MemberID {
		req.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: j.MemberID, MemberAssignment: []byte(mine)}}
		for _, o := range others {
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: o, MemberAssignment: []byte("another's")})
		}
	}
	resp, err := cl.Request(c.ctx, req)
	if err != nil || resp.(*kmsg.SyncGroupResponse).ErrorCode != core.None {
		c.t.Errorf("SyncGroup of %s: %+v, %v", group, resp, err)
	}
}

// commit commits partitions 0 and 1.
func (c *cast) commit(cl *kgo.Client, group, id string, generation int32, retention, offset int64) {
	c.t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation, req.RetentionTimeMillis = group, id, generation, retention
	note := "note of " + group
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{
		{Partition: 0, Offset: offset, LeaderEpoch: 3, Metadata: &note}, {Partition: 1, Offset: offset + 100, LeaderEpoch: -1},
	}}}
	for _, p := range c.ask(cl, req).(*kmsg.OffsetCommitResponse).Topics[0].Partitions {
		c.must(p.ErrorCode, "OffsetCommit")
	}
}

// transaction commits partition 1 in a transaction, which ends so, or with the function that is returned.
func (c *cast) transaction(group string, commit *bool, offset int64) (end func(bool)) {
	c.t.Helper()
	cl := c.client("txn-" + group)
	begin := kmsg.NewPtrInitProducerIDRequest()
	begin.TransactionalID, begin.TransactionTimeoutMillis = kmsg.StringPtr("txn-"+group), 600_000
	p := c.ask(cl, begin).(*kmsg.InitProducerIDResponse)
	c.must(p.ErrorCode, "InitProducerId")
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = "txn-"+group, p.ProducerID, p.ProducerEpoch, group
	c.must(c.ask(cl, add).(*kmsg.AddOffsetsToTxnResponse).ErrorCode, "AddOffsetsToTxn")
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "txn-"+group, p.ProducerID, p.ProducerEpoch, group, -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 1, Offset: offset, LeaderEpoch: -1}}}}
	c.must(c.ask(cl, req).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode, "TxnOffsetCommit")
	end = func(commit bool) {
		req := kmsg.NewPtrEndTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "txn-"+group, p.ProducerID, p.ProducerEpoch, commit
		c.must(c.ask(cl, req).(*kmsg.EndTxnResponse).ErrorCode, "EndTxn")
	}
	if commit != nil {
		end(*commit)
	}
	return end
}

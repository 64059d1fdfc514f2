package model

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// Inject makes something happen to the coordinator.
func (t *Target) Inject(_ context.Context, f target.Fault) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	switch f {
	case target.RefuseWrites, target.AcceptWrites:
		t.failing = f == target.RefuseWrites
	case target.Resign:
		t.machine.Unload(t.epoch)
		t.machine.LoseLog()
	case target.Load:
		t.machine.Load(t.epoch)
	case target.Serve:
		t.machine.Load(t.epoch)
		t.machine.Loaded()
	case target.DeleteTopic:
		t.machine.FailWrites(t.failing)
		t.machine.DeleteTopics("u")
	default:
		return fmt.Errorf("the model knows no fault %q", f)
	}
	t.settle()
	return nil
}

// Errors that a record which is too large is answered with: the Scala coordinator has one for commits.
const (
	unknownServerError      = classic.CodeUnknownServerError
	invalidCommitOffsetSize = 28
)

// blame puts the error of a record that is too large where the model answers with the one that stands for all failed writes.
func (t *Target) blame(resp kmsg.Response) {
	code := func(at *int16, is int16) {
		if *at == classic.CodeWriteFailed {
			*at = is
		}
	}
	commit := int16(unknownServerError)
	if !t.config.Profile.WritesReported {
		commit = invalidCommitOffsetSize
	}
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		code(&m.ErrorCode, unknownServerError)
	case *kmsg.SyncGroupResponse:
		code(&m.ErrorCode, unknownServerError)
	case *kmsg.LeaveGroupResponse:
		code(&m.ErrorCode, unknownServerError)
	case *kmsg.OffsetDeleteResponse:
		code(&m.ErrorCode, unknownServerError)
	case *kmsg.DeleteGroupsResponse:
		for i := range m.Groups {
			code(&m.Groups[i].ErrorCode, unknownServerError)
		}
	case *kmsg.OffsetCommitResponse:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				code(&m.Topics[i].Partitions[j].ErrorCode, commit)
			}
		}
	case *kmsg.TxnOffsetCommitResponse:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				code(&m.Topics[i].Partitions[j].ErrorCode, commit)
			}
		}
	}
}

package core

import (
	"fmt"
	"strconv"
)

// Kafka's error codes, as far as a group coordinator or its log gives them.
const (
	UnknownServerError          int16 = -1
	None                        int16 = 0
	UnknownTopicOrPartition     int16 = 3
	NotLeaderOrFollower         int16 = 6
	RequestTimedOut             int16 = 7
	MessageTooLarge             int16 = 10
	OffsetMetadataTooLarge      int16 = 12
	NetworkException            int16 = 13
	CoordinatorLoadInProgress   int16 = 14
	CoordinatorNotAvailable     int16 = 15
	NotCoordinator              int16 = 16
	RecordListTooLarge          int16 = 18
	NotEnoughReplicas           int16 = 19
	IllegalGeneration           int16 = 22
	InconsistentGroupProtocol   int16 = 23
	InvalidGroupID              int16 = 24
	UnknownMemberID             int16 = 25
	InvalidSessionTimeout       int16 = 26
	RebalanceInProgress         int16 = 27
	InvalidFetchSize            int16 = 4
	UnsupportedVersion          int16 = 35
	InvalidRequest              int16 = 42
	KafkaStorageError           int16 = 56
	NonEmptyGroup               int16 = 68
	GroupIDNotFound             int16 = 69
	MemberIDRequired            int16 = 79
	GroupMaxSizeReached         int16 = 81
	FencedInstanceID            int16 = 82
	GroupSubscribedToTopic      int16 = 86
	UnstableOffsetCommit        int16 = 88
	UnknownTopicID              int16 = 100
	noAuthorizedOperations      int32 = -2147483648
	allGroupAuthorizedOperation int32 = 3400 // READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS: what Kafka 4 says without an authorizer
)

// An InconsistencyError says that the coordinator met a situation that its own rules exclude. The request at hand has been answered
// UNKNOWN_SERVER_ERROR and the group left as usable as it could be. It is always a fault of this package or of its caller.
type InconsistencyError struct {
	Group  string
	Detail string
}

func (e *InconsistencyError) Error() string {
	return "inconsistency in group " + strconv.Quote(e.Group) + ": " + e.Detail + " (report it with the requests that led here)"
}

// A WriteError says that a record could not be written for which no request waits, such as that of a group emptied by a timer.
type WriteError struct {
	Group string
	Code  int16
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("group %q: a record was not written, error code %d; memory is ahead of the log until the group's next record", e.Group, e.Code)
}

// appendError is the answer to a request whose record could not be written (§4.3, §2.6.3, column NEW; sync.write.fails).
func appendError(code int16) int16 {
	switch code {
	case UnknownTopicOrPartition, NotEnoughReplicas, RequestTimedOut:
		return CoordinatorNotAvailable
	case NotLeaderOrFollower, KafkaStorageError:
		return NotCoordinator
	case MessageTooLarge, RecordListTooLarge, InvalidFetchSize:
		return UnknownServerError
	default:
		return code
	}
}

// markerError is what a transaction's coordinator is told, which then looks for the group's coordinator anew (§2.9.2).
func markerError(code int16) int16 {
	switch code = appendError(code); code {
	case CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator:
		return NotLeaderOrFollower
	default:
		return code
	}
}

// fetchAppendError is for a stable OffsetFetch that waited for a write (§2.7; §5.1 DF21, verified item 13).
func fetchAppendError(code int16) int16 {
	if code = appendError(code); code == CoordinatorNotAvailable {
		return NotCoordinator
	}
	return code
}

// commitAppendError is appendError for offsets (§2.6.3).
func commitAppendError(code int16) int16 {
	if code == NetworkException {
		return CoordinatorLoadInProgress
	}
	return appendError(code)
}

package classic

// Kafka's error codes, as far as the model answers with them.
const (
	CodeUnknownServerError        int16 = -1
	CodeNone                      int16 = 0
	CodeOffsetMetadataTooLarge    int16 = 12
	CodeCoordinatorLoadInProgress int16 = 14
	CodeCoordinatorNotAvailable   int16 = 15
	CodeNotCoordinator            int16 = 16
	CodeIllegalGeneration         int16 = 22
	CodeInconsistentGroupProtocol int16 = 23
	CodeInvalidGroupID            int16 = 24
	CodeUnknownMemberID           int16 = 25
	CodeInvalidSessionTimeout     int16 = 26
	CodeRebalanceInProgress       int16 = 27
	CodeNonEmptyGroup             int16 = 68
	CodeGroupIDNotFound           int16 = 69
	CodeMemberIDRequired          int16 = 79
	CodeGroupMaxSizeReached       int16 = 81
	CodeFencedInstanceID          int16 = 82
	CodeGroupSubscribedToTopic    int16 = 86
	CodeUnstableOffsetCommit      int16 = 88
)

// CodeWriteFailed is how the model answers a request whose write failed. Which code a coordinator sends depends on why the append
// failed, which the model does not know: a judge takes this one to stand for whatever the cause maps to. It is what too few
// replicas map to.
const CodeWriteFailed = CodeCoordinatorNotAvailable

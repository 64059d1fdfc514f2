package checker

import (
	"errors"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
)

// ErrorName is Kafka's name of an error code: NONE, UNKNOWN_MEMBER_ID; of one that has none, its number.
func ErrorName(code int16) string {
	var e *kerr.Error
	switch err := kerr.ErrorForCode(code); {
	case err == nil:
		return "NONE"
	case errors.As(err, &e):
		return e.Message
	}
	return strconv.Itoa(int(code))
}

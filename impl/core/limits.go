package core

import (
	"math"
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxString is how many bytes a string may have in Kafka's protocol, in every version. A longer one does not fit into answers and
// records; Kafka cannot read a request that has one, and closes the connection.
const maxString = math.MaxInt16

// memberIDRoom is what a member id has after the client's or the instance's part of it.
const memberIDRoom = 37

// fits reports whether all strings of a request have a length that Kafka's protocol allows.
func fits(req kmsg.Request) bool {
	if r, ok := req.(*kmsg.HeartbeatRequest); ok { // the most frequent, and short
		return len(r.Group) <= maxString && len(r.MemberID) <= maxString && (r.InstanceID == nil || len(*r.InstanceID) <= maxString)
	}
	return stringsFit(reflect.ValueOf(req))
}

func stringsFit(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() <= maxString
	case reflect.Pointer:
		return v.IsNil() || stringsFit(v.Elem())
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.String:
		default:
			return true
		}
		for i := range v.Len() {
			if !stringsFit(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !stringsFit(v.Field(i)) {
				return false
			}
		}
	default:
	}
	return true
}

// cut is the beginning of a string, at most n bytes of it, not in the middle of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

package wire

import (
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// filled is a message with something in each of its fields.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Version" {
				filled(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0))
		filled(v.Index(1))
	case reflect.String:
		v.SetString("word")
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// TestLeftOver holds that bytes after the end of an answer are noticed, in each version, and that neither an answer that is whole nor one with tagged
// fields that nobody knows is blamed.
func TestLeftOver(t *testing.T) {
	seen := 0
	for _, key := range []kmsg.Key{
		kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.OffsetDelete, kmsg.DescribeGroups,
		kmsg.ListGroups, kmsg.DeleteGroups, kmsg.FindCoordinator, kmsg.TxnOffsetCommit, kmsg.AddOffsetsToTxn, kmsg.EndTxn, kmsg.InitProducerID, kmsg.ApiVersions,
	} {
		req := kmsg.RequestForKey(key.Int16())
		for version := range req.MaxVersion() + 1 {
			for name, fill := range map[string]bool{"empty": false, "full": true} {
				resp := req.ResponseKind()
				if fill {
					filled(reflect.ValueOf(resp).Elem())
				}
				resp.SetVersion(version)
				body := resp.AppendTo(nil)
				flexible := resp.IsFlexible()
				if flexible && key != kmsg.ApiVersions {
					body = append([]byte{0}, body...) // the header's tagged fields
				}
				if _, err := parse(req, version, flexible, body); err != nil {
					t.Errorf("%s v%d, %s: %v", key.Name(), version, name, err)
				}
				seen++
				for _, more := range []string{"\x00", "more"} {
					_, err := parse(req, version, flexible, append(append([]byte(nil), body...), more...))
					garbage := (*garbageError)(nil)
					if !errors.As(err, &garbage) || !strings.Contains(err.Error(), "after its end") {
						t.Errorf("%s v%d, %s, with %q at its end: %v", key.Name(), version, name, more, err)
					}
				}
				if !flexible {
					continue
				}
				if body[len(body)-1] != 0 {
					continue // it has tagged fields of its own at its end
				}
				tagged := append(append([]byte(nil), body[:len(body)-1]...), 1, 99, 3, 'a', 'b', 'c')
				if _, err := parse(req, version, flexible, tagged); err != nil {
					t.Errorf("%s v%d, %s, with a tagged field that nobody knows: %v", key.Name(), version, name, err)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d answers were looked at", seen)
	}
}

// TestNulls holds that an answer with null where Kafka's protocol has none is no answer that a client can read, although kmsg reads it as empty, and that null is let pass where it
// may be.
func TestNulls(t *testing.T) {
	for name, test := range map[string]struct {
		key     kmsg.Key
		version int16
		body    string
		want    string // in the error; "" for none
	}{
		"assignment":            {kmsg.SyncGroup, 0, "\x00\x00" + "\xff\xff\xff\xff", "at byte 2"},
		"assignment, v3":        {kmsg.SyncGroup, 3, "\x00\x00\x00\x00" + "\x00\x00" + "\xff\xff\xff\xff", "at byte 6"},
		"assignment, flexible":  {kmsg.SyncGroup, 4, "\x00" + "\x00\x00\x00\x00" + "\x00\x00" + "\x00" + "\x00", "at byte 6"},
		"empty assignment":      {kmsg.SyncGroup, 0, "\x00\x00" + "\x00\x00\x00\x00", ""},
		"names, which may be":   {kmsg.SyncGroup, 5, "\x00" + "\x00\x00\x00\x00" + "\x00\x00" + "\x00\x00" + "\x01" + "\x00", ""},
		"list of members":       {kmsg.JoinGroup, 0, "\x00\x00" + "\x00\x00\x00\x01" + "\x00\x01p" + "\x00\x01l" + "\x00\x01m" + "\xff\xff\xff\xff", "at byte 15"},
		"metadata and list":     {kmsg.JoinGroup, 0, "\x00\x00" + "\x00\x00\x00\x01" + "\x00\x01p" + "\x00\x01l" + "\x00\x01m" + "\x00\x00\x00\x01" + "\x00\x01m" + "\xff\xff\xff\xff", "at byte 22"},
		"instance of a member":  {kmsg.JoinGroup, 5, "\x00\x00\x00\x00" + "\x00\x00" + "\x00\x00\x00\x01" + "\x00\x01p" + "\x00\x01l" + "\x00\x01m" + "\x00\x00\x00\x01" + "\x00\x01m" + "\xff\xff" + "\x00\x00\x00\x00", ""},
		"flexible, with tags":   {kmsg.SyncGroup, 4, "\x00" + "\x00\x00\x00\x00" + "\x00\x00" + "\x00" + "\x01\x63\x03abc", "at byte 6"},
		"tags alone":            {kmsg.SyncGroup, 4, "\x00" + "\x00\x00\x00\x00" + "\x00\x00" + "\x01" + "\x01\x63\x03abc", ""},
		"a length of two bytes": {kmsg.SyncGroup, 4, "\x00" + "\x00\x00\x00\x00" + "\x00\x00" + "\x81\x00" + "\x00", ""}, // longer than it need be, and read all the same
	} {
		req := kmsg.RequestForKey(test.key.Int16())
		req.SetVersion(test.version)
		_, err := parse(req, test.version, req.IsFlexible(), []byte(test.body))
		garbage := (*garbageError)(nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (!errors.As(err, &garbage) || !strings.Contains(err.Error(), "null") || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want null %s", name, err, test.want)
		}
	}
}

// TestNullsOfTheKnown holds that null ends the connection of a target, and not that of one which is known for it.
func TestNullsOfTheKnown(t *testing.T) {
	for _, known := range []bool{false, true} {
		ours, theirs := net.Pipe()
		l := newLink(ours, "c", known)
		go func() {
			if frame, err := readFrame(theirs); err == nil {
				_, _ = theirs.Write(append(append([]byte{0, 0, 0, 10}, frame[4:8]...), 0, 27, 0xff, 0xff, 0xff, 0xff))
			}
		}()
		resp, err := l.roundTrip(t.Context(), kmsg.NewPtrSyncGroupRequest(), 0)
		if known != (err == nil) || known != (resp != nil) || known == l.dead() {
			t.Errorf("known for it %v: %v, %v", known, resp, err)
		}
		if known && resp.(*kmsg.SyncGroupResponse).ErrorCode != 27 {
			t.Errorf("%+v", resp)
		}
		_ = l.close()
	}
}

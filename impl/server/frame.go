package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// header is what comes before a request's body.
type header struct {
	key, version int16
	correlation  int32
	clientID     string
}

// parseHeader reads a request's header up to its client id, and returns what follows.
func parseHeader(frame []byte) (h header, rest []byte, err error) {
	h, rest, err = skimHeader(frame)
	if err == nil {
		h.clientID = clientIDOf(frame)
	}
	return h, rest, err
}

// skimHeader is parseHeader for who does not ask for the client id.
func skimHeader(frame []byte) (h header, rest []byte, err error) {
	if len(frame) < 8 {
		return h, nil, fmt.Errorf("frame of %d bytes is too short for a request header", len(frame))
	}
	h.key = int16(binary.BigEndian.Uint16(frame))
	h.version = int16(binary.BigEndian.Uint16(frame[2:]))
	h.correlation = int32(binary.BigEndian.Uint32(frame[4:]))
	b := frame[8:]
	if len(b) < 2 {
		return h, nil, errors.New("request header ends before the client id")
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	switch {
	case n == -1:
		return h, b, nil
	case n < 0 || n > len(b):
		return h, nil, fmt.Errorf("request header has a client id of %d bytes, %d are left", n, len(b))
	}
	return h, b[n:], nil
}

// clientIDOf is the client id of a header that skimHeader has read; null is none.
func clientIDOf(frame []byte) string {
	n := max(0, int(int16(binary.BigEndian.Uint16(frame[8:]))))
	return string(frame[10 : 10+n])
}

// parseRequest reads header (version 1, or 2 for flexible requests) and body of a request in one of the versions that are offered. Any error
// means that the connection is of no use any more.
func parseRequest(frame []byte, versions map[kmsg.Key]core.VersionRange) (h header, req kmsg.Request, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s v%d: body cannot be read: %v", kmsg.NameForKey(h.key), h.version, p)
		}
	}()
	h, rest, err := parseHeader(frame)
	if err != nil {
		return h, nil, err
	}
	offered, known := versions[kmsg.Key(h.key)]
	tooNew := known && kmsg.Key(h.key) == kmsg.ApiVersions && h.version > offered.Max // answered, so that the client can ask again
	if !known || !offered.Has(h.version) && !tooNew {
		return h, nil, fmt.Errorf("API key %d version %d is not served", h.key, h.version)
	}
	req = kmsg.RequestForKey(h.key)
	if tooNew {
		req.SetVersion(h.version)
		return h, req, nil
	}
	req.SetVersion(h.version)
	if req.IsFlexible() {
		if rest, err = skipTags(rest); err != nil {
			return h, nil, err
		}
	}
	if keepsBytes[kmsg.Key(h.key)] {
		rest = bytes.Clone(rest) // the frame is good until the next one is read
	}
	if err := req.ReadFrom(rest); err != nil {
		return h, nil, fmt.Errorf("%s v%d: body of %d bytes cannot be read: %w", kmsg.NameForKey(h.key), h.version, len(rest), err)
	}
	return h, req, nil
}

// keepsBytes are the requests with byte strings, which are parts of what they are read from; text is copied.
var keepsBytes = map[kmsg.Key]bool{kmsg.JoinGroup: true, kmsg.SyncGroup: true}

// skipTags skips the tagged fields of a header.
func skipTags(b []byte) ([]byte, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, errors.New("request header ends before its tagged fields")
	}
	for b = b[n:]; count > 0; count-- {
		_, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("request header ends within a tag")
		}
		size, m := binary.Uvarint(b[n:])
		if m <= 0 || size > uint64(len(b)-n-m) {
			return nil, errors.New("request header ends within a tagged field")
		}
		b = b[n+m+int(size):]
	}
	return b, nil
}

// appendResponse appends a frame. ApiVersions has the old header in every version, so that any client can read it.
func appendResponse(dst []byte, correlation int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		dst = append(dst, 0)
	}
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// maxFrame bounds an answer; Kafka's own clients stop at 100 MB, and no answer to a group comes near. What is read of one may take some two hundred times
// as much memory, where garbage claims to be a long list of things that are large to us and small on the wire. So the large ones are read one at a time.
const (
	maxFrame = 4 << 20
	bulky    = 64 << 10
)

var oneBulky = make(chan struct{}, 1)

// apiVersionsKey is special: its answers have no tagged header, and an unknown version is answered in version 0.
const apiVersionsKey = 18

// readFrame reads one answer without its length. Memory grows with what arrives, not with what the length claims.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		if n == 0 {
			return nil, closedError(err, "the broker closed the connection")
		}
		return nil, closedError(err, fmt.Sprintf("the connection ended after %d bytes of an answer's length (% x)", n, head[:n]))
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:])))
	if size < 4 || size > maxFrame {
		return nil, &garbageError{what: explainLength(head, size), got: peek(r, head[:])}
	}
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, r, size)
	if err != nil {
		return nil, closedError(err, fmt.Sprintf("the broker closed the connection in the middle of an answer (%d of %d bytes)", n, size))
	}
	return buf.Bytes(), nil
}

// closedError makes the end of a connection target.ErrClosed, and leaves other errors as they are.
func closedError(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %s", target.ErrClosed, what)
	}
	return fmt.Errorf("%w: %s (%w)", target.ErrClosed, what, err)
}

func explainLength(head [4]byte, size int64) string {
	switch {
	case string(head[:]) == "HTTP":
		return "a web server answers"
	case head[0] == 0x15 && head[1] == 0x03:
		return "it answers with a TLS alert: it wants TLS (security.protocol=SSL in the file given with --config)"
	}
	return fmt.Sprintf("an answer claims to be %d bytes long (4 to %d are sensible)", size, maxFrame)
}

// peek adds what has already arrived to the first bytes, for the message alone.
func peek(r io.Reader, head []byte) []byte {
	type buffered interface{ Buffered() int }
	more := 0
	if b, ok := r.(buffered); ok {
		more = min(b.Buffered(), 64)
	}
	rest := make([]byte, more)
	n, _ := io.ReadFull(r, rest)
	return append(bytes.Clone(head), rest[:n]...)
}

// parse reads the body of the answer to a request of the given version; the correlation id has been taken off. With an error there is an answer all the same where it is only null in place of
// something empty that is wrong with it.
func parse(req kmsg.Request, version int16, flexible bool, body []byte) (resp kmsg.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, &garbageError{what: fmt.Sprintf("the answer to %s v%d cannot be read (%v)", kmsg.NameForKey(req.Key()), version, p), got: body}
		}
	}()
	if len(body) > bulky {
		oneBulky <- struct{}{}
		defer func() { <-oneBulky }()
	}
	whole := body
	if flexible && req.Key() != apiVersionsKey {
		if body, err = skipTags(body); err != nil {
			return nil, &garbageError{what: fmt.Sprintf("the answer to %s v%d has a broken header", kmsg.NameForKey(req.Key()), version), got: whole}
		}
	}
	const unsupportedVersion = 35
	if req.Key() == apiVersionsKey && len(body) >= 2 && binary.BigEndian.Uint16(body) == unsupportedVersion {
		version = 0
	}
	resp = req.ResponseKind()
	resp.SetVersion(version)
	if err := resp.ReadFrom(body); err != nil {
		return nil, &garbageError{what: fmt.Sprintf("the answer to %s v%d cannot be read (%v)", kmsg.NameForKey(req.Key()), version, err), got: whole}
	}
	// Where brokers are is asked for the way alone, and is nothing that a group coordinator answers: librdkafka's mock adds a byte to Metadata v12.
	if req.Key() == int16(kmsg.Metadata) {
		return resp, nil
	}
	if left := leftOver(req, version, body); left > 0 {
		return nil, &garbageError{what: fmt.Sprintf("the answer to %s v%d goes on for %d bytes after its end", kmsg.NameForKey(req.Key()), version, left), got: whole}
	}
	if at := nullAt(resp, body); at >= 0 {
		return resp, &garbageError{what: fmt.Sprintf("the answer to %s v%d has null at byte %d of its body, where Kafka's protocol has no null, so that strict clients cannot read it", kmsg.NameForKey(req.Key()), version, at), got: whole}
	}
	return resp, nil
}

// nullAt is where an answer first has null for what may be empty and not null, or -1: kmsg reads that as empty, and Kafka's own clients do not read it. Such an answer becomes another one when it is written
// again: one as long, in which nothing differs but that lengths which said null say nothing. What differs otherwise is no null (tagged fields have more than one form, and so have lengths).
func nullAt(resp kmsg.Response, body []byte) int {
	again := resp.AppendTo(nil)
	if len(again) != len(body) {
		return -1
	}
	first, size := -1, 4
	null, empty := []byte{0xff, 0xff, 0xff, 0xff}, []byte{0, 0, 0, 0}
	if resp.IsFlexible() {
		size, null, empty = 1, []byte{0}, []byte{1}
	}
	for i := 0; i < len(body); {
		if body[i] == again[i] {
			i++
			continue
		}
		if !bytes.HasPrefix(body[i:], null) || !bytes.HasPrefix(again[i:], empty) {
			return -1
		}
		if first < 0 {
			first = i
		}
		i += size
	}
	return first
}

// leftOver counts the bytes of an answer, which can be read, that nothing reads: kmsg passes over them. An answer is whole if it cannot be read without its
// last byte. Tagged fields that nobody knows are read: their length says where they end.
func leftOver(req kmsg.Request, version int16, body []byte) int {
	readable := func(n int) (ok bool) {
		defer func() { ok = recover() == nil && ok }()
		resp := req.ResponseKind()
		resp.SetVersion(version)
		return resp.ReadFrom(body[:n]) == nil
	}
	if len(body) == 0 || !readable(len(body)-1) {
		return 0
	}
	return len(body) - sort.Search(len(body), readable)
}

// skipTags passes over the tagged fields of a flexible header.
func skipTags(b []byte) ([]byte, error) {
	broken := errors.New("broken tagged fields")
	next := func() (uint64, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, false
		}
		b = b[n:]
		return v, true
	}
	count, ok := next()
	if !ok {
		return nil, broken
	}
	for ; count > 0; count-- {
		if _, ok := next(); !ok {
			return nil, broken
		}
		size, ok := next()
		if !ok || size > uint64(len(b)) {
			return nil, broken
		}
		b = b[size:]
	}
	return b, nil
}

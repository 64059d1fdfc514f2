package clients

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire stands between a client and the brokers, passes on what they say, and notes what was asked for. Brokers tell clients their addresses,
// so it puts its own in their place.
type wire struct {
	front     map[string]string // from the address of a broker to the one that stands before it
	addrs     []string          // of the fronts, in the order of the brokers
	listeners []net.Listener
	work      sync.WaitGroup

	mu          sync.Mutex
	conns       map[net.Conn]struct{}
	closed      bool
	seen        versions
	generations map[string]int32 // the highest that a JoinGroup was answered with, by group
	left        int              // LeaveGroups that were answered
	faults      []error
}

// maxFrame bounds what is held of a connection.
const maxFrame = 64 << 20

// newWire stands before the brokers until close.
func newWire(brokers []string) (*wire, error) {
	w := &wire{front: map[string]string{}, conns: map[net.Conn]struct{}{}, seen: versions{}, generations: map[string]int32{}}
	for _, broker := range brokers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.close()
			return nil, fmt.Errorf("a pass-through before %s: %w", broker, err)
		}
		w.listeners = append(w.listeners, l)
		w.addrs = append(w.addrs, l.Addr().String())
		w.front[broker] = l.Addr().String()
	}
	for i, l := range w.listeners {
		w.work.Go(func() { w.accept(l, brokers[i]) })
	}
	return w, nil
}

func (w *wire) close() {
	w.mu.Lock()
	w.closed = true
	for c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	for _, l := range w.listeners {
		_ = l.Close()
	}
	w.work.Wait()
}

func (w *wire) accept(l net.Listener, broker string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		w.work.Go(func() {
			upstream, err := net.Dial("tcp", broker)
			if err != nil {
				w.failed(err)
				_ = client.Close()
				return
			}
			w.pass(client, upstream)
		})
	}
}

// keep notes connections so that close ends them; not after close.
func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		if w.closed {
			_ = c.Close()
			continue
		}
		w.conns[c] = struct{}{}
	}
	return !w.closed
}

func (w *wire) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, err)
}

// asked is a request whose answer has not come.
type asked struct {
	key, version int16
	group        string // of a JoinGroup
}

// pass connects the two until one of them ends.
func (w *wire) pass(client, upstream net.Conn) {
	if !w.keep(client, upstream) {
		return
	}
	var mu sync.Mutex
	open := map[int32]asked{} // by correlation id
	end := func() {
		_ = client.Close()
		_ = upstream.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.conns, client)
		delete(w.conns, upstream)
	}
	var both sync.WaitGroup
	both.Go(func() {
		defer end()
		for {
			frame, err := readFrame(client)
			if err != nil {
				return
			}
			id, a, err := w.request(frame[4:])
			if err != nil {
				w.failed(err)
				return
			}
			mu.Lock()
			open[id] = a
			mu.Unlock()
			if _, err := upstream.Write(frame); err != nil {
				return
			}
		}
	})
	both.Go(func() {
		defer end()
		for {
			frame, err := readFrame(upstream)
			if err != nil {
				return
			}
			id := int32(binary.BigEndian.Uint32(frame[4:]))
			mu.Lock()
			a := open[id]
			delete(open, id)
			mu.Unlock()
			if a.key == int16(kmsg.LeaveGroup) {
				w.mu.Lock()
				w.left++
				w.mu.Unlock()
			}
			if frame, err = w.answer(a, frame); err != nil {
				w.failed(err)
				return
			}
			if _, err := client.Write(frame); err != nil {
				return
			}
		}
	})
	both.Wait()
}

// request notes a request.
func (w *wire) request(body []byte) (id int32, a asked, err error) {
	r := kbin.Reader{Src: body}
	a.key, a.version = r.Int16(), r.Int16()
	id = r.Int32()
	r.NullableString() // the client id
	if !r.Ok() {
		return 0, a, errors.New("a request that is too short")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.add(kmsg.NameForKey(a.key), a.version)
	if a.key == int16(kmsg.JoinGroup) {
		req := kmsg.NewPtrJoinGroupRequest()
		req.SetVersion(a.version)
		if req.IsFlexible() {
			kmsg.SkipTags(&r)
		}
		if err := req.ReadFrom(r.Src); err != nil {
			return 0, a, fmt.Errorf("JoinGroup v%d: %w", a.version, err)
		}
		a.group = req.Group
	}
	return id, a, nil
}

// answer puts the addresses of the pass-through into an answer that has those of brokers.
func (w *wire) answer(a asked, frame []byte) ([]byte, error) {
	var response kmsg.Response
	switch kmsg.Key(a.key) {
	case kmsg.Metadata, kmsg.FindCoordinator, kmsg.DescribeCluster, kmsg.JoinGroup:
		response = kmsg.ResponseForKey(a.key)
	default:
		return frame, nil
	}
	response.SetVersion(a.version)
	at := 8 // length and correlation id
	if response.IsFlexible() {
		at++ // no tags
	}
	if err := response.ReadFrom(frame[at:]); err != nil {
		return nil, fmt.Errorf("the answer to %s v%d: %w", kmsg.NameForKey(a.key), a.version, err)
	}
	switch r := response.(type) {
	case *kmsg.JoinGroupResponse:
		if r.ErrorCode == 0 {
			w.mu.Lock()
			w.generations[a.group] = max(w.generations[a.group], r.Generation)
			w.mu.Unlock()
		}
		return frame, nil
	case *kmsg.MetadataResponse:
		for i := range r.Brokers {
			b := &r.Brokers[i]
			w.readdress(&b.Host, &b.Port)
		}
	case *kmsg.FindCoordinatorResponse:
		w.readdress(&r.Host, &r.Port)
		for i := range r.Coordinators {
			w.readdress(&r.Coordinators[i].Host, &r.Coordinators[i].Port)
		}
	case *kmsg.DescribeClusterResponse:
		for i := range r.Brokers {
			w.readdress(&r.Brokers[i].Host, &r.Brokers[i].Port)
		}
	}
	out := response.AppendTo(append([]byte(nil), frame[:at]...))
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out, nil
}

func (w *wire) readdress(host *string, port *int32) {
	front, ok := w.front[net.JoinHostPort(*host, strconv.Itoa(int(*port)))]
	if !ok {
		return
	}
	h, p, _ := net.SplitHostPort(front)
	n, _ := strconv.Atoi(p)
	*host, *port = h, int32(n)
}

// generation is the newest of a group that a member was told of.
func (w *wire) generation(group string) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.generations[group]
}

// leaves is how often it was answered that a member has left.
func (w *wire) leaves() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left
}

// fault is what could not be passed on.
func (w *wire) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.faults...)
}

func readFrame(c net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, 4+n)
	copy(frame, size[:])
	_, err := io.ReadFull(c, frame[4:])
	return frame, err
}

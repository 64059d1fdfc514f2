package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// waitReady returns when the broker of the given cluster has answered NONE for the coordinator of a group, which is itself. An
// open port is too early: the first such question also creates the offsets topic, and until that has a leader all group requests
// are refused. The cluster id tells the broker from an earlier one that still holds the port.
func waitReady(ctx context.Context, addr, clusterID string, exited <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		select {
		case <-exited:
			return errors.New("the process ended")
		case <-ctx.Done():
			return fmt.Errorf("%w (last answer: %v)", ctx.Err(), last)
		case <-tick.C:
		}
		if last = askReady(ctx, addr, clusterID); last == nil {
			return nil
		}
		var foreign foreignError
		if errors.As(last, &foreign) {
			return last
		}
	}
}

// foreignError tells that the port belongs to another broker.
type foreignError struct{ addr, clusterID string }

func (e foreignError) Error() string {
	return fmt.Sprintf("another broker (cluster %s) answers at %s", e.clusterID, e.addr)
}

func askReady(ctx context.Context, addr, clusterID string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}

	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{} // none
	meta.Version = 7
	resp, err := ask(conn, meta)
	if err != nil {
		return err
	}
	id := resp.(*kmsg.MetadataResponse).ClusterID
	if id == nil {
		return errors.New("the broker has no cluster id yet")
	}
	if *id != clusterID {
		return foreignError{addr, *id}
	}

	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = "muster-ready"
	find.Version = 2
	resp, err = ask(conn, find)
	if err != nil {
		return err
	}
	f := resp.(*kmsg.FindCoordinatorResponse)
	if f.ErrorCode != 0 {
		return fmt.Errorf("FindCoordinator answers error %d", f.ErrorCode)
	}
	if at := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); at != addr {
		return fmt.Errorf("FindCoordinator names %s, not %s", at, addr)
	}
	return nil
}

// ask sends one request of a version whose headers have no tags, and reads the answer.
func ask(conn net.Conn, req kmsg.Request) (kmsg.Response, error) {
	const id, most = 1, 1 << 20
	if _, err := conn.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("muster")).AppendRequest(nil, req, id)); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:4])) - 4
	if got := binary.BigEndian.Uint32(head[4:]); size < 0 || size > most || got != id {
		return nil, fmt.Errorf("not an answer of Kafka: % x", head)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, err
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	return resp, resp.ReadFrom(body)
}

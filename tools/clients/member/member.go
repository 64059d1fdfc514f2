// Package member is the protocol between the test and a client program, for those that are written in Go.
//
// A program is started with seven arguments: the brokers (comma separated), the group, the topic, its name (also its client id), the session
// timeout and the heartbeat interval in milliseconds, and the assignor ("range" or "cooperative"). It joins the group, consumes the topic from the
// earliest record on, commits nothing of its own accord, and tells what it observes as lines of JSON on standard output:
//
//	{"event":"hello","version":"1.2.3"}               the client library
//	{"event":"assigned","partitions":[0,1]}           added to what it owns
//	{"event":"revoked","partitions":[0,1]}            taken away, or lost
//	{"event":"consumed","partition":0,"offset":4}     a record
//	{"event":"committed","offsets":{"0":5}}           accepted by the broker
//	{"event":"read","offsets":{"0":5}}                what the broker says is committed
//	{"event":"error","text":"..."}                    something that should not happen
//
// On standard input it takes the commands commit (what it has consumed), read, and close (leave the group and end with exit code 0). It ends
// when standard input ends.
package member

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options are the arguments.
type Options struct {
	Brokers            []string
	Group, Topic, Name string
	Session, Heartbeat time.Duration
	Assignor           string
}

// Client is a member of the group.
type Client interface {
	Commit() (map[int32]int64, error)
	Read() (map[int32]int64, error)
	Close() error
}

// Main runs a client until it is told to close.
func Main(library string, start func(Options, *Teller) (Client, error)) {
	t := &Teller{next: map[int32]int64{}}
	if len(os.Args) != 8 {
		t.fail(fmt.Errorf("usage: %s BROKERS GROUP TOPIC NAME SESSION HEARTBEAT ASSIGNOR", os.Args[0]))
	}
	t.Hello(version(library))
	c, err := start(Options{
		Brokers: strings.Split(os.Args[1], ","), Group: os.Args[2], Topic: os.Args[3], Name: os.Args[4],
		Session: milliseconds(os.Args[5]), Heartbeat: milliseconds(os.Args[6]), Assignor: os.Args[7],
	}, t)
	if err != nil {
		t.fail(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "commit":
			offsets, err := c.Commit()
			t.offsets("committed", offsets, err)
		case "read":
			offsets, err := c.Read()
			t.offsets("read", offsets, err)
		case "close":
			if err := c.Close(); err != nil {
				t.fail(err)
			}
			os.Exit(0)
		}
	}
	os.Exit(2)
}

func milliseconds(s string) time.Duration {
	n, _ := strconv.Atoi(s)
	return time.Duration(n) * time.Millisecond
}

// version is that of the library that was linked.
func version(library string) string {
	info, _ := debug.ReadBuildInfo()
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == library }); i >= 0 {
		return info.Deps[i].Version
	}
	return ""
}

// Teller tells what is observed.
type Teller struct {
	mu    sync.Mutex
	owned []int32
	next  map[int32]int64 // after the newest record of each partition that is owned
}

// event is one line.
type event struct {
	Event      string           `json:"event"`
	Version    string           `json:"version,omitempty"`
	Partitions []int32          `json:"partitions,omitempty"`
	Partition  *int32           `json:"partition,omitempty"`
	Offset     *int64           `json:"offset,omitempty"`
	Offsets    map[string]int64 `json:"offsets,omitempty"`
	Text       string           `json:"text,omitempty"`
}

func (t *Teller) say(e event) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(append(line, '\n'))
}

// Hello tells the version of the library.
func (t *Teller) Hello(version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(event{Event: "hello", Version: version})
}

// Assigned adds to what is owned.
func (t *Teller) Assigned(partitions []int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(partitions)
	t.owned = append(t.owned, partitions...)
	for _, p := range partitions {
		delete(t.next, p)
	}
	t.say(event{Event: "assigned", Partitions: partitions})
}

// Revoked takes away.
func (t *Teller) Revoked(partitions []int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(partitions)
	t.owned = slices.DeleteFunc(t.owned, func(p int32) bool { return slices.Contains(partitions, p) })
	for _, p := range partitions {
		delete(t.next, p)
	}
	t.say(event{Event: "revoked", Partitions: partitions})
}

// Owned are the partitions that are owned.
func (t *Teller) Owned() []int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(slices.Values(t.owned))
}

// Consumed tells of a record; it is not counted as consumed where its partition is no longer owned.
func (t *Teller) Consumed(partition int32, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.owned, partition) {
		return
	}
	t.next[partition] = offset + 1
	t.say(event{Event: "consumed", Partition: &partition, Offset: &offset})
}

// Next are the offsets to commit.
func (t *Teller) Next() map[int32]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := map[int32]int64{}
	for p, o := range t.next {
		next[p] = o
	}
	return next
}

// Failed tells of what should not happen.
func (t *Teller) Failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(event{Event: "error", Text: err.Error()})
}

func (t *Teller) fail(err error) {
	t.Failed(err)
	os.Exit(1)
}

func (t *Teller) offsets(name string, offsets map[int32]int64, err error) {
	if err != nil {
		t.Failed(fmt.Errorf("%s: %w", name, err))
		return
	}
	text := map[string]int64{}
	for p, o := range offsets {
		text[strconv.Itoa(int(p))] = o
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(event{Event: name, Offsets: text})
}

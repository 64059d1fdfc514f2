package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/files"
)

// line is what one line of the text holds: the first a header, the last an end, all others a call, a return or a fault each.
type line struct {
	Header *Header     `json:"header,omitempty"`
	Call   *callLine   `json:"call,omitempty"`
	Return *returnLine `json:"return,omitempty"`
	Fault  *Fault      `json:"fault,omitempty"`
	End    *end        `json:"end,omitempty"`
}

// callLine says that a request is about to be sent.
type callLine struct {
	ID      int64  `json:"id"`
	At      int64  `json:"at"`
	Was     int64  `json:"was,omitempty"`
	Client  string `json:"client"`
	Conn    int64  `json:"conn,omitempty"`
	API     string `json:"api,omitempty"` // the name of Key, for people
	Key     int16  `json:"key"`
	Version int16  `json:"version"`
	Request []byte `json:"request"`
}

// returnLine says how the call of that id has ended.
type returnLine struct {
	ID       int64  `json:"id"`
	At       int64  `json:"at"`
	Outcome  string `json:"outcome"`
	Why      string `json:"why,omitempty"` // of an outcome that is unknown
	Response []byte `json:"response,omitempty"`
	Error    string `json:"error,omitempty"`
}

// end tells a whole history from one whose recorder was killed.
type end struct {
	Calls   int `json:"calls"`
	Returns int `json:"returns"`
	Faults  int `json:"faults"`
}

// event is a line with its place in time.
type event struct {
	at   int64
	rank int // of one instant: a return after its call
	line line
}

// events are the lines of calls, returns and faults, in the order of time.
func (h *History) events() ([]event, end) {
	all := make([]event, 0, 2*len(h.Calls)+len(h.Faults))
	sum := end{Calls: len(h.Calls), Faults: len(h.Faults)}
	for i := range h.Faults {
		all = append(all, event{h.Faults[i].At, 0, line{Fault: &h.Faults[i]}})
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		all = append(all, event{c.Call, 1, line{Call: &callLine{
			ID: c.ID, At: c.Call, Was: c.Was, Client: c.Client, Conn: c.Conn, API: kmsg.NameForKey(c.Key), Key: c.Key, Version: c.Version, Request: c.Request,
		}}})
		if c.Outcome == Open {
			continue
		}
		sum.Returns++
		r := &returnLine{ID: c.ID, At: c.Return, Outcome: string(c.Outcome), Response: c.Response, Error: c.Error}
		if c.Outcome.Unknown() {
			r.Outcome, r.Why = unknown, string(c.Outcome)
		}
		all = append(all, event{c.Return, 2, line{Return: r}})
	}
	sort.SliceStable(all, func(i, k int) bool {
		if all[i].at != all[k].at {
			return all[i].at < all[k].at
		}
		return all[i].rank < all[k].rank
	})
	return all, sum
}

// Write writes the history as JSON lines.
func (h *History) Write(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	header := h.Header
	header.Format = Format
	all, sum := h.events()
	lines := append(append([]event{{line: line{Header: &header}}}, all...), event{line: line{End: &sum}})
	for i := range lines {
		if err := enc.Encode(lines[i].line); err != nil {
			return fmt.Errorf("write history: %w", err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// WriteFile writes the history to a file, in one piece: a name that exists holds a whole history.
func (h *History) WriteFile(path string) error {
	if err := files.Save(path, h.Write); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	return nil
}

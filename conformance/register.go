package conformance

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

//go:embed registers/*.txt
var registers embed.FS

// Register lists how a target is known to differ. It is checked in both directions: a failure that it does not list is new, and an
// entry whose failure is gone is stale.
//
// An entry is prose, a line that names scenario and block, four dashes, and the text that the target gives instead:
//
//	# Ids that were handed out do not delay a rebalance.
//	# suffers: one more rebalance for each client that starts
//	join-pending-blocks block=3 rule=join.pending.blocks kind=simplification status=always
//	----
//	A: NONE gen=2 leader=A protocol=range members=[A:x]
//
// What a client suffers is that of the rule, unless the prose says it.
type Register struct {
	Name    string
	Entries []Entry
}

// Entry is one known difference.
type Entry struct {
	Line      int
	Prose     []string
	Suffering string // what a client suffers from just this; empty: what the rule says
	Scenario  string
	Block     int // the first block that differs, or a later one that breaks a contract
	Rule      string
	Kind      Kind
	Status    Steadiness
	Text      []string
}

// Kind says whether a difference is meant.
type Kind string

const (
	Bug            Kind = "bug"
	Simplification Kind = "simplification" // left out on purpose, or of no use to the target's users
	Unsorted       Kind = "unsorted"       // written by WriteKnown, not looked at yet
)

// Steadiness says how often a difference shows.
type Steadiness string

const (
	Always    Steadiness = "always"
	Sometimes Steadiness = "sometimes" // the target is not deterministic: over several runs the failure is there and is not
)

// Class is that of the entry's rule.
func (e *Entry) Class() string { return class([]string{e.Rule}) }

// Registered returns the register of differences that comes with Muster for a target ("kfake"), and whether there is one.
func Registered(target string) (*Register, bool, error) {
	src, err := registers.ReadFile("registers/" + target + ".txt")
	if err != nil {
		return nil, false, nil
	}
	r, err := ParseRegister(target+".txt", src)
	return r, err == nil, err
}

// LoadRegister reads a user's own register.
func LoadRegister(file string) (*Register, error) {
	src, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseRegister(file, src)
}

// ParseRegister reads a register.
func ParseRegister(name string, src []byte) (*Register, error) {
	r := &Register{Name: name}
	var prose []string
	var e *Entry
	text := false
	lines := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; lines.Scan(); n++ {
		l := strings.TrimRight(lines.Text(), " \t\r")
		switch {
		case l == "":
			if e != nil && !text {
				return nil, fmt.Errorf("%s:%d: the entry has no line of four dashes", name, e.Line)
			}
			e, text, prose = nil, false, nil
		case e == nil && strings.HasPrefix(l, "#"):
			prose = append(prose, strings.TrimSpace(l[1:]))
		case e == nil:
			entry, err := parseEntry(l)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w\n\texample: join-pending-blocks block=3 rule=join.pending.blocks kind=bug status=always", name, n, err)
			}
			entry.Line, entry.Prose, entry.Suffering = n, prose, ""
			if last := len(prose) - 1; last >= 0 && strings.HasPrefix(prose[last], suffers) {
				entry.Prose, entry.Suffering = prose[:last], strings.TrimSpace(prose[last][len(suffers):])
			}
			prose = nil
			r.Entries = append(r.Entries, entry)
			e = &r.Entries[len(r.Entries)-1]
		case !text && l == "----":
			text = true
		case text:
			e.Text = append(e.Text, l)
		default:
			return nil, fmt.Errorf("%s:%d: after the entry's line come four dashes, then the text that the target gives", name, n)
		}
	}
	if e != nil && !text {
		return nil, fmt.Errorf("%s:%d: the entry has no line of four dashes", name, e.Line)
	}
	return r, lines.Err()
}

// suffers begins the line of an entry's prose that says what a client suffers.
const suffers = "suffers:"

// Suffers says what a client suffers where the target differs so.
func (e *Entry) Suffers() string {
	if e.Suffering != "" {
		return e.Suffering
	}
	if id, ok := classic.FindRule(e.Rule); ok {
		return id.Rule().Suffers
	}
	return ""
}

// Note is the entry's prose in one line.
func (e *Entry) Note() string { return strings.Join(e.Prose, " ") }

func parseEntry(line string) (Entry, error) {
	fields := strings.Fields(line)
	e := Entry{Scenario: fields[0], Status: Always}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "block":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return e, fmt.Errorf("block=%s is not a number from 1", value)
			}
			e.Block = n
		case "rule":
			if _, ok := classic.FindRule(value); !ok {
				return e, fmt.Errorf("no rule %q", value)
			}
			e.Rule = value
		case "kind":
			if e.Kind = Kind(value); !slices.Contains([]Kind{Bug, Simplification, Unsorted}, e.Kind) {
				return e, fmt.Errorf("kind=%s is neither bug nor simplification", value)
			}
		case "status":
			if e.Status = Steadiness(value); !slices.Contains([]Steadiness{Always, Sometimes}, e.Status) {
				return e, fmt.Errorf("status=%s is neither always nor sometimes", value)
			}
		default:
			return e, fmt.Errorf("unknown word %q; a register has entries as in \"fetch-nothing block=2 rule=fetch.nothing kind=bug\", "+
				"and a list that muster verify --write-known writes is another thing, for --known", f)
		}
	}
	if e.Block == 0 || e.Rule == "" || e.Kind == "" {
		return e, fmt.Errorf("an entry needs block=, rule= and kind=")
	}
	return e, nil
}

// WriteKnown writes a register of all that failed in the reports, for LoadRegister: what fails in only some of several reports has
// status sometimes.
func WriteKnown(w io.Writer, reports ...Report) error {
	type key struct{ scenario, text string }
	count := map[key]int{}
	var order []*Failure
	for _, rep := range reports {
		for _, f := range rep.Failures() {
			k := key{f.Scenario, f.got()}
			if count[k]++; count[k] == 1 {
				order = append(order, f)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *Failure) int { return strings.Compare(a.Scenario, b.Scenario) })
	var b bytes.Buffer
	for i, f := range order {
		if i > 0 {
			b.WriteString("\n")
		}
		status := Always
		if count[key{f.Scenario, f.got()}] < len(reports) {
			status = Sometimes
		}
		rule := ""
		if len(f.Rules) > 0 {
			rule = f.Rules[0]
		}
		fmt.Fprintf(&b, "# %s\n%s block=%d rule=%s kind=%s status=%s\n----\n", f.Suffers(), f.Scenario, f.Block, rule, Unsorted, status)
		for _, l := range f.Got {
			b.WriteString(l + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// got is what the target gave, as one text.
func (f *Failure) got() string { return fmt.Sprintf("%d\n%s", f.Block, strings.Join(f.Got, "\n")) }

package atlas

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

//go:embed explanations.txt
var explanations []byte

// Explanation says why some releases differ from Kafka 4.3.1, whose texts the scenarios begin with.
//
//	# A slow leader makes its followers rejoin in circles.
//	name: heartbeat-completing
//	releases: <2.6.1
//	rule: heartbeat.completing
//	kind: defect
//	issue: KAFKA-10134
//	at: heartbeat-states/4
type Explanation struct {
	Line     int
	Name     string
	Prose    []string
	Releases script.Cond
	Rule     string
	Kind     Kind
	Point    string // the variation point of classic.Profile, for kind variation, if the model has one
	Issue    string // KAFKA-1234, KIP-345, apache/kafka#123, or "none: " and what is known
	At       []Place
	API      string // for kind version: "JoinGroup"
	Version  int16
	Fault    target.Fault // for kind fault

	// Unmodelled says why the specification of such a release gives the text of 4.3.1 all the same; empty where it does not.
	Unmodelled string
}

// Kind says what sort of difference it is.
type Kind string

const (
	Defect    Kind = "defect"    // the releases break a contract, or do what was not meant
	Variation Kind = "variation" // both ways are right
	Version   Kind = "version"   // the releases do not have a version of an API
	Fault     Kind = "fault"     // the releases do not show a fault that scenarios make happen, so that they cannot be waited for
)

// Place is a block of a scenario, from 1.
type Place struct {
	Scenario string
	Block    int
}

func (p Place) String() string { return fmt.Sprintf("%s/%d", p.Scenario, p.Block) }

// Explanations are those that come with Muster.
func Explanations() ([]Explanation, error) { return parseExplanations(explanations) }

// ExplanationsText is the file, for its digest.
func ExplanationsText() []byte { return explanations }

func parseExplanations(src []byte) ([]Explanation, error) {
	var all []Explanation
	var e *Explanation
	var prose []string
	end := func(n int) error {
		if e == nil {
			prose = nil // a comment of the file, not of an entry
			return nil
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("explanations.txt:%d: %w", e.Line, err)
		}
		if slices.ContainsFunc(all, func(o Explanation) bool { return o.Name == e.Name }) {
			return fmt.Errorf("explanations.txt:%d: there are two called %s", n, e.Name)
		}
		all = append(all, *e)
		e, prose = nil, nil
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(src))
	n := 0
	for lines.Scan() {
		n++
		l := strings.TrimSpace(lines.Text())
		switch {
		case l == "":
			if err := end(n); err != nil {
				return nil, err
			}
		case strings.HasPrefix(l, "#") && e == nil:
			prose = append(prose, strings.TrimSpace(l[1:]))
		default:
			if e == nil {
				e = &Explanation{Line: n, Prose: prose}
			}
			if err := e.field(l); err != nil {
				return nil, fmt.Errorf("explanations.txt:%d: %w", n, err)
			}
		}
	}
	return all, end(n)
}

func (e *Explanation) field(l string) (err error) {
	key, value, ok := strings.Cut(l, ":")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return fmt.Errorf("%q is no field; write as in \"releases: <2.6.1\"", l)
	}
	switch key {
	case "name":
		e.Name = value
	case "releases":
		e.Releases, err = script.ParseCond(value)
	case "rule":
		e.Rule = value
	case "kind":
		e.Kind = Kind(value)
	case "point":
		e.Point = value
	case "issue":
		e.Issue = value
	case "at":
		for part := range strings.SplitSeq(value, ",") {
			name, block, _ := strings.Cut(strings.TrimSpace(part), "/")
			n, err := strconv.Atoi(block)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no place; write as in heartbeat-states/4", part)
			}
			e.At = append(e.At, Place{name, n})
		}
	case "api":
		name, version, _ := strings.Cut(value, " ")
		n, err := strconv.ParseInt(version, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is no version of an API; write as in JoinGroup 9", value)
		}
		e.API, e.Version = name, int16(n)
	case "unmodelled":
		e.Unmodelled = value
	case "fault":
		e.Fault = target.Fault(value)
	default:
		return fmt.Errorf("there is no field %q", key)
	}
	return err
}

func (e *Explanation) check() error {
	switch {
	case e.Name == "":
		return fmt.Errorf("the entry has no name")
	case len(e.Prose) == 0:
		return fmt.Errorf("%s: an explanation needs prose above it", e.Name)
	case e.Releases.String() == "":
		return fmt.Errorf("%s: which releases?", e.Name)
	case e.Issue == "":
		return fmt.Errorf("%s: no issue: name the public one, or write \"none\" and say in the prose what is known", e.Name)
	case e.Kind == Version && (e.API == "" || len(e.At) > 0 || e.Rule != "" || e.Fault != ""):
		return fmt.Errorf("%s: kind version has an api, and neither places nor a rule nor a fault", e.Name)
	case e.Kind == Fault && (!slices.Contains(target.Faults(), e.Fault) || len(e.At) > 0 || e.Rule != "" || e.API != ""):
		return fmt.Errorf("%s: kind fault has a fault, one of %v, and neither places nor a rule nor an api", e.Name, target.Faults())
	case e.unasked():
		return nil
	case e.Kind != Defect && e.Kind != Variation:
		return fmt.Errorf("%s: kind %q is none of defect, variation, version, fault", e.Name, e.Kind)
	case len(e.At) == 0 || e.API != "" || e.Fault != "":
		return fmt.Errorf("%s: kind %s has places, and neither an api nor a fault", e.Name, e.Kind)
	}
	if _, ok := classic.FindRule(e.Rule); !ok {
		return fmt.Errorf("%s: there is no rule %q", e.Name, e.Rule)
	}
	return nil
}

// unasked reports whether the entry explains why scenarios are not asked of releases, rather than what these answer.
func (e Explanation) unasked() bool { return e.Kind == Version || e.Kind == Fault }

// lacks is what the releases of such an entry do not have.
func (e Explanation) lacks() string {
	if e.Kind == Fault {
		return "broker " + string(e.Fault)
	}
	return fmt.Sprintf("%s %d", e.API, e.Version)
}

// excuses reports whether the entry explains why a scenario was not asked of a release that lacks that.
func (e Explanation) excuses(release string, lacks conformance.Lack) bool {
	switch {
	case e.Releases.Holds(release) == 0:
		return false
	case e.Kind == Version:
		return lacks.API == e.API && lacks.Version == e.Version
	case e.Kind == Fault:
		return lacks.Fault == e.Fault
	}
	return false
}

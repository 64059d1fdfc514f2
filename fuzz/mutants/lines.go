package mutants

import (
	"regexp"
	"strconv"
	"strings"
)

// WrongLine is an expected line of a scenario that says something else.
type WrongLine struct {
	Change string
	Text   string // empty: the line is left out
}

// The changes of expected lines.
const (
	lineError      = "another error"
	lineLater      = "generation + 1"
	lineEarlier    = "generation - 1"
	lineLeader     = "another leader"
	lineMember     = "a member dropped"
	lineOffset     = "an older offset"
	lineState      = "another state"
	lineAssignment = "an assignment dropped"
	lineAnswered   = "answered, not parked"
	lineParked     = "parked, not answered"
	lineGone       = "the line left out"
)

// LineChanges are all of them, in the order of the table.
var LineChanges = []string{
	lineError, lineLater, lineEarlier, lineLeader, lineMember, lineOffset, lineState, lineAssignment, lineAnswered, lineParked, lineGone,
}

var (
	errorWord  = regexp.MustCompile(`\b(NONE|[A-Z]+_[A-Z_]+)\b|\{[A-Z_|]+\}`)
	generation = regexp.MustCompile(`\bgen=(\d+)`)
	leader     = regexp.MustCompile(`\bleader=([A-Z])`)
	members    = regexp.MustCompile(`\bmembers=\[([^\]]+)\]`)
	offset     = regexp.MustCompile(`(\w/\d)=(\d+)`)
	stateWord  = regexp.MustCompile(`\b(Stable|Empty|Dead|PreparingRebalance|CompletingRebalance)\b`)
	assignment = regexp.MustCompile(`\[\w+/\d[^\]]*\]$`)
)

var otherState = map[string]string{
	"Stable": "Empty", "Empty": "Dead", "Dead": "Empty", "PreparingRebalance": "CompletingRebalance", "CompletingRebalance": "Stable",
}

// WrongLines are all the ways in which a line is made to say something else.
func WrongLines(line string) []WrongLine {
	all := []WrongLine{{lineGone, ""}}
	add := func(change string, at []int, is string) {
		all = append(all, WrongLine{change, line[:at[0]] + is + line[at[1]:]})
	}
	for _, at := range errorWord.FindAllStringIndex(line, -1) {
		is := "NONE"
		switch line[at[0]:at[1]] {
		case "NONE":
			is = "REBALANCE_IN_PROGRESS"
		case "UNKNOWN_MEMBER_ID":
			is = "ILLEGAL_GENERATION"
		}
		add(lineError, at, is)
	}
	if m := generation.FindStringSubmatchIndex(line); m != nil {
		n, _ := strconv.Atoi(line[m[2]:m[3]])
		add(lineLater, m[2:4], strconv.Itoa(n+1))
		add(lineEarlier, m[2:4], strconv.Itoa(n-1))
	}
	if m := leader.FindStringSubmatchIndex(line); m != nil {
		is := "A"
		if line[m[2]:m[3]] == "A" {
			is = "B"
		}
		add(lineLeader, m[2:4], is)
	}
	if m := members.FindStringSubmatchIndex(line); m != nil {
		names := strings.Fields(line[m[2]:m[3]])
		add(lineMember, m[2:4], strings.Join(names[:len(names)-1], " "))
	}
	for _, m := range offset.FindAllStringSubmatchIndex(line, -1) {
		if n, _ := strconv.Atoi(line[m[4]:m[5]]); n > 0 {
			add(lineOffset, m[4:6], strconv.Itoa(n-1))
		}
	}
	if at := stateWord.FindStringIndex(line); at != nil {
		add(lineState, at, otherState[line[at[0]:at[1]]])
	}
	if at := assignment.FindStringIndex(line); at != nil {
		add(lineAssignment, at, "[]")
	}
	who, text, ok := strings.Cut(line, ": ")
	switch {
	case !ok:
	case text == "parked":
		all = append(all, WrongLine{lineAnswered, who + ": NONE"})
	case !strings.HasPrefix(who, "describe") && !strings.HasPrefix(who, "list") && !strings.Contains(who, "("):
		all = append(all, WrongLine{lineParked, who + ": parked"})
	}
	return all
}

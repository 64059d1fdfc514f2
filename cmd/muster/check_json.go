package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/internal/verdict"
)

// checked is what muster check --json FILE writes. Lists are never null.
type checked struct {
	File     string `json:"file"`
	Kind     string `json:"kind"` // "history" or "ownership"
	Target   string `json:"target"`
	Seed     uint64 `json:"seed"`
	Result   string `json:"result"` // "legal", "illegal" or "unknown", which is never a pass
	Reason   string `json:"reason,omitempty"`
	ExitCode int    `json:"exit_code"`

	Problems   []checkedProblem   `json:"problems"`   // of the record itself
	Groups     []checkedGroup     `json:"groups"`     // of a history
	Violations []checkedViolation `json:"violations"` // of a log of ownership
}

type checkedProblem struct {
	Line   int    `json:"line,omitempty"` // 0, which is left out, if it is of no single line
	Reason string `json:"reason"`
}

type checkedGroup struct {
	Group   string `json:"group"`
	Profile string `json:"profile"`
	Result  string `json:"result"`
	Reason  string `json:"reason,omitempty"`
	Calls   int    `json:"calls"`
	Overlap int    `json:"overlap"`           // the most calls that were open at one instant
	Cleaned bool   `json:"cleaned,omitempty"` // it is legal only if the target has removed the group meanwhile
	Text    string `json:"text,omitempty"`    // what cannot be explained, as printed
	Page    string `json:"page,omitempty"`
}

type checkedViolation struct {
	Rule       string `json:"rule"`
	Generation int32  `json:"generation"`
	Text       string `json:"text"`
}

func newChecked(path string) *checked {
	return &checked{File: path, Result: linearize.Unknown.String(), Problems: []checkedProblem{}, Groups: []checkedGroup{}, Violations: []checkedViolation{}}
}

// problems are those of the record of a history, of which nothing else may be known.
func (c *checked) problems(all []history.Problem) {
	for _, p := range all {
		c.Problems = append(c.Problems, checkedProblem{p.Line, p.Reason})
	}
}

func (c *checked) history(v linearize.Verdict, h *history.History) {
	c.Kind, c.Target, c.Seed, c.Reason = "history", h.Header.Target, h.Header.Seed, v.Reason
	for _, g := range v.Groups {
		c.Groups = append(c.Groups, checkedGroup{Group: g.Group, Profile: g.Profile, Result: g.Result.String(), Reason: g.Reason, Calls: g.Calls, Overlap: g.Overlap, Cleaned: g.Cleaned})
	}
}

// explained adds what is printed of a group that cannot be explained.
func (c *checked) explained(group, text, page string) {
	for i := range c.Groups {
		if c.Groups[i].Group == group {
			c.Groups[i].Text, c.Groups[i].Page = text, page
		}
	}
}

func (c *checked) ownership(v ownership.Verdict, problems []string, l *ownership.Log) {
	c.Kind, c.Target, c.Seed = "ownership", l.Header.Target, l.Header.Seed
	for _, p := range problems {
		c.Problems = append(c.Problems, checkedProblem{Reason: p})
	}
	for _, one := range v.Violations {
		c.Violations = append(c.Violations, checkedViolation{one.Rule, one.Generation, one.Text})
	}
}

// ended takes over the exit code, and with it what is thought of the whole.
func (c *checked) ended(err error) {
	var coded *codedError
	switch {
	case errors.As(err, &coded):
		c.ExitCode = coded.code
	case err != nil:
		c.ExitCode = verdict.ExitUnavailable
	}
	switch c.ExitCode {
	case verdict.ExitPass:
		c.Result = linearize.Legal.String()
	case verdict.ExitFail:
		c.Result = linearize.Illegal.String()
	default:
		c.Reason = cmp.Or(c.Reason, err.Error())
	}
}

func (c *checked) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

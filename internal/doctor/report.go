package doctor

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// Format is the version of the JSON form; it grows when a field changes its meaning or goes.
const Format = 1

// Report is what an examination found. The exported fields are its JSON form.
type Report struct {
	Format    int       `json:"format"`
	Target    string    `json:"target"`
	Cluster   string    `json:"cluster"`
	Brokers   int       `json:"brokers"`
	Started   time.Time `json:"started"`
	DurationS float64   `json:"duration_s"`
	Looks     int       `json:"looks"`
	Requests  int64     `json:"requests"` // all that were sent, the client library's own included

	Verdict string `json:"verdict"` // "healthy" or "findings"
	Groups  Groups `json:"groups"`
	Log     Log    `json:"log"`

	Findings []anomaly.Finding `json:"findings"`

	NotJudged     []NotJudged `json:"not_judged"`     // by their protocol
	NotAuthorized []NotJudged `json:"not_authorized"` // or not examined for another error
	Absent        []string    `json:"absent"`         // asked for by name, and not there
	Vanished      []string    `json:"vanished"`       // while looked at
	Notes         []string    `json:"notes"`          // what limits the findings
}

// Groups counts the groups.
type Groups struct {
	Listed  int            `json:"listed"`
	Judged  int            `json:"judged"`
	States  map[string]int `json:"states"` // of those judged
	WithLag int            `json:"with_lag"`
}

// Log says how much of __consumer_offsets was read.
type Log struct {
	Read  string `json:"read"` // "all" that was wanted, "part" or "none"
	Bytes int64  `json:"bytes"`
}

// NotJudged is a group and why it was not judged.
type NotJudged struct {
	Group string `json:"group"`
	Why   string `json:"why"`
}

func (e *examination) report() *Report {
	r := &Report{
		Format: Format, Target: e.o.Addr, Cluster: e.c.id, Brokers: len(e.c.brokers), Started: e.started.UTC().Truncate(time.Millisecond),
		DurationS: time.Since(e.started).Round(time.Millisecond).Seconds(), Looks: e.looks, Requests: e.c.sent.n.Load(),
		Verdict: "healthy", Groups: Groups{States: map[string]int{}}, Log: Log{Read: "none"},
		Findings: []anomaly.Finding{}, NotJudged: []NotJudged{}, NotAuthorized: []NotJudged{},
		Absent: append([]string{}, e.absent...), Vanished: slices.AppendSeq([]string{}, maps.Keys(e.gone)), Notes: append([]string{}, e.notes...),
	}
	if e.log != nil {
		r.Log = Log{Read: "part", Bytes: e.log.bytes}
		if e.log.whole && e.log.refused == nil {
			r.Log.Read = "all"
		}
	}
	r.Groups.Listed = len(e.groups)
	for _, name := range slices.Sorted(maps.Keys(e.groups)) {
		p := e.groups[name]
		switch why := e.refused[name]; {
		case p.notJudged != "":
			r.NotJudged = append(r.NotJudged, NotJudged{name, p.notJudged})
			continue
		case why != "":
			continue
		case p.stale && p.dead > 0:
			r.Vanished = append(r.Vanished, name)
			continue
		case p.stale:
			r.NotAuthorized = append(r.NotAuthorized, NotJudged{name, "its coordinator did not describe it"})
			continue
		}
		last := p.watch.Last()
		r.Groups.Judged++
		r.Groups.States[string(last.State)]++
		if last.Lag != nil && last.Lag.Total > 0 {
			r.Groups.WithLag++
		}
		r.Findings = append(r.Findings, p.watch.Findings()...)
	}
	for _, name := range slices.Sorted(maps.Keys(e.refused)) {
		r.NotAuthorized = append(r.NotAuthorized, NotJudged{name, e.refused[name]})
	}
	slices.Sort(r.Vanished)
	if len(r.Findings) > 0 {
		r.Verdict = "findings"
	}
	slices.SortStableFunc(r.Findings, func(a, b anomaly.Finding) int {
		if c := gravity(a.Rule) - gravity(b.Rule); c != 0 {
			return c
		}
		return strings.Compare(a.Group, b.Group)
	})
	return r
}

func gravity(rule anomaly.Rule) int {
	for i, r := range anomaly.Rules {
		if r.Rule == rule {
			return i
		}
	}
	return len(anomaly.Rules)
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

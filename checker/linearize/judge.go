// Package linearize judges histories of concurrent calls, of any system: is there an order of what the clients saw under which the
// specification explains all of it? The search is porcupine's; what it steps over is here: sets of explanations with their timer
// windows (state.go, step.go, timers.go), calls that are split in two (operation.go), and the silence of a target that should have
// answered. A failure is made small (minimise.go) and told in words (explain.go).
package linearize

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/conformance/target"
)

// Failure is one group's history that the specification does not explain.
type Failure struct {
	Group   string
	Rule    string // id of the rule that was broken; empty where no rule decides
	Class   string // contract, compat or quirk: the strictest of the rules that decided what must have been answered
	Suffers string // what a client suffers
	Text    string // the whole explanation, with the timeline
	File    string // the small history; empty if it could not be saved
	Whole   string // the history of the whole run
	Page    string // porcupine's picture of the small history
	Replay  string // the command that judges it again
}

// Report is what a campaign of runs found.
type Report struct {
	Histories  int // one for each group of each run
	Operations int // calls that were judged, each once for each group it is about
	Legal      int
	Illegal    int
	Unknown    int
	Reasons    []string // of the unknown ones
	Stalled    int      // runs that were thrown away and made again, as the machine had too much else to do
	Failures   []Failure
	Stall      time.Duration // the worst of all runs
	Elapsed    time.Duration
}

// Judge drives traffic against a target, checks what was recorded, and makes failures small. The error is about the target or the
// machine; the report then holds what was judged until then.
func Judge(ctx context.Context, t target.Target, o Options) (Report, error) {
	o = o.withDefaults(t.Capabilities())
	started := time.Now()
	var report Report
	seeds := rand.New(rand.NewPCG(o.Seed, 0))
	for run := range o.Runs {
		once := o
		if run > 0 {
			once.Seed = seeds.Uint64()
		}
		h, err := Drive(ctx, t, once)
		for again := 0; err == nil && again < o.Retries && stalled(&h.Header) > maxStalled; again++ {
			report.Stalled++
			o.Progress(fmt.Sprintf("run %d of %d: stalled for %v of %v, nothing can be said; again", run+1, o.Runs,
				h.Header.StalledFor.Round(time.Millisecond), h.Header.Ran.Round(time.Millisecond)))
			h, err = Drive(ctx, t, once)
		}
		if h != nil && len(h.Calls) > 0 {
			if checkErr := report.add(ctx, h, once); err == nil {
				err = checkErr
			}
		}
		report.Elapsed = time.Since(started)
		if err != nil {
			return report, err
		}
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		o.Progress(fmt.Sprintf("run %d of %d: %d calls judged, %d illegal, %d unknown", run+1, o.Runs, report.Operations, report.Illegal, report.Unknown))
	}
	return report, nil
}

// add checks one history and takes it into the report.
func (r *Report) add(ctx context.Context, h *history.History, o Options) error {
	v, err := Check(ctx, h, o.Limits)
	if err != nil {
		return err
	}
	r.Stall = max(r.Stall, h.Header.Stall)
	whole := ""
	for _, g := range v.Groups {
		r.Histories++
		r.Operations += g.Calls
		switch g.Result {
		case Legal:
			r.Legal++
		case Unknown:
			r.Unknown++
			r.Reasons = append(r.Reasons, fmt.Sprintf("seed %d, group %q: %s", h.Header.Seed, g.Group, g.Reason))
		case Illegal:
			r.Illegal++
			if whole == "" {
				whole = filepath.Join(o.Out, fmt.Sprintf("history-%d.jsonl", h.Header.Seed))
				if err := h.WriteFile(whole); err != nil {
					return err
				}
			}
			f, err := Explain(ctx, h, g.Group, o)
			if err != nil {
				return err
			}
			f.Whole = whole
			r.Failures = append(r.Failures, f)
		}
	}
	return nil
}

// Explain makes the illegal history of a group small, says why it is illegal, and saves it.
func Explain(ctx context.Context, h *history.History, group string, o Options) (Failure, error) {
	setDefault(&o.Budget, 10*time.Second)
	setDefault(&o.Out, "muster-out")
	f := Failure{Group: group}
	small, found := minimise(ctx, h, group, o.Limits, o.Budget)
	if !o.Again { // what is judged again is told of by the numbers of its file
		small, found = densely(ctx, small, found, group, o.Limits)
	}
	if found == nil {
		f.Text = fmt.Sprintf("Group %q: no order of its calls can be explained, but which answer is the wrong one was not found with %v for each try. Judge the history again with more time.\n",
			group, o.Limits.withDefaults().Timeout)
	} else {
		f.Text = found.text(small)
		if id, ok := found.rule(); ok {
			rule := id.Rule()
			f.Rule, f.Class, f.Suffers = rule.ID, found.strictest(rule.Class).String(), rule.Suffers
		}
	}
	if numbers := wasNumbers(small); numbers != "" {
		f.Text += "\nIn the history of the whole run these calls have other numbers:\n" + numbers
	}
	if o.Again {
		return f, nil
	}
	name := filepath.Join(o.Out, fmt.Sprintf("history-%d-%s", h.Header.Seed, filepath.Base(group)))
	if err := small.WriteFile(name + ".jsonl"); err != nil {
		return f, err
	}
	f.File = name + ".jsonl"
	f.Replay = "muster check " + f.File
	if err := draw(ctx, small, group, o.Limits, name+".html"); err == nil {
		f.Page = name + ".html"
	}
	f.Text += fmt.Sprintf("\nSeed %d. Next: %s\n", h.Header.Seed, f.Replay)
	return f, nil
}

// draw saves porcupine's picture of a history.
func draw(ctx context.Context, h *history.History, group string, limits Limits, file string) error {
	limits = limits.withDefaults()
	config, p, err := prepare(h, group, limits)
	if err != nil {
		return err
	}
	model := newJudge(config, p, limits).model(ctx)
	_, info := porcupine.CheckOperationsVerbose(model, p.porcupine(), limits.Timeout)
	page, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(porcupine.Visualize(model, info, page), page.Close())
}

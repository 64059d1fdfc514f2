// Package linearize judges histories of concurrent calls, of any system: is there an order of what the clients saw under which the
// specification explains all of it? The search is porcupine's; what it steps over is here: sets of explanations with their timer
// windows (state.go, step.go, timers.go), calls that are split in two (operation.go), and the silence of a target that should have
// answered. A failure is made small (minimise.go) and told in words (explain.go).
package linearize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/muster-kafka/muster/checker/history"
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

// Explaining says how to explain. Zero values mean the defaults.
type Explaining struct {
	Limits Limits
	Out    string        // folder for what is saved; default "muster-out"
	Again  bool          // what is judged was saved before: nothing is written, and the text does not send the reader here again
	Budget time.Duration // for leaving out what one failure does not need, once the wrong answer is found; default 10 s
}

// Explain makes the illegal history of a group small, says why it is illegal, and saves it.
func Explain(ctx context.Context, h *history.History, group string, o Explaining) (Failure, error) {
	if o.Budget <= 0 {
		o.Budget = 10 * time.Second
	}
	if o.Out == "" {
		o.Out = "muster-out"
	}
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

// draw saves porcupine's picture of a history. While it draws, porcupine goes again the ways that it has found, and panics where one is not there any more; so that
// is not ended by the context, nor by what has ended the search.
func draw(ctx context.Context, h *history.History, group string, limits Limits, file string) error {
	limits = limits.withDefaults()
	config, p, err := prepare(h, group, limits)
	if err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok {
		limits.Timeout = min(limits.Timeout, time.Until(end))
	}
	if err := ctx.Err(); err != nil || limits.Timeout <= 0 {
		return errors.Join(err, context.DeadlineExceeded)
	}
	_, info := porcupine.CheckOperationsVerbose(newJudge(config, p, limits).model(ctx), p.porcupine(), limits.Timeout)
	model := newJudge(config, p, limits).model(context.WithoutCancel(ctx))
	page, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(porcupine.Visualize(model, info, page), page.Close())
}

// Package linearize judges histories of concurrent calls, of any system: is there an order of what the clients saw under which the
// specification explains all of it? The search is porcupine's; what it steps over is here: sets of explanations with their timer
// windows (state.go, step.go, timers.go), calls that are split in two (operation.go), and the silence of a target that should have
// answered. A failure is made small (minimise.go) and told in words (explain.go).
package linearize

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/internal/files"
	"github.com/muster-kafka/muster/internal/pages"
)

// Failure is one group's history that the specification does not explain.
type Failure struct {
	Group   string
	Rule    string // id of the rule that was broken; empty where no rule decides
	Class   string // contract, compat or quirk: the strictest of the rules that decided what must have been answered
	Suffers string // what a client suffers
	Text    string // the whole explanation, with the timeline

	NotFound string // why the wrong answer is not known; empty where it is
	File     string // the small history; empty if it could not be saved
	Whole    string // the history of the whole run
	Page     string // the page that tells of it; empty if it could not be saved
	Replay   string // the command that judges it again
}

// Explaining says how to explain. Zero values mean the defaults.
type Explaining struct {
	Limits Limits
	Out    string        // folder for what is saved; default "muster-out", or none where Again is set
	Whole  string        // file of the whole run, which the page links to
	Again  bool          // what is judged was saved before: no history is written, and the text does not send the reader here again
	Budget time.Duration // for leaving out what one failure does not need, once the wrong answer is found; default 10 s

	Undecided bool   // the history is not known to be illegal: there is no wrong answer to be found
	Apart     *Apart // why its clients are not together in the end; nil where that is no question
}

// Apart are clients that were left alone and have not got together.
type Apart struct {
	From int64 // since when they were left alone
	Took time.Duration
	Why  converge.Reason
}

func (a *Apart) text(group string) string {
	return fmt.Sprintf("Group %q: from %.3f ms on nothing was done on purpose any more, and its clients did nothing but join, sync, and send heartbeats in time. After %v they were not together: %s.\n",
		group, ms(a.From), a.Took.Round(time.Millisecond), a.Why.Text)
}

// Explain makes the illegal history of a group small, says why it is illegal, and saves it, with a page. What could not be saved is in the
// error; the failure is whole all the same.
func Explain(ctx context.Context, h *history.History, group string, o Explaining) (Failure, error) {
	if o.Budget <= 0 {
		o.Budget = 10 * time.Second
	}
	if o.Out == "" && !o.Again {
		o.Out = "muster-out"
	}
	f := Failure{Group: group}
	var small *history.History
	var found *finding
	if o.Undecided {
		small = renumber(h.Keep(func(c *history.Call) bool { return slices.Contains(c.Groups, group) }))
	} else if small, found = minimise(ctx, h, group, o.Limits, o.Budget); !o.Again { // what is judged again is told of by the numbers of its file
		small, found = densely(ctx, small, found, group, o.Limits)
	}
	f.tell(small, found, o)
	if o.Out == "" {
		return f, nil
	}
	name := filepath.Join(o.Out, fmt.Sprintf("history-%d-%s", h.Header.Seed, fileName(group)))
	var saved error
	if !o.Again {
		saved = small.WriteFile(name + ".jsonl")
	}
	if saved == nil && !o.Again {
		f.File = name + ".jsonl"
		f.Replay = "muster check " + f.File
		f.Text += fmt.Sprintf("\nSeed %d. Next: %s\n", h.Header.Seed, f.Replay)
	}
	page := newPage(ctx, small, group, found, &f, o)
	drawn := files.Save(name+".html", func(w io.Writer) error { return pages.WriteFailure(w, page) })
	if drawn == nil {
		f.Page = name + ".html"
	} else {
		drawn = fmt.Errorf("save page: %w", drawn)
	}
	return f, errors.Join(saved, drawn)
}

// fileName is a group's name as part of the name of a file, and of a command in a shell. Names that differ still do.
func fileName(group string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, group)
	if name == group && len(name) < 100 {
		return name
	}
	sum := fnv.New32a()
	sum.Write([]byte(group))
	return fmt.Sprintf("%.60s-%08x", name, sum.Sum32())
}

// tell puts the failure into words.
func (f *Failure) tell(small *history.History, found *finding, o Explaining) {
	switch {
	case found != nil:
		f.Text = found.text(small)
		if id, ok := found.rule(); ok {
			rule := id.Rule()
			f.Rule, f.Class, f.Suffers = rule.ID, found.strictest(rule.Class).String(), rule.Suffers
		}
	case o.Undecided:
		f.NotFound = "Whether an order of its calls can be explained was not decided."
	default:
		f.NotFound = fmt.Sprintf("No order of its calls can be explained, but which answer is the wrong one was not found with %v for each try. Judge the history again with more time.",
			o.Limits.withDefaults().Timeout)
	}
	if f.NotFound != "" {
		f.Text = fmt.Sprintf("Group %q: %s\n", f.Group, f.NotFound)
	}
	if o.Apart != nil {
		f.Text = o.Apart.text(f.Group) + "\n" + f.Text
		if rules := o.Apart.Why.Rules; f.Rule == "" && len(rules) > 0 {
			rule := rules[0].Rule()
			f.Rule, f.Class, f.Suffers = rule.ID, rule.Class.String(), rule.Suffers
		}
	}
	if numbers := wasNumbers(small); numbers != "" {
		f.Text += "\nIn the history of the whole run these calls have other numbers:\n" + numbers
	}
}

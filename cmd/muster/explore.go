package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker/runs"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/verdict"
)

const exploreLong = `Explore searches the specification breadth first: every state that a small group can reach, whatever clients send, whichever timer fires, whichever
write fails. Every state and every transition is judged; what is broken comes with a shortest trace, and as a scenario where clients can do it.

A run has a name and belongs to a set; --list shows them all. Without --run those are made that make test makes, with --night those of
make explore. An interrupt, a limit of time, states or memory leaves a checkpoint, from which --resume goes on.

The runs of the sets joint-... explore the reference coordinator together with the specification. They leave no checkpoint.

The exit code is 0 where all holds in every state, 1 where something is broken or a run reaches less than it used to, 2 where a run is not
complete, 3 where the environment gave way, 64 for wrong usage.`

type exploreOptions struct {
	runs, properties, without []string
	members, workers          int
	until, profile, broken    string
	resume, checkpoint        string
	reports                   reports
	memory                    bytesValue
	list, night               bool
}

func exploreCommand() *cobra.Command {
	var o exploreOptions
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Search every state of the specification that a small group can reach",
		Long:  exploreLong,
		Example: "  muster explore --list\n  muster explore --run core --members 4\n  muster explore --run 'subscriptions, 3 members' --until 10m\n" +
			"  muster explore --resume muster-out/explore-subscriptions-3-members.checkpoint",
		Args: takesNothing(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.explore(cmd) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.runs, "run", nil, "make this run, or the runs of this set; may be given several times (`name`)")
	flags.IntVar(&o.members, "members", 0, "of a set, the runs with so many members (1 to 7), or one made for it")
	flags.StringVar(&o.until, "until", "closure", "end at closure, at states=N, or after a time such as 10m")
	flags.StringArrayVar(&o.properties, "property", nil, "judge only the properties that have this in their `name`; may be given several times")
	flags.StringArrayVar(&o.without, "without", nil, "leave out a kind of `event`, such as Heartbeat; may be given several times")
	flags.StringVar(&o.profile, "profile", "", "explore another coordinator: Java, Scala, contract, or a `release` such as 3.9.2")
	o.reports.flags(cmd)
	flags.IntVar(&o.workers, "workers", 0, "states to expand at a time; 0 is as many as there are processors")
	flags.Var(&o.memory, "max-memory", "end before more memory is taken, such as 12GiB; without it half of what the machine has")
	flags.StringVar(&o.resume, "resume", "", "go on from this checkpoint `file`")
	flags.StringVar(&o.checkpoint, "checkpoint", "", "`file` to leave a checkpoint in; without it one in "+outDir)
	flags.BoolVar(&o.list, "list", false, "show the runs: how many members, how large, what for; with --run what they judge, too")
	flags.BoolVar(&o.night, "night", false, "make the runs that take too long for make test")
	flags.StringVar(&o.broken, "broken", "", "have the specification break this `rule`, to see what notices")
	if err := flags.MarkHidden("broken"); err != nil {
		panic(err)
	}
	return cmd
}

// bounds are how far a run may go.
type bounds struct {
	states  int           // 0 is no bound
	time    time.Duration // 0 is no bound
	memory  uint64
	workers int
}

func (o *exploreOptions) bounds() (b bounds, err error) {
	b.workers = o.workers
	if b.workers == 0 {
		b.workers = runtime.GOMAXPROCS(0)
	}
	if b.workers < 0 || b.workers > 1024 {
		return b, usage("--workers %d: want a few", o.workers)
	}
	if o.members < 0 || o.members > runs.MostMembers {
		return b, usage("--members %d: want 1 to %d", o.members, runs.MostMembers)
	}
	if b.memory = uint64(o.memory); b.memory == 0 {
		if b.memory, err = defaultMemory(); err != nil {
			return b, unavailable(err)
		}
	}
	if o.until == "closure" {
		return b, nil
	}
	if number, ok := strings.CutPrefix(o.until, "states="); ok {
		if b.states, err = strconv.Atoi(number); err == nil && b.states > 0 {
			return b, nil
		}
	} else if b.time, err = time.ParseDuration(o.until); err == nil && b.time > 0 {
		return b, nil
	}
	return b, usage("--until %s: want closure, states=N as in states=100000, or a time as in 10m", o.until)
}

// chosen are the runs that are asked for.
func (o *exploreOptions) chosen() ([]runs.Run, error) {
	alter := runs.Asked{Members: o.members, Profile: o.profile, Properties: o.properties, Without: o.without, Broken: o.broken}
	names := o.runs
	if len(names) == 0 {
		if o.members > 0 {
			return nil, usage("--members goes with --run: say of which set, one of %s", strings.Join(runs.SetNames(), ", "))
		}
		for _, r := range runs.On(o.night) {
			names = append(names, r.Name)
		}
	} else if o.night {
		return nil, usage("--night names its own runs; leave --run out")
	}
	var all []runs.Run
	for _, name := range names {
		alter.Run = name
		found, err := alter.Runs()
		if err != nil {
			return nil, usage("%v", err)
		}
		all = append(all, beside(found)...)
	}
	return all, nil
}

// beside gives runs that explore a coordinator beside the specification the one that there is.
func beside(all []runs.Run) []runs.Run {
	for i, r := range all {
		if r.Joint != nil {
			all[i] = r.Beside(embedded.JointBench)
		}
	}
	return all
}

// subject is what runs judge, and by what.
func subject(all []runs.Run) (target, comparedWith string) {
	joint := 0
	for _, r := range all {
		if r.Joint != nil {
			joint++
		}
	}
	switch joint {
	case 0:
		return "the specification", "its properties"
	case len(all):
		return "the reference coordinator", "the specification"
	}
	return "the specification and the reference coordinator", "their properties and each other"
}

// show lists all runs, or those that are asked for by their names, with what they judge.
func (o *exploreOptions) show(cmd *cobra.Command) error {
	if len(o.runs) == 0 {
		return unavailable(listRuns(cmd.OutOrStdout(), runs.All()))
	}
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	return unavailable(errors.Join(listRuns(cmd.OutOrStdout(), chosen), listJudged(cmd.OutOrStdout(), chosen)))
}

// leavable refuses a file for the checkpoint that must not be replaced, before a run is made for nothing.
func (o *exploreOptions) leavable(cmd *cobra.Command, e *exploration) error {
	r := e.runs[0]
	if r.Joint != nil {
		return usage("--checkpoint: %s leaves no checkpoint, as no joint run does; leave it out", r.Name)
	}
	there, err := r.At(cmd.Context(), o.checkpoint)
	switch {
	case err != nil:
		return usage("--checkpoint: %v; nothing was explored, give another path", err)
	case there.Nothing || o.checkpoint == o.resume:
	case there.Other:
		return usage("--checkpoint %s: the file is there and is no checkpoint; nothing was explored, give another path", o.checkpoint)
	case !there.Same:
		return usage("--checkpoint %s: the file is there and is the checkpoint of another run, %q; nothing was explored, give another path", o.checkpoint, there.Run)
	case there.Build != e.build:
		e.progress.say("%s is there, from an attempt at this run by another build of Muster. It is replaced only by one that came as far", o.checkpoint)
	default:
		e.progress.say("%s is there, from an earlier attempt at this run that came to %d states; muster explore --resume %s goes on from it. It is replaced only by one that came as far",
			o.checkpoint, there.States, quoted(o.checkpoint))
	}
	return nil
}

func (o *exploreOptions) explore(cmd *cobra.Command) error {
	if o.list {
		return o.show(cmd)
	}
	if cmd.Flags().Changed("members") && o.members == 0 { // which without the flag means all
		return usage("--members 0: want 1 to %d", runs.MostMembers)
	}
	b, err := o.bounds()
	if err != nil {
		return err
	}
	build, err := runs.Build(version)
	if err != nil {
		return unavailable(err)
	}
	e := &exploration{bounds: b, build: build, checkpoint: o.checkpoint, progress: newProgress(cmd.ErrOrStderr())}
	if o.resume != "" {
		if cmd.Flags().Changed("run") || o.night || o.members > 0 || o.profile+o.broken != "" || len(o.properties)+len(o.without) > 0 {
			return usage("--resume goes on with the run of the checkpoint, as it was asked for: leave --run and what changes a run out")
		}
		r, left, err := runs.Resume(cmd.Context(), o.resume, build)
		if err != nil {
			return usage("--resume: %v", err)
		}
		e.runs, e.left = []runs.Run{r}, left
		if e.checkpoint == "" {
			e.checkpoint = o.resume
		}
	} else if e.runs, err = o.chosen(); err != nil {
		return err
	}
	if o.checkpoint != "" && len(e.runs) > 1 {
		return usage("--checkpoint is for one run, and these are %d: leave it out", len(e.runs))
	}
	if o.checkpoint != "" { // a path that cannot be written should not cost a run
		if info, err := os.Stat(filepath.Dir(o.checkpoint)); err != nil || !info.IsDir() {
			return usage("--checkpoint %s: there is no folder %s; nothing was explored", o.checkpoint, filepath.Dir(o.checkpoint))
		}
		if err := o.leavable(cmd, e); err != nil {
			return err
		}
	}
	if err := e.fits(); err != nil {
		return err
	}
	target, with := subject(e.runs)
	v := verdict.New(version, target, with, 0)
	v.Exploration = &verdict.ExplorationCounts{Runs: []verdict.ExplorationRun{}}
	v.Alone()
	e.verdict = v
	outputs, err := o.reports.outputs(v)
	if err != nil {
		return err
	}
	if err := writable(outputs); err != nil {
		return err
	}
	began := time.Now()
	e.make(cmd.Context())
	e.progress.done()
	v.Close(false, nil, time.Since(began))
	return conclude(cmd, v, outputs)
}

package bugs

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/golden"
)

// bugsVar names the bugs that TestBugs lets the judges loose on, separated by commas, or "all".
const bugsVar = "MUSTER_BUGS"

// racing begins the ids of faults that were made up for campaigns: what goes wrong between requests that come at the same time.
const racing = "race-"

// seeds are how many lockstep has to find each of its bugs from, at night: that it does from one may be luck.
const seeds = 4

// lanes are how many processes are at work at a time; where there are none, as many as two processors can take that have nothing else to do: judges that
// go by the clock mostly wait.
var lanes, timedLanes = lanesOf("MUSTER_BUG_LANES", 2), lanesOf("MUSTER_BUG_TIMED_LANES", 4)

func lanesOf(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// task is one judge on one bug.
type task struct {
	bug   Bug
	judge judge
}

// TestBugs lets every judge loose on the bugs that are asked for, and on the coordinator as it is, where none may find anything. It prints which judge
// caught which bug, in how long, with how short a trace; with -update it keeps that, and writes docs/bugs.md.
func TestBugs(t *testing.T) {
	asked := os.Getenv(bugsVar)
	if asked == "" {
		t.Skipf("takes minutes for each bug: make bugs, make bug-ID, or set %s", bugsVar)
	}
	binary, all := planting(t)
	b := &book{binary: binary, known: readMeasured(t), fresh: map[string]measured{}}
	var timed, others []task
	add := func(bug Bug) {
		for _, j := range judges {
			if j.timed {
				timed = append(timed, task{bug, j})
			} else {
				others = append(others, task{bug, j})
			}
		}
	}
	if asked == "all" {
		add(Bug{ID: "no bug"})
	}
	for _, bug := range all {
		if asked == "all" || slices.Contains(strings.Split(asked, ","), bug.ID) {
			add(bug)
		}
	}
	if len(timed) == 0 {
		t.Fatalf("%s=%s names no bug: the folders of fuzz/bugs are the bank", bugsVar, asked)
	}
	maps.DeleteFunc(b.known, func(id string, _ measured) bool {
		return !slices.ContainsFunc(all, func(b Bug) bool { return b.ID == id })
	})
	began := time.Now()
	work(lanes, others, func(w task) { b.measure(t, w) }, timedLanes, timed)
	fmt.Printf("all judges on %d bugs: %v\n", len(b.fresh), time.Since(began).Round(time.Second))
	if *golden.Update {
		golden.Compare(t, page, render(all, readMeasured(t))) // of what was kept: seconds are kept less exactly than they were measured
	}
}

// book has what is measured. A bug's place in measuredFile is taken when all judges have looked at it, so that a run may be cut short.
type book struct {
	binary string

	mu           sync.Mutex
	known, fresh map[string]measured
}

// work does both lists, each in as many lanes as it may have.
func work(n int, first []task, do func(task), m int, second []task) {
	var done sync.WaitGroup
	for _, l := range []struct {
		lanes int
		tasks []task
	}{{n, first}, {m, second}} {
		queue := make(chan task)
		done.Go(func() {
			defer close(queue)
			for _, w := range l.tasks {
				queue <- w
			}
		})
		for range l.lanes {
			done.Go(func() {
				for w := range queue {
					do(w)
				}
			})
		}
	}
	done.Wait()
}

// measure lets a judge loose on a bug and keeps what comes of it.
func (b *book) measure(t *testing.T, w task) {
	if w.bug.Edits == nil {
		if found, took := run(t, b.binary, w.judge.name, EnvVar+"="); found.Text != "" {
			t.Errorf("with no bug awake %s finds, after %.1f s: %s", w.judge.name, took.Seconds(), found.Text)
		}
		return
	}
	found, c := w.try(t, b.binary)
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.fresh[w.bug.ID]
	m.digest, m.looked = w.bug.digest(), m.looked+1
	switch {
	case found.Text != "":
		fmt.Printf("%-34s %-10s %5.1f s, %d events: %s\n", w.bug.ID, w.judge.name, c.took.Seconds(), found.Events, found.Text)
		m.catches = append(m.catches, c)
	case w.bug.MustBeCaughtBy(w.judge.name) || w.bug.ID == neverAnswered:
		t.Errorf("%s has to notice %s (%s), and did not in %.1f s", w.judge.name, w.bug.ID, w.bug.Title, c.took.Seconds())
	default:
		fmt.Printf("%-34s %-10s not in %5.1f s\n", w.bug.ID, w.judge.name, c.took.Seconds())
	}
	b.fresh[w.bug.ID] = m
	if m.looked == len(judges) && *golden.Update {
		b.known[w.bug.ID] = m
		writeMeasured(t, b.known)
	}
}

// try lets the judge loose on the bug, without the scenario that was written for that, and with it where the judge finds nothing. Whether linearize finds
// one is luck as well, the more so the less of a machine it has: it may try twice, with another seed, what it has found before.
func (w task) try(t *testing.T, binary string) (found finding, c catch) {
	tries := uint64(1)
	if w.judge.name == "linearize" && w.bug.MustBeCaughtBy(w.judge.name) {
		tries = 2
	}
	c.judge = w.judge.name
	for c.seed = 1; ; c.seed++ {
		found, c.took = run(t, binary, w.judge.name, w.bug.Env(), fmt.Sprint(seedVar, "=", c.seed), fmt.Sprint(leftOutVar, "=", w.bug.Written))
		if c.seed == tries || found.Text != "" && found.Events <= mostCalls {
			break
		}
	}
	if found.Text == "" && w.bug.Written != "" && w.judge.name == "scenarios" {
		found, c.took = run(t, binary, w.judge.name, w.bug.Env())
		c.only = found.Text != ""
	}
	c.events = found.Events
	return found, c
}

// TestLockstepFromSeveralSeeds holds that it is no luck that lockstep finds what it has to find, nor that what is left of it is short.
func TestLockstepFromSeveralSeeds(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes minutes; set MUSTER_NIGHTLY=1")
	}
	binary, all := planting(t)
	for _, bug := range all {
		for n := 2; n <= seeds && bug.MustBeCaughtBy("lockstep"); n++ {
			found, took := run(t, binary, "lockstep", bug.Env(), fmt.Sprint(seedVar, "=", n))
			switch {
			case found.Text == "":
				t.Errorf("%-34s not noticed from seed %d in %.1f s: %s", bug.ID, n, took.Seconds(), bug.Title)
			case found.Events > longest:
				t.Errorf("%-34s from seed %d: %d events are left, want %d at most: %s", bug.ID, n, found.Events, longest, found.Text)
			}
		}
	}
}

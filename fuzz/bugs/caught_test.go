package bugs

import (
	"runtime"
	"sync"
	"testing"
)

// quick are the bugs that linearize is tried on in every run of the tests, those that it finds within seconds: its histories take real time.
var quick = []string{"generation-per-join", "late-joiner-slips-in"}

// TestEveryBugIsCaught wakes one bug after the other and calls the judge that was the quickest to catch it when all of them were measured: a bug that is
// there in name only, or a judge that has gone blind, shows here. Every judge has to catch one at least, and scenarios nothing where no bug is awake.
func TestEveryBugIsCaught(t *testing.T) {
	t.Parallel()
	binary, all := planting(t)
	known := readMeasured(t)
	if found, took := run(t, binary, "scenarios", EnvVar+"="); found.Text != "" {
		t.Errorf("with no bug awake scenarios find, after %.1f s: %s", took.Seconds(), found.Text)
	}
	var tasks []task
	call := func(bug Bug, name string) {
		if j, ok := judgeOf(name); ok {
			tasks = append(tasks, task{bug, j})
		}
	}
	for _, bug := range all {
		if bug.ID == neverAnswered {
			for _, j := range judges {
				if !j.timed {
					call(bug, j.name)
				}
			}
			continue
		}
		call(bug, known[bug.ID].quickest(func(c catch) bool { return !judges[place(c.judge)].timed }).judge)
	}
	var timed []task
	for _, id := range quick {
		bug, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		linearize, _ := judgeOf("linearize")
		timed = append(timed, task{bug, linearize})
	}
	var mu sync.Mutex
	caught := map[string]int{}
	work(runtime.GOMAXPROCS(0), tasks, func(w task) {
		found, took := run(t, binary, w.judge.name, w.bug.Env())
		mu.Lock()
		defer mu.Unlock()
		if found.Text == "" {
			t.Errorf("%-34s not noticed by %s in %.1f s: %s", w.bug.ID, w.judge.name, took.Seconds(), w.bug.Title)
			return
		}
		if w.judge.name == "lockstep" && found.Events > longest {
			t.Errorf("%s: lockstep leaves %d events, want %d at most: %s", w.bug.ID, found.Events, longest, found.Text)
		}
		caught[w.judge.name]++
		t.Logf("%-34s caught by %-9s in %4.1f s: %s", w.bug.ID, w.judge.name, took.Seconds(), found.Text)
	}, 1, timed)
	t.Logf("%v", caught)
}

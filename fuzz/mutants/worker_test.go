package mutants

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muster-kafka/muster/fuzz/mutants/awake"
	"github.com/muster-kafka/muster/internal/cputime"
)

// workVar makes this test binary, built with the mutants planted, a worker: it names a file with a line for each mutant that is to be judged, its
// number, its part, and the names of its judges, or nothing for all.
const workVar = "MUSTER_MUTANTS_WORK"

// What a worker may use for one judge on one mutant. A mutant that uses more hangs, or grows for ever, which is noticed. Time is the processor's, so
// that a machine that is busy with other things accuses nobody; what is judged here waits for a clock at most for seconds.
const (
	mostWall   = 3 * time.Minute
	mostMemory = 1500 << 20
)

// quick asks for the cheap judges alone, which come first.
const (
	quick = "quick"
	cheap = 4
)

// The words of a worker's lines.
const (
	begins, kills, hangs, lives = "begins", "kills", "hangs", "lives"
)

// TestWorker judges mutants, one after the other, in a process that may not survive them.
func TestWorker(t *testing.T) {
	file := os.Getenv(workVar)
	if file == "" {
		t.Skipf("runs in processes that TestMutants starts, with %s set", workVar)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &worker{}
	if err := w.survey(); err != nil {
		t.Fatal(err)
	}
	go w.watch()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		id, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		w.mutant(t.Context(), id, Part(fields[1]), fields[2])
	}
}

type worker struct {
	met map[string][]bool // by part and judge: the mutants that would have made a difference

	now   atomic.Pointer[string] // the mutant and the judge that are at work
	began atomic.Int64           // processor time
	since atomic.Int64           // wall time
	limit atomic.Int64           // of processor time
}

// mutant lets judges loose on one mutant until one has noticed it.
func (w *worker) mutant(ctx context.Context, id int, part Part, only string) {
	for i, j := range judges[part] {
		if met := w.met[string(part)+" "+j.name]; met != nil && (id >= len(met) || !met[id]) {
			continue // it would be as if there were none
		}
		if only != "" && only != j.name && !(only == quick && i < cheap) {
			continue
		}
		at := fmt.Sprintf("%d\t%s", id, j.name)
		w.began.Store(int64(cputime.Used()))
		w.limit.Store(int64(j.limit))
		w.since.Store(time.Now().UnixNano())
		w.now.Store(&at)
		say(begins, id, j.name, "")
		began := cputime.Used()
		found := judged(ctx, id, j)
		w.now.Store(nil)
		took := cputime.Used() - began
		if found != "" {
			name := j.name
			if text, ok := strings.CutPrefix(found, bySize); ok {
				name, found = bySizes, text
			}
			say(kills, id, name, fmt.Sprintf("%.2f\t%s", took.Seconds(), strings.Join(strings.Fields(found), " ")))
			return
		}
		if os.Getenv("MUSTER_MUTANTS_TELL") != "" {
			say("time", id, j.name, fmt.Sprintf("%.2f", took.Seconds()))
		}
	}
	say(lives, id, "", "")
}

// surveyVar names the file that says which judges meet which mutants.
const surveyVar = "MUSTER_MUTANTS_SURVEY"

func (w *worker) survey() error {
	file := os.Getenv(surveyVar)
	if file == "" || os.Getenv(awake.EnvVar) != "" { // what is computed at the start is asked for before anybody looks
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &w.met)
}

// TestSurvey lets each judge loose while all mutants sleep, and writes down which of them were asked for: nothing at all would be different with the
// others awake, so that judge need not be asked about them.
func TestSurvey(t *testing.T) {
	file := os.Getenv(surveyVar)
	if file == "" || os.Getenv(workVar) != "" {
		t.Skipf("runs in a process that TestMutants starts, with %s set", surveyVar)
	}
	all := map[string][]bool{}
	for part, of := range judges {
		for i, j := range of {
			if j.erratic || *hasty && i >= cheap || *ask != "" && j.name != *ask {
				continue
			}
			awake.Asked = make([]bool, mostMutants)
			began := cputime.Used()
			if found := j.find(t.Context()); found != "" {
				t.Errorf("%s finds, with nothing changed: %s", j.name, found)
			}
			t.Logf("%s: %s takes %.1f s of the processor where there is nothing to be found", part, j.name, (cputime.Used() - began).Seconds())
			all[string(part)+" "+j.name] = awake.Asked
			awake.Asked = nil
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// mostMutants is more than there are.
const mostMutants = 1 << 14

// judged is one judge on one mutant; a panic is found too.
func judged(ctx context.Context, id int, j judge) (found string) {
	defer func() {
		if p := recover(); p != nil {
			found = fmt.Sprintf("panic: %v", p)
		}
		awake.ID = 0
	}()
	awake.ID = id
	return j.find(ctx)
}

func say(word string, id int, judge, rest string) {
	fmt.Printf("mutant\t%s\t%d\t%s\t%s\n", word, id, judge, rest)
}

// watch ends the process where a judge does not come to an end.
func (w *worker) watch() {
	debug.SetGCPercent(200)
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(50 * time.Millisecond) {
		at := w.now.Load()
		if at == nil {
			continue
		}
		why := ""
		metrics.Read(heap)
		switch {
		case int64(cputime.Used())-w.began.Load() > w.limit.Load():
			why = fmt.Sprintf("not at an end after %v of the processor", time.Duration(w.limit.Load()))
		case time.Since(time.Unix(0, w.since.Load())) > mostWall:
			why = fmt.Sprintf("not at an end after %v", mostWall)
		case heap[0].Value.Uint64() > mostMemory:
			why = "grows for ever"
		default:
			continue
		}
		id, judge, _ := strings.Cut(*at, "\t")
		n, _ := strconv.Atoi(id)
		say(hangs, n, judge, why)
		os.Exit(3)
	}
}

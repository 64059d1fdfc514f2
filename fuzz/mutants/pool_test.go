package mutants

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-kafka/muster/fuzz/bugs"
	"github.com/muster-kafka/muster/fuzz/mutants/awake"
)

// binary is this test's own binary with the mutants planted.
func binary(t *testing.T, p *Planted) string {
	t.Helper()
	root, err := bugs.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "mutants.test")
	began := time.Now()
	if err := bugs.BuildOver(t.Context(), root, p.Files, out, "test", "-c", "./fuzz/mutants"); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants planted, %d do not compile; built in %v", len(p.Mutants), p.Dropped, time.Since(began).Round(time.Second))
	return out
}

// surveyed has the judges look for the mutants that they can notice at all.
func surveyed(t *testing.T, binary string) {
	t.Helper()
	survey := exec.CommandContext(t.Context(), binary, "-test.run=^TestSurvey$", fmt.Sprintf("-quick=%v", *hasty), "-ask="+*ask)
	file := filepath.Join(filepath.Dir(binary), "survey.json")
	survey.Env = append(os.Environ(), surveyVar+"="+file)
	if text, err := survey.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Setenv(surveyVar, file)
}

// work is a mutant that is to be judged, by one judge or by all.
type work struct {
	Mutant
	only string
}

// batch is how many mutants one process is given. There may be mutants that leave something behind: a process does not live for long.
const batch = 25

// pool has workers judge mutants, several at a time, in the order of their digests, which is as good as drawn at random, and calls done, one at a time, with what became of each. Where no judge notices,
// the own tests of the part are asked, if they are given. It gives up when the time is over.
func pool(t *testing.T, binary string, all []work, workers int, until time.Time, own map[Part]string, done func(Mutant, Judged)) {
	t.Helper()
	slices.SortFunc(all, func(a, b work) int { return strings.Compare(a.Digest(), b.Digest()) })
	queue := make(chan []work)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for b := range queue {
				for len(b) > 0 && time.Now().Before(until) {
					judged, err := process(t.Context(), t.TempDir(), binary, b, func(m Mutant, j Judged) {
						if j.Judge == "" && own != nil {
							j = askOwn(t.Context(), own[m.Part()], m)
						}
						mu.Lock()
						defer mu.Unlock()
						done(m, j)
					})
					if err != nil {
						t.Error(err)
						break
					}
					b = b[judged:]
				}
			}
		})
	}
	var together []work
	for _, w := range all {
		if w.Early {
			queue <- []work{w}
			continue
		}
		if together = append(together, w); len(together) == batch {
			queue <- together
			together = nil
		}
	}
	queue <- together
	close(queue)
	wg.Wait()
}

// process lets one worker process judge mutants, and tells how many it has come through: it may not survive one.
func process(ctx context.Context, dir, binary string, all []work, done func(Mutant, Judged)) (int, error) {
	list := filepath.Join(dir, "work")
	var text strings.Builder
	for _, w := range all {
		fmt.Fprintf(&text, "%d\t%s\t%s\n", w.ID, w.Part(), w.only)
	}
	if err := os.WriteFile(list, []byte(text.String()), 0o644); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestWorker$", "-test.timeout=0", "-test.v")
	cmd.Env = append(os.Environ(), workVar+"="+list)
	if len(all) == 1 && all[0].Early {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", awake.EnvVar, all[0].ID))
	}
	cmd.Dir, _ = os.Getwd()
	var tail strings.Builder
	cmd.Stderr = &tail
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	at, judge := 0, ""
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "\t", 5)
		if len(fields) < 5 || fields[0] != "mutant" || at == len(all) {
			continue
		}
		if id, _ := strconv.Atoi(fields[2]); id != all[at].ID {
			return at, fmt.Errorf("a worker told of mutant %d where %d was at work", id, all[at].ID)
		}
		j := Judged{Judge: fields[3], Detail: fields[4]}
		switch fields[1] {
		case begins:
			judge = fields[3]
			continue
		case kills:
			seconds, detail, _ := strings.Cut(j.Detail, "\t")
			j.Seconds, _ = strconv.ParseFloat(seconds, 64)
			j.Detail = detail
		case hangs, lives:
		default:
			continue
		}
		done(all[at].Mutant, j)
		at, judge = at+1, ""
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return at, ctx.Err()
	case at == len(all), err != nil && at > 0 && judge == "":
		return at, nil
	case judge != "": // it died of the mutant
		done(all[at].Mutant, Judged{Judge: judge, Detail: "the process dies: " + firstLine(tail.String())})
		return at + 1, nil
	}
	return at, fmt.Errorf("a worker ended early: %w\n%s", err, tail.String())
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// ownTests are the unit tests of the parts, with the mutants planted.
func ownTests(t *testing.T, p *Planted) map[Part]string {
	t.Helper()
	root, err := bugs.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[Part]string{}
	for _, part := range []Part{Core, Model} {
		all[part] = filepath.Join(t.TempDir(), path.Base(string(part))+".test")
		if err := bugs.BuildOver(t.Context(), root, p.Files, all[part], "test", "-c", "./"+string(part)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// askOwn runs the own tests of a part with a mutant awake.
func askOwn(ctx context.Context, binary string, m Mutant) Judged {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.failfast", "-test.short")
	cmd.Dir = filepath.Join("../..", filepath.FromSlash(string(m.Part())))
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", awake.EnvVar, m.ID))
	if err := cmd.Run(); err != nil {
		return Judged{Judge: OwnTests}
	}
	return Judged{}
}

package bugs

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// measuredFile keeps what make bugs has measured, a line for each bug and one for each judge that has caught it.
const measuredFile = "testdata/measured.txt"

// catch is how a judge caught a bug.
type catch struct {
	judge  string
	took   time.Duration
	events int // of what it shows; 0 where it does not shorten that
	seed   uint64
	only   bool // with the help of the scenario that was written for the bug
}

// measured is what came of letting all judges loose on a bug.
type measured struct {
	digest  string // of what was measured
	catches []catch
	looked  int // how many judges have looked, while they do
}

// digest is of all that a bug's measurements depend on, but for the coordinator and its judges themselves.
func (b Bug) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(budgets+b.text)))[:12]
}

func (m measured) by(judge string) (catch, bool) {
	i := slices.IndexFunc(m.catches, func(c catch) bool { return c.judge == judge })
	if i < 0 {
		return catch{}, false
	}
	return m.catches[i], true
}

// quickest is the judge that took the least time, among those that are asked for; none is the zero value.
func (m measured) quickest(asked func(catch) bool) (best catch) {
	for _, c := range m.catches {
		if asked(c) && (best.judge == "" || c.took < best.took) {
			best = c
		}
	}
	return best
}

// shortest is how many events are enough to show the bug; 0 if no judge has said so.
func (m measured) shortest() (n int) {
	for _, c := range m.catches {
		if c.events > 0 && (n == 0 || c.events < n) {
			n = c.events
		}
	}
	return n
}

// readMeasured reads measuredFile; where there is none nothing has been measured.
func readMeasured(t *testing.T) map[string]measured {
	t.Helper()
	text, err := os.ReadFile(measuredFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	all := map[string]measured{}
	id := ""
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 2:
			id = words[0]
			all[id] = measured{digest: words[1]}
		case len(words) == 4 || len(words) == 5 && words[4] == "only":
			c, err := parseCatch(words)
			if err != nil || id == "" {
				t.Fatalf("%s:%d: %q is not of the form \"JUDGE SECONDS EVENTS SEED\" below a bug (%v): make bugs writes the file anew", measuredFile, i+1, line, err)
			}
			m := all[id]
			m.catches = append(m.catches, c)
			all[id] = m
		case len(words) > 0:
			t.Fatalf("%s:%d: %q is neither a bug with its digest nor a judge with what it needed: make bugs writes the file anew", measuredFile, i+1, line)
		}
	}
	return all
}

func parseCatch(words []string) (catch, error) {
	seconds, err := strconv.ParseFloat(words[1], 64)
	if err != nil {
		return catch{}, err
	}
	events, err := strconv.Atoi(words[2])
	if err != nil {
		return catch{}, err
	}
	seed, err := strconv.ParseUint(words[3], 10, 64)
	return catch{words[0], time.Duration(seconds * float64(time.Second)), events, seed, len(words) == 5}, err
}

func writeMeasured(t *testing.T, all map[string]measured) {
	t.Helper()
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		m := all[id]
		fmt.Fprintf(&b, "%s %s\n", id, m.digest)
		slices.SortFunc(m.catches, func(x, y catch) int { return cmp.Compare(place(x.judge), place(y.judge)) })
		for _, c := range m.catches {
			only := ""
			if c.only {
				only = " only"
			}
			fmt.Fprintf(&b, "\t%s %.2f %d %d%s\n", c.judge, c.took.Seconds(), c.events, c.seed, only)
		}
	}
	if err := os.WriteFile(measuredFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// place is where the table has a judge.
func place(name string) int {
	return slices.IndexFunc(judges, func(j judge) bool { return j.name == name })
}

package mutants

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/fuzz/bugs"
	"github.com/muster-kafka/muster/internal/stamp"
	"github.com/muster-kafka/muster/model/classic"
)

var (
	whole   = flag.Bool("mutants", false, "judge all mutants (up to an hour), and write what comes of it")
	fresh   = flag.Bool("new", false, "judge the mutants of which nothing is known, and write what comes of it")
	sampled = flag.Bool("sample", false, "judge a sample of 40")
	hasty   = flag.Bool("quick", false, "of these ask the cheap judges alone")
	ask     = flag.String("ask", "", "of the mutants that no judge has noticed ask this judge alone about those that it could notice")
	only    = flag.String("only", "", "of these judge those alone whose key matches")
	within  = flag.Duration("within", 55*time.Minute, "leave mutants that have not been judged by then unjudged, and say so")
)

const (
	workers = 2
	table   = "../../docs/mutants.md"
)

// found are the mutants of this tree.
func found(t *testing.T) *Planted {
	t.Helper()
	root, err := bugs.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Find(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// known reads what the tree keeps of mutants.
func known(t *testing.T) (map[string]string, Explanations) {
	t.Helper()
	judged, err := readJudged(judgedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if judged == nil {
		judged = map[string]string{}
	}
	why, err := readExplanations(survivorsFile)
	if err != nil {
		t.Fatal(err)
	}
	return judged, why
}

// outcomes are all mutants of the source, and what is known of each.
func outcomes(p *Planted, judged map[string]string) (all []Outcome) {
	for _, m := range p.Mutants {
		judge, ok := judged[m.Digest()]
		all = append(all, Outcome{Of: string(m.Part()), Kind: string(m.Kind), Key: m.Key(), Judge: judge, Judged: ok})
	}
	return all
}

// others judges what is no source, which takes some seconds: rules that are broken, wrong lines and spoilt histories.
func others(t *testing.T) (all []Outcome) {
	t.Helper()
	all = brokenRules(t)
	for of, name := range map[string]string{LinesOnModel: "model", LinesOnImpl: "impl"} {
		err := texts(t.Context(), name, nil, func(key, change string, refused bool) {
			o := Outcome{Of: of, Kind: change, Key: key, Judged: true}
			if refused {
				o.Judge = "the scenario"
			}
			all = append(all, o)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := spoilt(t.Context(), nil, func(key, change string, v linearize.Verdict) {
		o := Outcome{Of: Histories, Kind: change, Key: key, Judged: true}
		if v.Result == linearize.Illegal {
			o.Judge = "linearize"
		}
		all = append(all, o)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b Outcome) int { return slices.Index(rows, a.Of) - slices.Index(rows, b.Of) })
	return all
}

var rows = []string{Rules, LinesOnModel, LinesOnImpl, Histories}

// brokenRules breaks one rule of the specification after the other: scenarios have to notice.
func brokenRules(t *testing.T) (all []Outcome) {
	for id := range classic.RuleID(len(classic.Rules())) {
		if can, _ := classic.Breakable(id); !can {
			continue
		}
		o := Outcome{Of: Rules, Kind: id.Rule().Class.String(), Key: "rule " + id.String(), Judged: true}
		for _, name := range append([]string{"model", "model:reference", "model:3.9.2"}, oldReleases...) {
			found, err := breaking(t.Context(), name, id)
			if err != nil {
				t.Fatal(err)
			}
			if found {
				o.Judge = "scenarios"
				break
			}
		}
		all = append(all, o)
	}
	return all
}

// TestMutants judges mutants: all of them, or those of which nothing is known.
func TestMutants(t *testing.T) {
	if !*whole && !*fresh && *ask == "" {
		t.Skip("make mutants, or make mutants-new")
	}
	began := time.Now()
	p := found(t)
	judged, why := known(t)
	asked, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	var all []work
	for _, m := range p.Mutants {
		was, ok := judged[m.Digest()]
		switch chosen := asked.MatchString(m.Key()); {
		case *ask != "":
			if chosen && ok && (was == "" || was == Open || was == OwnTests) {
				all = append(all, work{Mutant: m, only: *ask})
			}
			if ok {
				kept[m.Digest()] = was
			}
		case chosen && (*whole || !ok || was == Open && !*hasty):
			all = append(all, work{Mutant: m})
		case ok:
			kept[m.Digest()] = was
		}
	}
	if len(all) > 0 {
		until := began.Add(*within)
		cost := map[string]float64{}
		judges, own := binary(t, p), map[Part]string(nil)
		switch {
		case *ask != "":
		case *hasty:
			for i := range all {
				all[i].only = quick
			}
		default:
			own = ownTests(t, p)
		}
		surveyed(t, judges)
		saved := time.Now()
		pool(t, judges, all, workers, until, own, func(m Mutant, j Judged) {
			switch {
			case j.Judge == "" && *ask != "":
				j.Judge = kept[m.Digest()]
			case j.Judge == "" && *hasty:
				j.Judge = Open
			}
			kept[m.Digest()] = j.Judge
			if os.Getenv("MUSTER_MUTANTS_TELL") != "" {
				fmt.Printf("%q %.2f s: %s (%s)\n", j.Judge, j.Seconds, m.Key(), j.Detail)
			}
			cost[j.Judge] += j.Seconds
			if time.Since(saved) > everySo { // a run that is cut off has lost little
				saved = time.Now()
				if err := save(judged, kept); err != nil {
					t.Error(err)
				}
			}
			if j.Judge == "" && why.Of(m.Key()) == nil {
				t.Logf("survives, and nobody has said why: %s", m.Key())
			}
		})
		t.Logf("%d of %d mutants judged in %v", len(kept)-(len(p.Mutants)-len(all)), len(all), time.Since(began).Round(time.Second))
	}
	if len(kept) < len(p.Mutants) {
		t.Logf("%d mutants have not been judged: make mutants-new goes on", len(p.Mutants)-len(kept))
	}
	if err := writeJudged(judgedFile, kept); err != nil {
		t.Fatal(err)
	}
	everything := append(outcomes(p, kept), others(t)...)
	if err := os.WriteFile(table, []byte(document(everything, why)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, fault := range against(everything, why) {
		t.Error(fault)
	}
	t.Logf("all of it took %v", time.Since(began).Round(time.Second))
}

// everySo is how often a run keeps what it knows so far.
const everySo = 30 * time.Second

// save keeps what a run knows so far, and of mutants that it has not come to what was known before: those are still there to be judged.
func save(before, now map[string]string) error {
	all := maps.Clone(before)
	maps.Copy(all, now)
	return writeJudged(judgedFile, all)
}

func document(all []Outcome, why Explanations) string {
	return write(all, why) + "\n" + stamp.Line("make mutants", inputs(sources(all), why)) + "\n"
}

// sources are the outcomes that judged.txt keeps; the others are had anew in some seconds.
func sources(all []Outcome) (of []Outcome) {
	for _, o := range all {
		if o.Of == string(Core) || o.Of == string(Model) {
			of = append(of, o)
		}
	}
	return of
}

// least is the share that has to be noticed, without what is equivalent or unreachable.
const least = 0.95

// unexplained are survivors of the source without a reason.
func unexplained(all []Outcome, why Explanations) (faults []string) {
	for _, o := range all {
		if o.Judged && o.Judge == "" && why.Of(o.Key) == nil {
			faults = append(faults, fmt.Sprintf("nobody notices, and %s does not say why: %s", survivorsFile, o.Key))
		}
	}
	return faults
}

// against says what is wrong with the outcomes: survivors without a reason, reasons without a survivor, too many that survive.
func against(all []Outcome, why Explanations) (faults []string) {
	faults = unexplained(all, why)
	used := map[string]bool{}
	of := map[string][]Outcome{}
	noticed, open := map[string]bool{}, false
	for _, o := range all {
		if !o.Judged {
			continue
		}
		of[o.Of] = append(of[o.Of], o)
		if o.Judge == Open {
			open = true
		}
		if noticed[o.Key] = o.noticed(); noticed[o.Key] || o.Judge == Open {
			continue
		}
		e := why.Of(o.Key)
		if e == nil {
			continue
		}
		for _, k := range e.Keys {
			if k == o.Key || k == function(o.Key)+": *" {
				used[k] = true
			}
		}
	}
	for _, e := range why {
		for _, k := range e.Keys {
			switch {
			case used[k]:
			case noticed[k]:
				faults = append(faults, fmt.Sprintf("%s says why nobody notices, but somebody does; take it out: %s", survivorsFile, k))
			case !open && !pending(all):
				faults = append(faults, fmt.Sprintf("%s explains what is not there, or does not survive: %s", survivorsFile, k))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if c := count(of[name], why); float64(c.noticed+c.open) < least*float64(c.all-c.same) {
			faults = append(faults, fmt.Sprintf("%s: %d of %d are noticed, and %d are equivalent or unreachable: less than %.0f %%", name, c.noticed, c.all, c.same, 100*least))
		}
	}
	return faults
}

// pending says whether there are mutants that have not been judged.
func pending(all []Outcome) bool {
	return slices.ContainsFunc(all, func(o Outcome) bool { return !o.Judged })
}

// The table is of this tree: of its mutants, and of what is known of each. It takes a second, and judges nobody.
func TestTableIsCurrent(t *testing.T) {
	p := found(t)
	judged, why := known(t)
	all := outcomes(p, judged)
	fresh := 0
	for _, o := range all {
		if !o.Judged {
			fresh++
		}
	}
	t.Logf("%d mutants, of which %d have not been judged", len(all), fresh)
	for _, fault := range unexplained(all, why) {
		t.Error(fault)
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if stamp.In(string(text), "make mutants") != inputs(all, why) {
		t.Errorf("docs/mutants.md is of other mutants, judges or reasons: make mutants-new writes it anew")
	}
}

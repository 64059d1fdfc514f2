package verdict

import (
	"cmp"
	"fmt"
	"io"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// WriteJUnit writes the verdict for CI: a suite a judge, a test case a scenario (a case for the whole judge elsewhere). Failures fail
// their case; differences and known failures are told in its output; what left the verdict open is an error.
func (v *Verdict) WriteJUnit(w io.Writer) error {
	suites := junit.Testsuites{Name: "muster verify " + v.Target, Time: seconds(v.DurationS)}
	for _, j := range v.judges() {
		suites.AddSuite(v.suite(j, len(suites.Suites)))
	}
	if len(v.Reasons) > 0 {
		suite := junit.Testsuite{Name: "verdict", ID: len(suites.Suites), Time: seconds(0)}
		for _, reason := range v.Reasons {
			suite.AddTestcase(junit.Testcase{
				Name: "everything was judged", Classname: "muster", Time: seconds(0),
				Error: &junit.Result{Message: reason, Type: string(v.Result)},
			})
		}
		suites.AddSuite(suite)
	}
	return suites.WriteXML(w)
}

func (v *Verdict) suite(j Judge, id int) junit.Testsuite {
	suite := junit.Testsuite{Name: string(j), ID: id}
	suite.AddProperty("target", v.Target)
	suite.AddProperty("seed", fmt.Sprint(v.Seed))
	var total float64
	for _, c := range v.casesOf(j) {
		total += c.Took.Seconds()
		tc := junit.Testcase{Name: c.Name, Classname: "muster." + string(j), Time: seconds(c.Took.Seconds())}
		if why := cmp.Or(c.Skipped, c.Unjudged); why != "" {
			tc.Skipped = &junit.Result{Message: why}
		}
		if failed := about(v.Failures, j, c.Name); len(failed) > 0 {
			tc.Failure = &junit.Result{Message: failed[0].heading(), Type: failed[0].Class, Data: paragraphs(failed)}
		}
		told := append(about(v.Known, j, c.Name), about(v.Differences, j, c.Name)...)
		if len(told) > 0 {
			tc.SystemOut = &junit.Output{Data: paragraphs(told)}
		}
		suite.AddTestcase(tc)
	}
	if took, ok := v.took[j]; ok { // wall time; cases run side by side
		total = took.Seconds()
	}
	suite.Time = seconds(total)
	return suite
}

// casesOf are the judge's cases, with one for each finding that belongs to none of them, so that no failure goes untold.
func (v *Verdict) casesOf(j Judge) []Case {
	var cases []Case
	named := map[string]bool{}
	for _, c := range v.cases {
		if c.Judge == j {
			cases = append(cases, c)
			named[c.Name] = true
		}
	}
	for _, f := range v.findings {
		if f.Judge == j && !named[f.Scenario] {
			named[f.Scenario] = true
			cases = append(cases, Case{Judge: j, Name: f.Scenario})
		}
	}
	return cases
}

func about(findings []Finding, j Judge, scenario string) []Finding {
	var about []Finding
	for _, f := range findings {
		if f.Judge == j && f.Scenario == scenario {
			about = append(about, f)
		}
	}
	return about
}

func paragraphs(findings []Finding) string {
	var text string
	for _, f := range findings {
		text += f.paragraph()
	}
	return text + legends(findings)
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

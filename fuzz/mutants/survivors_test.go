package mutants

import (
	"strings"
	"testing"
)

func TestExplanations(t *testing.T) {
	why, err := parseExplanations("# Head.\na/b.go f: x => y\na/b.go g: *\n\tequivalent: it is\n\tthe same.\na/b.go h: x => y\n\tunseen: nobody looks.\n")
	if err != nil || len(why) != 2 {
		t.Fatal(why, err)
	}
	if e := why.Of("a/b.go f: x => y"); e == nil || e.Reason != Equivalent || e.Text != "it is the same." {
		t.Errorf("%+v", e)
	}
	if why.Of("a/b.go g: whatever => else") == nil || why.Of("a/b.go f: x => z") != nil {
		t.Error("a function as a whole, or a key alone")
	}
	for text, want := range map[string]string{
		"\tequivalent: so\n": "without a key", "k\n": "no reason", "k\n\tbecause: so\n": "is no reason", "k\nk\n\tequivalent: so\n": "twice",
	} {
		if _, err := parseExplanations(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Each fault of a table is told of.
func TestAgainst(t *testing.T) {
	why, err := parseExplanations("f g: a => b\n\tequivalent: so.\nf h: *\n\tunseen: so.\n")
	if err != nil {
		t.Fatal(err)
	}
	row := func(key, judge string) Outcome {
		return Outcome{Of: string(Core), Kind: "k", Key: key, Judge: judge, Judged: true}
	}
	sound := []Outcome{row("f g: a => b", ""), row("f h: c => d", "")}
	for range 40 {
		sound = append(sound, row("f i: e => f", "lock-step"))
	}
	if faults := against(sound, why); len(faults) > 0 {
		t.Errorf("a sound table is blamed: %q", faults)
	}
	own := append(sound[:len(sound):len(sound)], row("f h: 1 => 2", OwnTests), row("f i: g => h", OwnTests))
	if c := count(own, why); c.own != 2 || c.same != 1 {
		t.Errorf("own tests: %+v", c)
	}
	if c := count([]Outcome{row("f g: a => b", OwnTests)}, why); c.own != 0 || c.same != 1 {
		t.Errorf("own tests alone come to what is equivalent: %+v", c)
	}
	for name, test := range map[string]struct {
		all  []Outcome
		want string
	}{
		"unexplained":  {append(sound[:len(sound):len(sound)], row("f i: x => y", "")), "does not say why: f i: x => y"},
		"noticed":      {append([]Outcome{row("f g: a => b", "scenarios")}, sound[1:]...), "somebody does; take it out: f g: a => b"},
		"not there":    {sound[1:], "explains what is not there, or does not survive: f g: a => b"},
		"too many":     {append(sound[:10:10], row("f h: 1 => 2", ""), row("f h: 3 => 4", "")), "less than 95 %"},
		"none at all ": {sound[2:], "f h: *"},
	} {
		if faults := strings.Join(against(test.all, why), "\n"); !strings.Contains(faults, test.want) {
			t.Errorf("%s: %q, want %q", name, faults, test.want)
		}
	}
}

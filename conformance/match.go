package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

// Capabilities.Release of the reference coordinator: conditions hold for it as for Kafka 4.4.0, and quirks are not its own.
const (
	Reference        = "reference"
	referenceRelease = "4.4.0"
)

// candidates are the texts of a block that a target of that release may give, the recorded one first. A Kafka release must give what was
// recorded from it. The reference and strangers may give the contract of a quirk instead.
func candidates(b *script.Block, release string) []*script.Variant {
	as := release
	if release == Reference {
		as = referenceRelease
	}
	out := []*script.Variant{b.For(as)}
	if release != "" && release != Reference {
		return out
	}
	for i := range b.Variants {
		if b.Variants[i].Contract != "" {
			out = append(out, &b.Variants[i])
		}
	}
	return out
}

// accepted returns the candidate that matches, or nil.
func accepted(all []*script.Variant, got []string) *script.Variant {
	for _, v := range all {
		if v.Diff(got) < 0 {
			return v
		}
	}
	return nil
}

// alike are the block's texts that match although they are not meant for the target.
func alike(b *script.Block, expected []*script.Variant, got []string) []*script.Variant {
	var out []*script.Variant
	for i := range b.Variants {
		if v := &b.Variants[i]; v.Diff(got) < 0 && !slices.Contains(expected, v) {
			out = append(out, v)
		}
	}
	return out
}

// resembles tells a failure by the texts of other releases that are like it: whose they are, and the rule on which the releases differ. Of
// several the mildest counts, since any of them may be what the target does. A real Kafka that is not said to be one is no broken contract
// for what is right in its release.
func (f *Failure) resembles(alike []*script.Variant, expected *script.Variant) {
	rules, class := f.Rules, f.Class
	for i, v := range alike {
		f.Others = append(f.Others, whose(v))
		rule := v.Rule
		if v.Base() {
			rule = expected.Rule
		}
		told, as := f.told(rule)
		if i == 0 || severity(as) < severity(class) {
			rules, class = told, as
		}
	}
	f.Rules, f.Class = rules, class
}

// told are the failure's rules where the given one is what it is about, and its class. What some release answers is not what every
// release does, which is what compat says.
func (f *Failure) told(rule string) ([]string, string) {
	rules := f.Rules
	if rule != "" {
		rules = append([]string{rule}, slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return r == rule })...)
	}
	c := class(rules)
	if c == classic.Compat.String() {
		c = classic.Quirk.String()
	}
	return rules, c
}

func severity(class string) int {
	return slices.Index([]string{classic.Quirk.String(), classic.Compat.String(), classic.Contract.String()}, class)
}

// whose says whose text it is, for a person.
func whose(v *script.Variant) string {
	switch {
	case v.Contract != "":
		return "what the contract of " + v.Contract + " allows"
	case v.Base():
		return "Kafka " + script.BaseRelease
	}
	return fmt.Sprintf("Kafka %s: %s", strings.Trim(v.Title(), "[]"), v.Reason)
}

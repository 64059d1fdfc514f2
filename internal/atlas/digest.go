package atlas

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/stamp"
)

// textDigest tells whether a scenario is still the one that was run.
func textDigest(sc *conformance.Scenario) string {
	sum := sha256.Sum256(script.Print(sc.File))
	return fmt.Sprintf("%x", sum[:8])
}

// Digest is of all that docs/atlas.md is made from: releases, scenarios, explanations and the registers of the fakes.
func Digest(releases []string, scenarios []*conformance.Scenario, explanations []byte, fakes ...*conformance.Register) string {
	h := sha256.New()
	fmt.Fprintf(h, "releases %s\n", strings.Join(releases, " "))
	for _, sc := range scenarios {
		fmt.Fprintf(h, "scenario %s %s\n", sc.Name, textDigest(sc))
	}
	fmt.Fprintf(h, "explanations %d\n", len(explanations))
	h.Write(explanations)
	for _, fake := range fakes {
		for _, e := range fake.Entries {
			e.Line = 0
			fmt.Fprintf(h, "%s %+v\n", fake.Name, e)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// madeBy is the command that makes docs/atlas.md.
const madeBy = "make atlas"

// DigestIn finds the digest in the text of docs/atlas.md; "" if there is none.
func DigestIn(text string) string { return stamp.In(text, madeBy) }

// Package pairs has pairs of released Kafka versions of which one has a fault, or another behaviour, that the other has not, and tells them apart: by the
// scenario that is about it, and by muster diff alone, which is told of nothing but the two releases. docs/pairs.md says how that went.
package pairs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

// Pair is two releases and what they differ in.
type Pair struct {
	Name      string
	Bad, Good string // releases
	Issue     string // KAFKA-1234, or apache/kafka#123
	Rules     []string
	Offers    string // the API whose versions the two offer otherwise, where that is the difference
	Scenario  string
	What      string
}

//go:embed pairs.json
var list []byte

// All are the pairs that come with Muster.
func All() ([]Pair, error) {
	var all []Pair
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("internal/pairs/pairs.json: %w", err)
	}
	scenarios, err := conformance.Scenarios()
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		known := slices.ContainsFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == p.Scenario })
		again := slices.ContainsFunc(all[:i], func(o Pair) bool { return o.Name == p.Name })
		if p.Name == "" || p.Bad == "" || p.Good == "" || p.Issue == "" || p.What == "" || !known || again || (len(p.Rules) == 0) == (p.Offers == "") {
			return nil, fmt.Errorf("internal/pairs/pairs.json: pair %d (%s): want a name of its own, two releases, an issue, a scenario that there is, what it is about, and rules or an API", i+1, p.Name)
		}
		for _, id := range p.Rules {
			if _, ok := classic.FindRule(id); !ok {
				return nil, fmt.Errorf("internal/pairs/pairs.json: pair %s: there is no rule %s", p.Name, id)
			}
		}
	}
	return all, nil
}

// Settings are the broker settings that the difference takes, other than those that muster diff compares under; "" where it takes none.
func (p Pair) Settings(s *conformance.Scenario) string {
	if s.File.Profile == conformance.RestartProfile {
		return ""
	}
	return s.File.Profile
}

// Seen is what came of a pair.
type Seen struct {
	Digest string // of what was asked: see Digest
	Apart  Apart
	Needs  string `json:",omitempty"` // settings without which it does not show, so that muster diff was not asked
	Alone  *Alone `json:",omitempty"` // nil: muster diff was not asked
}

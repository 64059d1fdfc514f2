package classic

import "sort"

// Class says what breaking a rule means for the one who breaks it.
type Class uint8

const (
	// Contract rules protect data and liveness: breaking one loses data, hangs a member, splits the group or sends a client the
	// wrong way. Always a violation; no variation point may touch one.
	Contract Class = iota
	// Compat rules are what every release answers and a client might rely on: a difference, a failure under --strict.
	Compat
	// Quirk rules pin an accident of some releases that harms no client which follows the protocol; never demanded of others.
	Quirk
)

func (c Class) String() string { return [...]string{"contract", "compat", "quirk"}[c] }

// Rule is one sentence of the specification. Ids are never reused.
type Rule struct {
	ID       string
	Class    Class
	Sentence string
	Releases string // Kafka releases that were seen to follow it
	Source   string // where the fact comes from
	Suffers  string // what a client suffers where it is broken
}

// RuleID is the index of a rule in the registry: small, comparable, free to carry in a transition.
type RuleID uint8

// Rule returns the registry entry of id.
func (id RuleID) Rule() Rule { return registry[id] }

func (id RuleID) String() string { return registry[id].ID }

// Rules returns the whole registry, sorted by id.
func Rules() []Rule {
	rules := append([]Rule(nil), registry[:]...)
	sort.Slice(rules, func(i, j int) bool { return rules[i].ID < rules[j].ID })
	return rules
}

// FindRule returns the rule with the given id ("join.new.member-id-required").
func FindRule(id string) (RuleID, bool) {
	for i, r := range registry {
		if r.ID == id {
			return RuleID(i), true
		}
	}
	return 0, false
}

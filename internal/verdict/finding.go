package verdict

import "github.com/muster-kafka/muster/model/classic"

// Finding is one place where the target and the specification, or a recorded broker, part.
type Finding struct {
	Judge      Judge  `json:"judge"`
	Rule       string `json:"rule"`     // id of the broken rule; empty where no single rule can be named
	Class      string `json:"class"`    // contract, compat or quirk
	Scenario   string `json:"scenario"` // the scenario, or the file that holds what was seen
	Replay     string `json:"replay"`   // the command that shows it again
	Sentence   string `json:"sentence"` // the rule, in words
	Suffers    string `json:"suffers"`  // what a client suffers
	Text       string `json:"text"`     // what was sent, what was expected, what came
	Registered bool   `json:"registered"`
	Unsteady   bool   `json:"unsteady"`       // it did not show again when the scenario was run again, with more time
	Page       string `json:"page,omitempty"` // the file of the page that tells of it, of a history
	Kind       string `json:"kind"`           // of what is registered: bug or simplification
	Note       string `json:"note"`           // what the register says of it
	Releases   string `json:"releases"`       // those of Kafka that follow the rule

	Stranger bool `json:"-"` // of a history: the target is somebody else's, so the class decides as it does for scenarios
}

// KindBug is the kind of what Muster's authors registered as a bug of the target. Whatever the class of its rule, it is a failure: they have
// looked at what it does to a client.
const KindBug = "bug"

// described fills in what the specification knows of the finding's rule. A finding without a rule counts as a broken contract:
// what nobody can name is not thereby harmless.
func (f Finding) described() Finding {
	id, ok := classic.FindRule(f.Rule)
	if !ok {
		if f.Class == "" {
			f.Class = classic.Contract.String()
		}
		return f
	}
	rule := id.Rule()
	if f.Class == "" {
		f.Class = rule.Class.String()
	}
	if f.Sentence == "" {
		f.Sentence = rule.Sentence
	}
	if f.Suffers == "" {
		f.Suffers = rule.Suffers
	}
	if f.Releases == "" {
		f.Releases = rule.Releases
	}
	return f
}

// violates says whether the finding breaks something that the target owes its clients. The class decides that only for scenarios and for what two targets
// differ in, as these are others' own; a difference that is explained is no news. The other judges are at work on the reference coordinator, which is to be as the specification says to the
// letter: where the two part, one of them is wrong. An unsteady result that counts at all is a failure whatever its class: a rule that
// holds now and then is none.
func (f Finding) violates(strict bool) bool {
	if f.Judge == Diff && f.Registered {
		return false
	}
	if f.Judge != Scenarios && f.Judge != Diff && !f.Stranger || f.Unsteady || f.Kind == KindBug {
		return true
	}
	switch f.Class {
	case classic.Quirk.String():
		return false
	case classic.Compat.String():
		return strict
	default:
		return true
	}
}

package runs

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Asked is how a run is asked for, in names: whoever has it can make the same run again.
type Asked struct {
	Run        string   `json:"run"`               // of the catalogue, or a set
	Members    int      `json:"members,omitempty"` // of a set's own run
	Profile    string   `json:"profile,omitempty"` // one of Profiles or a release; empty is the run's own
	Properties []string `json:"properties,omitempty"`
	Without    []string `json:"without,omitempty"` // kinds of events
	Broken     string   `json:"broken,omitempty"`  // a rule
}

// Runs are the runs that are asked for.
func (a Asked) Runs() ([]Run, error) {
	found, err := Find(a.Run, a.Members)
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		if found[i], err = a.alter(r); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// alter is the run as it is asked for.
func (a Asked) alter(r Run) (Run, error) {
	r.asked = Asked{r.asked.Run, r.asked.Members, a.Profile, a.Properties, a.Without, a.Broken}
	if a.Profile != "" {
		p, err := ProfileOf(a.Profile)
		if err != nil {
			return r, err
		}
		if r.Joint != nil && p != classic.Reference {
			return r, fmt.Errorf("%s: the reference coordinator is explored, which is that of the contracts; leave --profile out", r.Name)
		}
		r = r.with(p)
	}
	if a.Broken != "" {
		rule, ok := classic.FindRule(a.Broken)
		if !ok {
			var ids []string
			for _, rule := range classic.Rules() {
				ids = append(ids, rule.ID)
			}
			return r, fmt.Errorf("there is no rule %q; muster rules lists them%s", a.Broken, meant(a.Broken, ids))
		}
		if can, why := classic.Breakable(rule); !can {
			return r, fmt.Errorf("the specification takes no decision by %s that could go wrong: %s", a.Broken, why)
		}
		r = r.breaking(rule)
	}
	if len(a.Without) > 0 {
		var kinds []classic.EventKind
		for _, name := range a.Without {
			k, err := Kind(name)
			if err != nil {
				return r, err
			}
			kinds = append(kinds, k)
		}
		var err error
		if r, err = r.without(kinds); err != nil {
			return r, err
		}
	}
	if len(a.Properties) > 0 {
		return r.asking(a.Properties)
	}
	return r, nil
}

// Asked is how the run is asked for.
func (r Run) Asked() Asked { return r.asked }

// Altered says whether the run is not as the catalogue has it, so that nothing is known of it.
func (r Run) Altered() bool { return r.altered }

// settings are all that makes the run what it is, as a digest.
func (r Run) settings() (string, error) {
	var group explore.Group
	var run clients.Run
	if r.Group != nil {
		group = *r.Group
		group.Watch = nil
	} else {
		run = *r.Clients
		run.Watch, run.Judging = nil, nil
	}
	text, err := json.Marshal(struct {
		Group   string
		Clients string
		Asked   Asked
	}{fmt.Sprintf("%+v", group), fmt.Sprintf("%+v", run), r.asked})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

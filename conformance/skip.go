package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// A reason to skip says in plain words what the target lacks, and after a colon what would let the scenario run. Where a version of a request
// is lacking, only that can.
const (
	onOurs  = "only on targets that Muster starts for the run"
	onFaces = "only where Muster starts the broker with them, on kafka:VERSION, impl and model"
)

// profileMeans says what the broker settings are for which a scenario names a profile.
var profileMeans = map[string]string{
	DefaultProfile:   "the settings of the harness's own brokers",
	DelayProfile:     "group.initial.rebalance.delay.ms=2000",
	FaultsProfile:    "a broker whose log refuses writes or that loses its groups when told to",
	RestartProfile:   "a broker that can be killed and started again",
	RetentionProfile: "offsets.retention.minutes=1",
	"size":           "group.max.size=2",
}

// featureMeans says what a scenario needs that requires the feature, and featureWhere what would let it run on an address, where that is
// left out although the target may have it.
var (
	featureMeans = map[target.Feature]string{
		target.Static:       "static members (group.instance.id)",
		target.Transactions: "transactions",
		target.OffsetDelete: "OffsetDelete",
		target.Operations:   "DescribeGroups to tell what a client may do with a group",
		target.Corners:      "an answer to what no client sends (a partition named twice, blanks in a filter)",
	}
	featureWhere = map[target.Feature]string{
		target.Transactions: "on an address they would leave transactional ids behind, which nobody can remove",
		target.OffsetDelete: "on an address no second topic is made for it",
	}
)

// Needs says in words what the scenario needs of a target beyond what each has.
func (s *Scenario) Needs() []string {
	var needs []string
	if p := s.File.Profile; p != "" {
		needs = append(needs, fmt.Sprintf("other broker settings, profile %s (%s): %s", p, profileMeans[p], onFaces))
	}
	for _, need := range s.File.Requires {
		words, _ := inWords(need)
		needs = append(needs, words)
	}
	return needs
}

// inWords is a word of "# requires:" as a sentence takes it.
func inWords(need string) (words string, known bool) {
	feature := target.Feature(need)
	switch {
	case need == "virtual":
		return "virtual time", true
	case need == "no-initial-delay":
		return "a first rebalance without delay", true
	case need == "own":
		return "a target on which nobody else has groups", true
	case need == "topic" || need == "t":
		return "a topic of two partitions", true
	case featureMeans[feature] != "":
		return featureMeans[feature], true
	}
	if key, version, ok := versioned(need); ok {
		return fmt.Sprintf("%s %d", key.Name(), version), true
	}
	return need, false
}

// Unaskable says why the scenario cannot be asked of such a target, as far as that is known without trying; empty if it can.
func (s *Scenario) Unaskable(caps target.Capabilities) string { return s.skip(caps, true).why() }

// skip says why the scenario cannot be asked of the target, before it is tried; empty if it can.
func (s *Scenario) skip(caps target.Capabilities, slow bool) *skipError {
	f := s.File
	if f.Profile != "" && f.Profile != caps.Profile {
		return skipf("needs %s", s.Needs()[0])
	}
	if f.Slow != "" && !caps.Virtual && !slow && !s.Asked {
		e := skipf("slow (runs with --slow, or by its name on muster run; Suite.Slow in a go test): %s", f.Slow)
		e.lacks.Time = true
		return e
	}
	if caps.Topics["t"] == "" && s.namesTopic() {
		return skipf(noTopic)
	}
	for _, need := range f.Requires {
		if reason := lacks(need, caps); reason != nil {
			return reason
		}
	}
	if f := s.unhappened(caps); f != "" {
		e := skipf("needs a broker that %s when told to, which this target cannot be made to do: impl and model can, and most releases that Muster starts", f)
		e.lacks.Fault = f
		return e
	}
	return s.unmet(caps)
}

// namesTopic reports whether the scenario commits or fetches offsets of the topic of the run.
func (s *Scenario) namesTopic() bool {
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			if slices.ContainsFunc(c.Words, func(w string) bool { return strings.HasPrefix(w, "t/") }) ||
				slices.ContainsFunc(c.Args, func(a script.Arg) bool { return strings.HasPrefix(a.Key, "t/") }) {
				return true
			}
		}
	}
	return false
}

// noTopic is why scenarios are skipped that commit offsets.
const noTopic = "needs a topic of two partitions, and none could be made for the run: give one that is there with --topic"

// lacks says what of a word of "# requires:" the target has not, and what would let the scenario run; empty if it has it.
func lacks(need string, caps target.Capabilities) *skipError {
	words, known := inWords(need)
	if !known {
		return skipf("requires %s, which this version of Muster does not know: take a newer one", need)
	}
	words = "needs " + words
	feature, stranger := target.Feature(need), caps.MaxGroups > 0
	key, version, apart := versioned(need)
	switch {
	case need == "virtual" && !caps.Virtual:
		return skipf("%s: only on impl and model", words)
	case need == "no-initial-delay" && caps.InitialDelay > 0:
		return skipf("%s, and the target waits %v: set group.initial.rebalance.delay.ms=0 on the broker", words, caps.InitialDelay)
	case need == "own" && stranger:
		return skipf("%s: %s", words, onOurs)
	case (need == "topic" || need == "t") && caps.Topics["t"] == "":
		return skipf(noTopic)
	case featureMeans[feature] != "" && !caps.Has(feature):
		if stranger && featureWhere[feature] != "" {
			return skipf("%s, and %s: %s", words, featureWhere[feature], onOurs)
		}
		return skipf("%s: only on targets that have that, which this one is known not to", words)
	case apart:
		if offered, told := caps.Versions[int16(key)]; told && offered.Max < version {
			return offers(key, version, offered)
		}
	}
	return nil
}

// offers names the versions of an API that the target has, and one that is needed: nothing else would let the scenario run.
func offers(key kmsg.Key, needed int16, offered target.VersionRange) *skipError {
	e := skipf("the target offers %s %d to %d, not %d", key.Name(), offered.Min, offered.Max, needed)
	e.lacks = Lack{API: key.Name(), Version: needed}
	return e
}

// without says why the target has no topic of that name.
func (r *run) without(topic string) string {
	switch {
	case topic == "t":
		return noTopic
	case r.caps.MaxGroups > 0:
		return fmt.Sprintf("needs a second topic (%s), and on an address Muster makes one only: %s", topic, onOurs)
	default:
		return fmt.Sprintf("needs a topic that scenarios call %s, which the target has not: only on targets whose Capabilities.Topics has it", topic)
	}
}

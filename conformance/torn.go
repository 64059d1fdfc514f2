package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What stands in a text where the connection gave no answer.
const (
	closedText     = "CONNECTION_CLOSED"
	unreadableText = "NO_READABLE_ANSWER"
)

// torn is an answer that could not be had, or not be read.
type torn struct{ api, why string }

// tear notes why a request has no answer that can be read.
func (r *run) tear(req *request, err error) {
	t := torn{api: kmsg.NameForKey(req.call.Request.Key())}
	t.why = fmt.Sprintf("%s v%d: %v", t.api, req.call.Version, err)
	if !slices.Contains(r.torn, t) {
		r.torn = append(r.torn, t)
	}
}

// tear notes that what differs is the connection: it ended, or what came is no answer. The texts alone do not say why, and where another
// answer is lost at each try that says nothing of a rule.
func (f *Failure) tear(r *run) {
	i := slices.IndexFunc(f.Got, func(line string) bool {
		return (strings.HasSuffix(line, closedText) || strings.HasSuffix(line, unreadableText)) && !slices.Contains(f.Expected, line)
	})
	if i < 0 || len(r.torn) == 0 {
		return
	}
	f.torn = fmt.Sprintf("%s, to %s", f.Got[i], r.torn[0].api)
	var why []string
	for _, t := range r.torn {
		why = append(why, t.why)
	}
	f.Note = more(f.Note, "No answer could be read to "+strings.Join(why, "; to ")+".")
}

// repeats reports whether the failure is one of those that were seen. Where connections break now and then, one that hits the same request twice may
// be chance: it takes three then.
func (f *Failure) repeats(seen []*Failure) bool {
	same, enough := 0, 2
	if f.torn != "" {
		enough = 3
	}
	for _, s := range seen {
		if s.Block == f.Block && s.torn == f.torn {
			same++
		}
	}
	return same >= enough
}

// scattered is the result of a scenario whose answers are lost now here, now there.
func (res Result) scattered(f *Failure, tries int) Result {
	return res.open(f, fmt.Sprintf("it failed in %d tries, not three times at the same place, and last because no answer could be read (%s): "+
		"something between Muster and the target, or the target, breaks connections; look into the target's log", tries, f.torn))
}

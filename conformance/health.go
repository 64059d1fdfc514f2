package conformance

import (
	"fmt"
	"sort"
	"sync"
	"time"
)

// health is what the scenarios of a suite have found out together: which of the runner's own requests the target does not answer. Waiting for
// each of them anew would make a run take for ever.
type health struct {
	mu   sync.Mutex
	apis map[string]*deafness

	nameless sync.Mutex // the group whose id is empty is one for all scenarios: those that ask for it run one at a time
}

// deafness is how often in a row, one after the other, an API was not answered.
type deafness struct {
	misses int
	until  time.Time // end of the last wait
	waited time.Duration
}

// maxMisses is after how many waits in a row a request is not sent any more. Waits at the same time count once: they have one cause.
const maxMisses = 3

func newHealth() *health { return &health{apis: map[string]*deafness{}} }

// deaf reports whether the runner does without the API.
func (h *health) deaf(api string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.apis[api]
	return d != nil && d.misses >= maxMisses
}

func (h *health) answered(api string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d := h.apis[api]; d != nil && d.misses < maxMisses {
		delete(h.apis, api)
	}
}

func (h *health) missed(api string, sent, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.apis[api]
	if d == nil {
		d = &deafness{}
		h.apis[api] = d
	}
	if sent.Before(d.until) {
		return
	}
	d.misses++
	d.until = now
	d.waited += now.Sub(sent)
}

// remarks are what a reader of the report has to know.
func (h *health) remarks() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for api, d := range h.apis {
		if d.misses < maxMisses {
			continue
		}
		lost := "silence alone tells whether a request was taken"
		if api != "describe" {
			lost = "groups are left behind"
		}
		out = append(out, fmt.Sprintf("%s was not answered %d times in a row, within %s; it was done without from then on: %s",
			apis[api].key.Name(), d.misses, d.waited.Round(time.Millisecond), lost))
	}
	sort.Strings(out)
	return out
}

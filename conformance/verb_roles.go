package conformance

import (
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("roles", &verb{
		example: "roles L F from B C",
		words: func(words []string) error {
			if len(words) < 5 || words[2] != "from" {
				return fmt.Errorf("name the role of the leader, that of the others, from, and two actors or more")
			}
			return actors(slices.Concat(words[:2], words[3:]))
		},
		run: runRoles,
	})
}

// roleCall names the coordinator's free choice of a leader: of the candidates the one that leads after the next join gets the role
// leader, the others follower, or follower1, follower2 and so on where there are several.
type roleCall struct {
	leader, follower string
	from             []*actor
}

func runRoles(r *run, c *script.Command) error {
	call := &roleCall{leader: c.Words[0], follower: c.Words[1]}
	for _, name := range c.Words[3:] {
		call.from = append(call.from, r.actor(name))
	}
	r.roles = call
	return nil
}

// decideRoles looks whether an answer names a candidate as leader.
func (r *run) decideRoles(leader string) {
	call := r.roles
	h, ok := r.names.byID[leader]
	if call == nil || !ok || !slices.Contains(call.from, h.actor) {
		return
	}
	r.roles = nil
	n := 0
	for _, a := range call.from {
		if a == h.actor {
			r.names.setRole(call.leader, a.name)
			continue
		}
		n++
		role := call.follower
		if len(call.from) > 2 {
			role = fmt.Sprintf("%s%d", role, n)
		}
		r.names.setRole(role, a.name)
	}
}

package conformance

import "sort"

// text renders the block: a line for each request in the order of sending, then the requests of earlier blocks that were answered
// meanwhile, by actor and verb. The lines of one command whose actors have roles are sorted: which of them was sent first says
// which actor got the role, and that is the coordinator's choice.
func (r *run) text() []string {
	type row struct {
		*line
		label, text string
	}
	rows := make([]row, len(r.lines))
	for i, l := range r.lines {
		rows[i] = row{l, r.label(l), r.render(l)}
	}
	byRole := map[int]bool{}
	for _, l := range r.lines {
		if l.req != nil && l.req.actor != nil {
			if _, ok := r.names.roles[l.req.actor.name]; ok {
				byRole[l.command] = true
			}
		}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if a.command != b.command {
			return a.command < b.command
		}
		if a.command == late || byRole[a.command] {
			return a.label < b.label
		}
		return false
	})
	out := make([]string, len(rows))
	for i, w := range rows {
		out[i] = w.label + ": " + w.text
		if w.text == "" {
			out[i] = w.label + ":"
		}
	}
	return out
}

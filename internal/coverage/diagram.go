package coverage

import (
	"fmt"
	"strings"
)

// The diagram is laid out by hand: where a state stands, how each way goes, and where its numbers are. It is narrow, so that a phone shows
// it whole. A way without a place in the table is drawn straight.
var places = map[State]point{
	Absent: {200, 40}, Empty: {200, 170}, PreparingRebalance: {82, 330}, CompletingRebalance: {318, 330}, Stable: {200, 490}, Loading: {200, 600},
}

type point struct{ x, y int }

type move struct{ from, to State }

// path is the shape of a way, and the middle of its numbers.
type path struct {
	d     string
	label point
}

var paths = map[move]path{
	{Absent, Empty}:                           {"M180 64V144", point{148, 98}},
	{Empty, Absent}:                           {"M220 146V66", point{252, 98}},
	{Absent, PreparingRebalance}:              {"M132 40Q52 60 52 304", point{70, 130}},
	{Absent, CompletingRebalance}:             {"M268 40Q348 60 348 304", point{334, 130}},
	{Empty, PreparingRebalance}:               {"M142 194L76 304", point{92, 226}},
	{PreparingRebalance, Empty}:               {"M104 306L168 196", point{128, 278}},
	{Empty, CompletingRebalance}:              {"M258 194L324 304", point{314, 226}},
	{CompletingRebalance, Empty}:              {"M296 306L232 196", point{270, 278}},
	{PreparingRebalance, CompletingRebalance}: {"M150 321H248", point{200, 315}},
	{CompletingRebalance, PreparingRebalance}: {"M250 339H152", point{200, 353}},
	{PreparingRebalance, Stable}:              {"M98 354L160 464", point{114, 424}},
	{Stable, PreparingRebalance}:              {"M142 466L76 356", point{92, 434}},
	{CompletingRebalance, Stable}:             {"M296 354L232 464", point{268, 384}},
	{Stable, CompletingRebalance}:             {"M258 466L324 356", point{316, 434}},
	{Stable, Empty}:                           {"M200 466V196", point{200, 250}},
	{Loading, Stable}:                         {"M200 576V516", point{234, 550}},
	{Loading, PreparingRebalance}:             {"M132 606Q44 560 50 356", point{52, 480}},
	{Loading, Empty}:                          {"M268 600C410 560 400 180 270 172", point{358, 500}},
	{Loading, Absent}:                         {"M268 612C440 600 420 40 270 32", point{352, 560}},
}

const (
	boxWidth, boxHeight = 136, 48

	style = `<style>
text{font:10px ui-sans-serif,system-ui,sans-serif;fill:#57606a;text-anchor:middle}.state{font-size:11px;font-weight:600;fill:#1f2328}
.on{fill:#0550ae}rect{fill:#f6f8fa;stroke:#57606a}.bg{fill:#fff;stroke:none}
path{fill:none;stroke:#8c959f}.seen{stroke:#0969da;stroke-width:1.5}.tip{fill:#57606a;stroke:none}
@media(prefers-color-scheme:dark){text{fill:#9198a1}.state{fill:#e6edf3}.on{fill:#79c0ff}rect{fill:#161b22;stroke:#9198a1}
.bg{fill:#0d1117}path{stroke:#6e7681}.seen{stroke:#4493f8}.tip{fill:#9198a1}}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker>
`
)

// Diagram draws the states of a group with how often scenarios, and exploration, went from one to another on a release.
func (t *Table) Diagram(release string) string {
	var b, labels strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 660" role="img" aria-label="The states of a group on Kafka %s">`+"\n", release)
	b.WriteString(style + `<rect class="bg" width="400" height="660"/>` + "\n")
	scenarios, explored := t.Visited[release].Moves, t.Explored[release].Moves
	for from := range states {
		for to := range states {
			p, fromDrawn := places[from]
			q, toDrawn := places[to]
			n, e := scenarios[from][to], explored[from][to]
			if from == to || !fromDrawn || !toDrawn || n+e == 0 {
				continue
			}
			way, drawn := paths[move{from, to}]
			if !drawn {
				way = path{fmt.Sprintf("M%d %dL%d %d", p.x, p.y, q.x, q.y), point{(p.x + q.x) / 2, (p.y + q.y) / 2}}
			}
			line, number := "", ""
			if n > 0 {
				line, number = ` class="seen"`, ` class="on"`
			}
			fmt.Fprintf(&b, `<path%s d="%s" marker-end="url(#tip)"/>`+"\n", line, way.d)
			text := few(n) + " / " + few(e)
			width := 6 * len(text) // so that lines do not run through the numbers
			fmt.Fprintf(&labels, `<rect class="bg" x="%d" y="%d" width="%d" height="12"/>`, way.label.x-width/2, way.label.y-9, width)
			fmt.Fprintf(&labels, `<text%s x="%d" y="%d">%s</text>`+"\n", number, way.label.x, way.label.y, text)
		}
	}
	for state := range states {
		at, drawn := places[state]
		if !drawn {
			continue
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`, at.x-boxWidth/2, at.y-boxHeight/2, boxWidth, boxHeight)
		fmt.Fprintf(&b, `<text class="state" x="%d" y="%d">%s</text>`, at.x, at.y-2, state)
		fmt.Fprintf(&b, `<text class="on" x="%d" y="%d">stays: %s / %s</text>`+"\n", at.x, at.y+14, few(scenarios[state][state]), few(explored[state][state]))
	}
	b.WriteString(labels.String())
	fmt.Fprintf(&b, `<text x="200" y="640">Kafka %s: steps of scenarios / of exploration.</text>`+"\n", release)
	b.WriteString(`<text x="200" y="653">Grey: exploration only. Giving a group up is not drawn.</text>` + "\n</svg>\n")
	return b.String()
}

// few is a number in about three digits: 417, 23k, 4.2M.
func few(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

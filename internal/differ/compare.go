package differ

import (
	"regexp"
	"slices"
	"strings"
)

// Difference is a block in which two texts part.
type Difference struct {
	Block int // from 0
	Verb  string
	A, B  string // the first lines that differ; "nothing" where there is none

	Signature string // the same for what is taken for the same difference: verb and both answers without what is accidental
	Dies      bool   // one side's process ends
	Choice    bool   // only which member leads, or which protocol: that may be a coordinator's free choice
}

// differences are the blocks in which the texts differ, in order, up to the shorter one's end.
func differences(seq Sequence, a, b [][]string) []Difference {
	var all []Difference
	for i := range min(len(a), len(b), len(seq.Lines)) {
		if slices.Equal(a[i], b[i]) {
			continue
		}
		all = append(all, difference(seq.Lines[i], i, a[i], b[i]))
	}
	return all
}

const nothing = "nothing"

func difference(line string, block int, a, b []string) Difference {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	d := Difference{Block: block, Verb: verb(line), A: lineAt(a, at), B: lineAt(b, at)}
	if la, lb := label(d.A), label(d.B); la != lb && d.A != nothing && d.B != nothing {
		// One side has a line more, in between: where the label of one comes later on the other side, that is the line of interest.
		switch {
		case slices.ContainsFunc(a[at:], func(l string) bool { return label(l) == lb }):
			d.B = nothing
		case slices.ContainsFunc(b[at:], func(l string) bool { return label(l) == la }):
			d.A = nothing
		}
	}
	for _, l := range []string{d.A, d.B} {
		if late := lateVerb.FindStringSubmatch(label(l)); late != nil {
			d.Verb = late[1] + " (of before)"
		}
	}
	d.Signature = d.Verb + ": " + parted(answer(d.A), answer(d.B))
	d.Choice = slices.Equal(unchosen(a), unchosen(b))
	return d
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return nothing
}

var lateVerb = regexp.MustCompile(`\((\w[\w-]*)\)$`)

func label(line string) string {
	l, _, _ := strings.Cut(line, ":")
	return l
}

func answer(line string) string {
	if _, rest, ok := strings.Cut(line, ":"); ok {
		return strings.TrimSpace(rest)
	}
	return line
}

var (
	actorRef   = regexp.MustCompile(`\b[A-Z][0-9]?('[0-9]+)?\b`)
	instances  = regexp.MustCompile(`@[a-z]+`)
	types      = regexp.MustCompile(`\b(consumer|connect)\b`)
	topics     = regexp.MustCompile(`\bu/`)
	numbers    = regexp.MustCompile(`\d+`)
	notes      = regexp.MustCompile(`:(n\d+|x{5,})`)
	byteString = regexp.MustCompile(`topics\([^)]*\)`)
)

// plain is an answer without what is accidental: who, how much, how often.
func plain(word string) string {
	word = notes.ReplaceAllString(word, ":note")
	word = byteString.ReplaceAllString(word, "m")
	word = instances.ReplaceAllString(word, "")
	word = topics.ReplaceAllString(word, "t/")
	word = types.ReplaceAllString(word, "T")
	word = strings.Replace(strings.Replace(word, "stranger", "X", 1), "?", "X", 1)
	word = actorRef.ReplaceAllString(word, "X")
	return numbers.ReplaceAllString(word, "n")
}

// words are those of an answer; what stands in brackets is one.
func words(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ' ' && depth == 0:
			if i > start {
				out = append(out, text[start:i])
			}
			start = i + 1
		case text[i] == '[':
			depth++
		case text[i] == ']':
			depth--
		}
	}
	return out
}

// parted is how two answers part: the first word, which is mostly an error, else what only one has.
func parted(a, b string) string {
	wa, wb := words(a), words(b)
	if len(wa) > 0 && len(wb) > 0 && wa[0] != wb[0] && !strings.Contains(wa[0]+wb[0], "/") {
		return plain(wa[0]) + " | " + plain(wb[0]) // the rest follows from that
	}
	wa, wb = opened(wa), opened(wb)
	one, other := kinds(without(wa, wb)), kinds(without(wb, wa))
	if one == other {
		one, other = one+" (one value)", other+" (another)"
	}
	return one + " | " + other
}

// pairs are the single ways in which two answers part: the first word, or words of the same name.
func pairs(a, b string) []string {
	wa, wb := words(a), words(b)
	if len(wa) > 0 && len(wb) > 0 && wa[0] != wb[0] && !strings.Contains(wa[0]+wb[0], "/") {
		return []string{plain(wa[0]) + " | " + plain(wb[0])}
	}
	wa, wb = opened(wa), opened(wb)
	left, right := without(wa, wb), without(wb, wa)
	var out []string
	for _, w := range left {
		key, value := named(w)
		at := slices.IndexFunc(right, func(o string) bool { k, _ := named(o); return k == key })
		theirs := ""
		if at >= 0 {
			_, theirs = named(right[at])
			right = slices.Delete(right, at, at+1)
		}
		out = append(out, ofAny(key)+" "+value+" | "+theirs)
	}
	for _, w := range right {
		key, value := named(w)
		out = append(out, ofAny(key)+"  | "+value)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// named is a word by what comes before its value, and the value without what is accidental.
func named(word string) (name, value string) {
	if strings.HasPrefix(word, "members=") {
		word, _, _ = strings.Cut(word, ":") // whoever it is, with whatever metadata
	}
	at := strings.IndexAny(word, ":=")
	if at < 0 {
		return word, ""
	}
	return word[:at], plain(word[at:])
}

// ofAny is a name without what is accidental; topics are all alike.
func ofAny(name string) string { return strings.Replace(plain(name), "nosuch/", "t/", 1) }

// opened has the entries of a list, each with the name of the list, in place of the list.
func opened(words []string) []string {
	var out []string
	for _, w := range words {
		open := strings.IndexByte(w, '[')
		if open < 0 || !strings.HasSuffix(w, "]") {
			out = append(out, w)
			continue
		}
		name := w[:open]
		for _, e := range strings.Fields(w[open+1 : len(w)-1]) {
			out = append(out, name+e)
		}
	}
	return out
}

// without are the words that others have not; one that comes twice counts twice.
func without(words, others []string) []string {
	left := slices.Clone(others)
	var out []string
	for _, w := range words {
		if i := slices.Index(left, w); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		out = append(out, w)
	}
	return out
}

// kinds are the words without what is accidental, each kind once.
func kinds(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, plain(w))
	}
	if len(out) == 0 {
		return "-"
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

var (
	ledBy    = regexp.MustCompile(` leader=(\S+)`)
	protocol = regexp.MustCompile(` protocol=\S+`)
	listed   = regexp.MustCompile(` members=\[[^\]]*\]`)
	metadata = regexp.MustCompile(`:[^ \]]+`)
)

// unchosen is a text without who leads, as far as it says that just one does, and without which protocol was voted for.
func unchosen(lines []string) []string {
	leaders, lists := map[string]bool{}, []string{}
	var out []string
	for _, l := range lines {
		m := ledBy.FindStringSubmatch(l)
		if m == nil {
			out = append(out, l)
			continue
		}
		leaders[m[1]] = true
		if all := listed.FindString(l); all != "" {
			lists = append(lists, metadata.ReplaceAllString(all, ""))
		}
		out = append(out, protocol.ReplaceAllString(listed.ReplaceAllString(ledBy.ReplaceAllString(l, ""), ""), ""))
	}
	if len(leaders) > 1 {
		out = append(out, "several leaders")
	}
	return append(out, lists...)
}

// Package nearest finds what a person may have meant by a name that nobody knows.
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// To is the name that is most like the given one, by its letters or by the words that it is made of; empty where none is like it.
func To(given string, names []string) string {
	best, least := "", max(2, len(given)/4)+1
	for _, n := range names {
		if d := distance(given, n); d < least {
			best, least = n, d
		}
	}
	if best != "" {
		return best
	}
	apart := func(r rune) bool { return r == '-' || r == '.' }
	words := strings.FieldsFunc(given, apart)
	most := 1 // a single word says little
	for _, n := range names {
		shared := 0
		for _, w := range strings.FieldsFunc(n, apart) {
			if slices.Contains(words, w) {
				shared++
			}
		}
		if shared > most {
			best, most = n, shared
		}
	}
	return best
}

// Slip is the one of the names that a key must be a slip of; empty without one. Short names are too like many others.
func Slip(key string, names []string) string {
	for _, n := range names {
		if len(n) >= 4 && distance(key, n) <= len(n)/4 || len(n) >= 6 && distance(key, n) <= 2 {
			return n
		}
	}
	return ""
}

// Sentences are those that have most words of the given text in common, up to so many of them, the likest first; none where no word says anything.
func Sentences(given string, all []string, most int) []string {
	type candidate struct {
		text   string
		shared int
	}
	words := make([][]string, len(all))
	for i, s := range all {
		words[i] = wordsOf(s)
	}
	found := make([]candidate, len(all))
	for i, s := range all {
		found[i].text = s
	}
	for _, w := range wordsOf(given) {
		var in []int
		for i := range all {
			if slices.ContainsFunc(words[i], func(o string) bool { return o == w || Slip(w, []string{o}) != "" }) {
				in = append(in, i)
			}
		}
		if len(in) > max(most, len(all)/4) { // such as "the"
			continue
		}
		for _, i := range in {
			found[i].shared++
		}
	}
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.shared == 0 })
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.shared, a.shared) })
	var out []string
	for _, c := range found[:min(most, len(found))] {
		out = append(out, c.text)
	}
	return out
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// distance is how many letters have to be put in, left out or changed to make one word the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := diagonal
			if a[i-1] != b[j-1] {
				changed++
			}
			diagonal = row[j]
			row[j] = min(changed, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

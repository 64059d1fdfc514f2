package script

import (
	"fmt"
	"strconv"
	"strings"
)

// Cond is a set of Kafka releases: "3.9", "<4.0", ">=4.4", "2.8..3.9", or several of them with commas between. A release is compared
// by as many numbers as the condition names, so that "3.9" and "<=3.9" hold for 3.9.2. The zero Cond holds for none.
type Cond struct {
	raw    string
	ranges []relRange
}

type relRange struct {
	lo, hi         release // nil where open
	loOpen, hiOpen bool    // the bound itself is not in the range
}

type release []int

// String is the condition as it was written, without brackets.
func (c Cond) String() string { return c.raw }

// ParseCond reads a condition without its brackets.
func ParseCond(s string) (Cond, error) {
	c := Cond{raw: s}
	for _, part := range strings.Split(s, ",") {
		r, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return Cond{}, err
		}
		c.ranges = append(c.ranges, r)
	}
	return c, nil
}

func parseRange(s string) (relRange, error) {
	var r relRange
	bound := func(text string) (release, error) {
		rel, ok := parseRelease(text)
		if !ok {
			return nil, fmt.Errorf("%q is not a release condition; write [3.9], [<4.0], [>=4.4] or [2.8..3.9]", s)
		}
		return rel, nil
	}
	var err error
	switch lo, hi, both := strings.Cut(s, ".."); {
	case both:
		if r.lo, err = bound(lo); err == nil {
			r.hi, err = bound(hi)
		}
	case strings.HasPrefix(s, "<="):
		r.hi, err = bound(s[2:])
	case strings.HasPrefix(s, "<"):
		r.hiOpen = true
		r.hi, err = bound(s[1:])
	case strings.HasPrefix(s, ">="):
		r.lo, err = bound(s[2:])
	case strings.HasPrefix(s, ">"):
		r.loOpen = true
		r.lo, err = bound(s[1:])
	default:
		r.lo, err = bound(s)
		r.hi = r.lo
	}
	return r, err
}

func parseRelease(s string) (release, bool) {
	parts := strings.Split(strings.TrimSpace(s), ".")
	if len(parts) > 4 {
		return nil, false
	}
	rel := make(release, len(parts))
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return nil, false
		}
		rel[i] = int(n)
	}
	return rel, true
}

// IsRelease reports whether s is a release number, "4.3.1".
func IsRelease(s string) bool {
	_, ok := parseRelease(s)
	return ok
}

// Holds says how narrowly the condition names the release: 0 not at all, and the larger the narrower.
func (c Cond) Holds(rel string) int {
	v, ok := parseRelease(rel)
	if !ok {
		return 0
	}
	best := 0
	for _, r := range c.ranges {
		best = max(best, r.holds(v))
	}
	return best
}

func (r relRange) holds(v release) int {
	if r.lo != nil {
		if d := v.compare(r.lo); d < 0 || d == 0 && r.loOpen {
			return 0
		}
	}
	if r.hi != nil {
		if d := v.compare(r.hi); d > 0 || d == 0 && r.hiOpen {
			return 0
		}
	}
	switch {
	case r.lo == nil || r.hi == nil:
		return 1
	case r.lo.compare(r.hi) != 0 || len(r.lo) != len(r.hi):
		return 2
	default:
		return 2 + len(r.lo)
	}
}

// compare looks at as many numbers as the bound has.
func (v release) compare(bound release) int {
	for i, b := range bound {
		n := 0
		if i < len(v) {
			n = v[i]
		}
		if n != b {
			if n < b {
				return -1
			}
			return 1
		}
	}
	return 0
}

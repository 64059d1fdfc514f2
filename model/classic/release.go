package classic

import (
	"fmt"
	"strconv"
	"strings"
)

// release is a version of Kafka.
type release [3]int

func (r release) before(o release) bool {
	for i := range r {
		if r[i] != o[i] {
			return r[i] < o[i]
		}
	}
	return false
}

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

// lastPatch is the newest patch of each minor release that the model describes.
var lastPatch = map[[2]int]int{
	{2, 4}: 1, {2, 5}: 1, {2, 6}: 3, {2, 7}: 2, {2, 8}: 2,
	{3, 0}: 2, {3, 1}: 2, {3, 2}: 3, {3, 3}: 2, {3, 4}: 1, {3, 5}: 2, {3, 6}: 2, {3, 7}: 2, {3, 8}: 1, {3, 9}: 2,
	{4, 0}: 2, {4, 1}: 2, {4, 2}: 2, {4, 3}: 1, {4, 4}: 0,
}

// javaSuffix asks for the Java coordinator where it is not the default.
const javaSuffix = "+java"

// ProfileFor returns the profile of a Kafka release: "4.3.1", "4.3" for the last patch of 4.3, "3.9+java" or "3.9.2+java" for Kafka 3.9
// with the Java coordinator switched on.
func ProfileFor(name string) (Profile, error) {
	text, java := strings.CutSuffix(name, javaSuffix)
	parts := strings.Split(text, ".")
	var r release
	if len(parts) < 2 || len(parts) > 3 {
		return Profile{}, fmt.Errorf("%q is not a Kafka release such as 4.3.1 or 4.3", name)
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return Profile{}, fmt.Errorf("%q is not a Kafka release such as 4.3.1 or 4.3", name)
		}
		r[i] = n
	}
	patch, known := lastPatch[[2]int{r[0], r[1]}]
	if !known {
		return Profile{}, fmt.Errorf("Kafka %s is not described; the releases from 2.4 to 4.4 are", name) //nolint:staticcheck // a name
	}
	if len(parts) == 2 {
		r[2] = patch
	}
	if !java {
		return profileOf(r, r.String()), nil
	}
	if r[0] != 3 || r[1] != 9 {
		return Profile{}, fmt.Errorf("the Java coordinator is described for Kafka 3.9 and, as the default, from 4.0 on; not for %s", name)
	}
	// Apart from its defects, which go by release, that coordinator is the one of 4.0; the operations are not its own.
	p := profileOf(release{4, 0, 0}, r.String()+javaSuffix)
	p.Defects = defectsOf(r, true)
	p.ConfigOperations = false
	return p, nil
}

func profileOf(r release, name string) Profile {
	p := Profile{Name: name, Defects: defectsOf(r, r[0] >= 4)}
	for _, v := range variations {
		*v.field(&p) = v.in.has(r)
	}
	return p
}

// span is a set of releases: from since (inclusive) up to until (exclusive); a zero end is open.
type span struct{ since, until release }

type spans []span

func (ss spans) has(r release) bool {
	for _, s := range ss {
		if !r.before(s.since) && (s.until == release{} || r.before(s.until)) {
			return true
		}
	}
	return false
}

// String names the releases of the set among those that the model describes.
func (ss spans) String() string {
	var out []string
	for _, s := range ss {
		switch {
		case s.since == release{} && s.until == release{}:
			out = append(out, "all")
		case s.since == release{}:
			out = append(out, "before "+s.until.String())
		case s.until == release{}:
			out = append(out, "from "+s.since.String())
		default:
			out = append(out, "from "+s.since.String()+" before "+s.until.String())
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

func before(major, minor, patch int) spans { return spans{{until: release{major, minor, patch}}} }
func from(major, minor, patch int) spans   { return spans{{since: release{major, minor, patch}}} }

// Either coordinator.
var (
	scalaOnly = before(4, 0, 0)
	javaOnly  = from(4, 0, 0)
	everyone  = spans{{}}
)

package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"slices"
	"sort"
)

// switchFile is added to each package that mutants are planted in.
const switchFile = "muster_mutant_switch.go"

const switchText = `package %s

import "github.com/muster-kafka/muster/fuzz/mutants/awake"

func musterAwake(id int) bool { return awake.Is(id) }

func musterOr(id int, was bool) bool { return was || awake.Is(id) }

func musterAnd(id int, was bool) bool { return was && !awake.Is(id) }

func musterSwap(id int, is, was bool) bool {
	if is != was && awake.Is(id) {
		return is
	}
	return was
}

func musterPick[T any](id int, is, was T) T {
	if awake.Is(id) {
		return is
	}
	return was
}

type musterInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func musterNever[T musterInteger](id int, was T) T {
	if awake.Is(id) {
		return 125
	}
	return was
}
`

// Planted are all mutants of a source tree, and the files in which they are planted.
type Planted struct {
	Mutants []Mutant
	Files   map[string][]byte // by slash-separated path from the root
	Dropped int               // do not compile
}

// Find finds all mutants of the tree at root and plants them. What does not compile is left out.
func Find(ctx context.Context, root string) (*Planted, error) {
	all, err := load(ctx, root)
	if err != nil {
		return nil, err
	}
	exports, err := exportData(ctx, root)
	if err != nil {
		return nil, err
	}
	p := &Planted{Files: map[string][]byte{}}
	next := 0
	for _, s := range all {
		var found []Mutant
		for _, f := range s.files {
			if skipped[f.path] == "" {
				found = append(found, s.find(f, &next)...)
			}
		}
		kept, files, err := s.compile(exports, found)
		if err != nil {
			return nil, err
		}
		p.Dropped += len(found) - len(kept)
		p.Mutants = append(p.Mutants, kept...)
		for name, text := range files {
			p.Files[name] = text
		}
	}
	return p, nil
}

// compile plants the mutants, leaving out one after the other those at which the compiler stumbles.
func (s *source) compile(exports map[string]string, found []Mutant) ([]Mutant, map[string][]byte, error) {
	added := map[string]string{path.Join(string(s.part), switchFile): fmt.Sprintf(switchText, s.name)}
	for {
		planted := &source{part: s.part, fset: token.NewFileSet()}
		spans := map[string][]span{}
		files := map[string][]byte{}
		for _, f := range s.files {
			var of []Mutant
			for _, m := range found {
				if m.File == f.path {
					of = append(of, m)
				}
			}
			text := f.text
			if len(of) > 0 {
				text, spans[f.path] = plant(f.text, of)
				files[f.path] = text
			}
			planted.files = append(planted.files, sourceFile{path: f.path, text: text})
		}
		err := planted.check(exports, added)
		if err == nil {
			for name, text := range added {
				files[name] = []byte(text)
			}
			return found, files, nil
		}
		stumbles := map[int]bool{}
		for _, fault := range faults(err) {
			at := planted.fset.Position(fault.Pos)
			if id := innermost(spans[at.Filename], at.Offset); id != 0 {
				stumbles[id] = true
			}
		}
		if len(stumbles) == 0 {
			return nil, nil, fmt.Errorf("%s with its mutants does not compile, and none of them is where it fails: %w", s.part, err)
		}
		found = slices.DeleteFunc(slices.Clone(found), func(m Mutant) bool { return stumbles[m.ID] })
	}
}

func faults(err error) (all []types.Error) {
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // errors.Join made it
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var fault types.Error
		if errors.As(e, &fault) {
			all = append(all, fault)
		}
	}
	return all
}

// span is where a mutant is in the text with all mutants.
type span struct{ id, from, to int }

// innermost is the mutant that is closest around the offset, or begins soon after it, or 0.
func innermost(spans []span, at int) (id int) {
	best := 1 << 30
	for _, s := range spans {
		if s.from <= at && at <= s.to && s.to-s.from < best {
			best, id = s.to-s.from, s.id
		}
	}
	if id == 0 {
		for _, s := range spans {
			if ahead := s.from - at; ahead > 0 && ahead < min(best, soon) {
				best, id = ahead, s.id
			}
		}
	}
	return id
}

// soon is how many bytes before a mutant the compiler may stumble over it.
const soon = 60

// plant writes the text with all mutants in it, each asleep, and tells where each is.
func plant(text []byte, all []Mutant) ([]byte, []span) {
	all = slices.Clone(all)
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].wrap, all[j].wrap
		if a.start != b.start {
			return a.start < b.start
		}
		return a.end > b.end
	})
	var out bytes.Buffer
	var spans []span
	var open []int // spans that are not closed, with the mutants
	ends := map[int]Mutant{}
	at := 0
	closeTo := func(limit int) {
		for len(open) > 0 {
			i := open[len(open)-1]
			m := ends[i]
			if m.wrap.end > limit {
				return
			}
			out.Write(text[at:m.wrap.end])
			at = m.wrap.end
			out.WriteString(m.wrap.after)
			spans[i].to = out.Len()
			open = open[:len(open)-1]
		}
	}
	for _, m := range all {
		closeTo(m.wrap.start)
		out.Write(text[at:m.wrap.start])
		at = m.wrap.start
		spans = append(spans, span{id: m.ID, from: out.Len()})
		ends[len(spans)-1] = m
		open = append(open, len(spans)-1)
		out.WriteString(m.wrap.before)
	}
	closeTo(len(text))
	out.Write(text[at:])
	return out.Bytes(), spans
}

package runs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/muster-kafka/muster/internal/input"
)

// Standing is what stands at a path where a checkpoint is to be written.
type Standing struct {
	Nothing bool
	Other   bool   // a file of another kind
	Run     string // of a checkpoint: how the run is called
	Depth   int    // how far that run came: how many steps the states are away that it goes on from
	States  int64  // and how many it had reached; 0 where that is not known
	Same    bool   // it is of the very run
	Build   string // which build of Muster has written it
}

// At says what stands at a path, where the run is to leave a checkpoint. One whose header cannot be read is nobody's any more, as if nothing were there.
func (r Run) At(ctx context.Context, path string) (Standing, error) {
	f, err := input.Open(ctx, path, mostBytes)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Standing{Nothing: true}, nil
	case errors.Is(err, input.ErrNotRegular):
		return Standing{Other: true}, nil
	case err != nil:
		return Standing{}, err
	}
	defer f.Close()
	b := bufio.NewReader(f)
	if first, err := b.Peek(len(magic)); err != nil || string(first) != magic {
		return Standing{Other: true}, nil
	}
	h, err := readHeader(b, path)
	if err != nil {
		return Standing{Nothing: true}, nil
	}
	name := h.Asked.Run
	if h.Asked.Members > 0 {
		name = fmt.Sprintf("%s, %d members", name, h.Asked.Members)
	}
	settings, err := r.settings()
	return Standing{Run: name, Depth: h.Depth, States: h.States, Same: h.Settings == settings, Build: h.Build}, err
}

// Kept says from where a run that was left can go on.
type Kept struct {
	Path    string
	Further *Standing // what an earlier attempt left there, which came further, so that it was kept; nil where the run's own checkpoint is there
}

// Keep saves where a run was left, as Save does, and replaces nothing that is worth more: of an attempt at the same run that came further, which is what the
// run is to go on from then, of another run, or of something else. Its own checkpoint comes beside that, under the next free number.
func Keep(ctx context.Context, path, build string, r Run, left *Left) (Kept, error) {
	for n := 1; ; n++ {
		at := numbered(path, n)
		there, err := r.At(ctx, at)
		switch {
		case err != nil:
			return Kept{}, err
		case there.Nothing:
		case there.Other, !there.Same:
			continue
		case there.States > 0 && there.Depth <= left.Search.Depth():
		case there.Build != build: // with which that one cannot go on
			continue
		default:
			if whole(ctx, at) == nil {
				return Kept{at, &there}, nil
			}
		}
		return Kept{Path: at}, Save(at, build, r, left)
	}
}

// numbered is a path with a number, for those that come after the first.
func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	name, isOurs := strings.CutSuffix(path, ".checkpoint")
	end := ""
	if isOurs {
		end = ".checkpoint"
	}
	return fmt.Sprintf("%s.%d%s", name, n, end)
}

package runs

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/internal/input"
)

// A checkpoint is a run that was left, as a file: a line that says what it is, a header, what is left of the search, and a sum of all of it.

const magic = "muster exploration 1\n"

// header tells what a checkpoint is of.
type header struct {
	Build    string          `json:"build"`
	Asked    Asked           `json:"asked"`
	Settings string          `json:"settings"` // a digest
	Depth    int             `json:"depth"`    // with States how far the run came; no states where nobody has written that down
	States   int64           `json:"states"`
	Healing  clients.Healing `json:"healing"`
	Reached  Reached         `json:"reached"`
}

// Build names this build of Muster, by its version and what it was made from: another one may explore otherwise, and what both have gone
// through would be nobody's.
func Build(version string) (string, error) {
	digest, err := executable()
	return version + " " + digest, err
}

var executable = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6]), nil
})

// sumBytes is what the sum takes at the end.
const sumBytes = 8

func newSum() hash.Hash64 { return crc64.New(crc64.MakeTable(crc64.ECMA)) }

// Save writes where a run was left. A file that is there already is replaced when the new one is whole.
func Save(path, build string, r Run, left *Left) (err error) {
	h := header{Build: build, Asked: r.asked, Healing: left.Healing, Reached: left.Reached, Depth: left.Search.Depth(), States: left.Search.States()}
	if h.Settings, err = r.settings(); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	sum := newSum()
	to := io.MultiWriter(f, sum)
	if _, err = to.Write(append(binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(text))), text...)); err != nil {
		return err
	}
	if err = left.Search.Write(to); err != nil {
		return err
	}
	if _, err = f.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64())); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// mostBytes bounds a checkpoint that is read: more is no checkpoint.
const mostBytes = 1 << 40

// Resume reads where a run was left.
func Resume(ctx context.Context, path, build string) (Run, *Left, error) {
	if err := whole(ctx, path); err != nil {
		return Run{}, nil, err
	}
	f, err := input.Open(ctx, path, mostBytes)
	if err != nil {
		return Run{}, nil, err
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, 1<<20)
	h, err := readHeader(b, path)
	if err != nil {
		return Run{}, nil, err
	}
	if h.Build != build {
		return Run{}, nil, fmt.Errorf("%s was written by another build of Muster (%s, this is %s), which may explore otherwise; go on with that one, or begin anew: muster explore --run '%s'",
			path, h.Build, build, h.Asked.Run)
	}
	found, err := h.Asked.Runs()
	if err != nil || len(found) != 1 {
		return Run{}, nil, fmt.Errorf("%s is of a run that is not known (%v): %w", path, h.Asked.Run, err)
	}
	if now, err := found[0].settings(); err != nil || now != h.Settings {
		return Run{}, nil, fmt.Errorf("%s was written by a run of other settings than %q has now; begin anew", path, found[0].Name)
	}
	rest, err := explore.ReadRest(b)
	if err != nil {
		return Run{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return found[0], &Left{rest, h.Healing, h.Reached}, nil
}

// whole says whether a file is a checkpoint, and nothing has happened to it.
func whole(ctx context.Context, path string) error {
	f, err := input.Open(ctx, path, mostBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, b := newSum(), bufio.NewReaderSize(f, 1<<20)
	if first, err := b.Peek(len(magic)); err != nil || string(first) != magic {
		return fmt.Errorf("%s is no checkpoint of this version of Muster: it does not begin with %q", path, magic)
	}
	for {
		part, err := b.Peek(1 << 16)
		if len(part) <= sumBytes {
			if len(part) < sumBytes || binary.LittleEndian.Uint64(part) != sum.Sum64() {
				return fmt.Errorf("%s is damaged, or was not written to its end: its sum is wrong; begin anew", path)
			}
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		sum.Write(part[:len(part)-sumBytes])
		if _, err := b.Discard(len(part) - sumBytes); err != nil {
			return err
		}
	}
}

// mostHeader bounds the header.
const mostHeader = 1 << 24

func readHeader(b *bufio.Reader, path string) (h header, err error) {
	first := make([]byte, len(magic)+8)
	if _, err := io.ReadFull(b, first); err != nil {
		return h, fmt.Errorf("%s: %w", path, err)
	}
	n := binary.LittleEndian.Uint64(first[len(magic):])
	if n > mostHeader {
		return h, fmt.Errorf("%s: a header of %d bytes", path, n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(b, text); err != nil {
		return h, fmt.Errorf("%s: %w", path, err)
	}
	return h, json.Unmarshal(text, &h)
}

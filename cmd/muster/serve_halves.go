package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/muster-kafka/muster/impl/store"
	"github.com/muster-kafka/muster/internal/files"
)

// halves are what a data folder consists of: groups and offsets, and kfake's topics and records. A note in the folder says that there have been both, since each makes
// itself anew where it finds nothing: offsets would be gone while their topics stay, or the other way round.
type halves struct{ dir string }

func (h halves) groups() string  { return filepath.Join(h.dir, "groups") }
func (h halves) records() string { return filepath.Join(h.dir, "kfake") }
func (h halves) note() string    { return filepath.Join(h.dir, "muster-serve.txt") }

const noteText = `muster serve --data keeps groups and offsets here in the folder groups, topics and records in kfake.
They belong together. While this file is here, the server does not start without one of them.
`

// check refuses a folder of which a half is gone. Where nobody has noted that there were two, it only says so.
func (h halves) check() (remark string, err error) {
	groups, records := holds(h.groups(), "marker.*"), holds(h.records(), "meta.json")
	gone, there, what := h.groups(), h.records(), "groups and offsets"
	if groups {
		gone, there, what = h.records(), h.groups(), "topics and records"
	}
	_, noted := os.Stat(h.note())
	switch {
	case groups && records && noted == nil:
		return "", h.topics()
	case groups && records || !groups && !records && errors.Is(noted, fs.ErrNotExist):
		return "", nil
	case errors.Is(noted, fs.ErrNotExist):
		return fmt.Sprintf("%s is there and %s is not, or is empty: begun without %s", there, gone, what), nil
	case groups || records:
		return "", fmt.Errorf("%s: %w: %s is gone, or empty, and %s is there; put a copy of it in its place, or remove %s to begin without %s", h.dir, store.ErrDamaged, gone, there, h.note(), what)
	}
	return "", fmt.Errorf("%s: %w: %s and %s are gone, or empty; put copies of them in their place, or remove %s to begin anew", h.dir, store.ErrDamaged, h.groups(), h.records(), h.note())
}

// topics refuses a half without the list of its topics, which kfake would begin without. It writes one whenever it begins.
func (h halves) topics() error {
	name := filepath.Join(h.records(), "topics.json")
	var list struct{ Topics json.RawMessage }
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone")
	}
	if err == nil && json.Unmarshal(b, &list) == nil && list.Topics == nil {
		err = errors.New("it lists no topics")
	}
	if err == nil { // what cannot be read kfake says
		return nil
	}
	return fmt.Errorf("%s: %w: %s, which says what topics there are: %w; put a copy of it in its place, or remove %s and %s to begin without topics", h.dir, store.ErrDamaged, name, err, h.records(), h.note())
}

// holds says whether a folder has one of the files that are in it as long as it is used.
func holds(dir, pattern string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // who reads it says what is wrong
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			return true
		}
	}
	return false
}

// begun notes that both are there.
func (h halves) begun() error {
	if _, err := os.Stat(h.note()); err == nil {
		return nil
	}
	return files.Save(h.note(), func(w io.Writer) error {
		_, err := io.WriteString(w, noteText)
		return err
	})
}

// without adds to an error that tells to move a half away what else there is to do then.
func (h halves) without(err error) error {
	if _, noted := os.Stat(h.note()); noted != nil || !strings.Contains(err.Error(), "move it away to begin without") {
		return err
	}
	return fmt.Errorf("%w (then remove %s, too)", err, h.note())
}

package conformance

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/input"
)

//go:embed scenarios/*.txt
var embedded embed.FS

// Scenario is one scenario file.
type Scenario struct {
	Name string // the file's name without .txt
	Path string // where it was read; for embedded ones relative to this package
	File *script.File

	BuiltIn bool // comes with Muster
	Asked   bool // was asked for by name: it runs even if it is slow
}

// Scenarios returns the scenarios that come with Muster, sorted by name.
func Scenarios() ([]*Scenario, error) {
	names, err := fs.Glob(embedded, "scenarios/*.txt")
	if err != nil {
		return nil, err
	}
	all, err := load(names, embedded.ReadFile)
	for _, s := range all {
		s.BuiltIn = true
	}
	return all, err
}

// Load reads scenarios from files, or from the *.txt files of folders.
func Load(paths ...string) ([]*Scenario, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		found, err := filepath.Glob(filepath.Join(p, "*.txt"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds no scenario, that is, no *.txt file", p)
		}
		files = append(files, found...)
	}
	return load(files, readFile)
}

// readFile reads a user's file.
func readFile(path string) ([]byte, error) { return input.Read(context.Background(), path, input.Text) }

func load(paths []string, read func(string) ([]byte, error)) ([]*Scenario, error) {
	var all []*Scenario
	for _, p := range paths {
		src, err := read(p)
		if err != nil {
			return nil, err
		}
		s, err := Parse(p, src)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Parse reads one scenario; the name of a message and of the scenario comes from the path.
func Parse(file string, src []byte) (*Scenario, error) {
	f, err := script.Parse(file, src, grammar())
	if err != nil {
		return nil, err
	}
	if err := checkFields(file, src); err != nil {
		return nil, err
	}
	s := &Scenario{Name: strings.TrimSuffix(path.Base(filepath.ToSlash(file)), ".txt"), Path: file, File: f}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// check finds commands of actors that never joined, which can only be slips.
func (s *Scenario) check() error {
	if err := s.checkRules(); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			if c.Verb == "restart" && s.File.Profile != RestartProfile {
				return &script.Error{File: s.File.Name, Line: c.Line, What: "only scenarios of the profile " + RestartProfile + " may restart the target"}
			}
			if c.Verb == "broker" && s.File.Profile != FaultsProfile {
				return &script.Error{File: s.File.Name, Line: c.Line, What: "only scenarios of the profile " + FaultsProfile + " may make something happen to the broker"}
			}
			for _, w := range c.Words {
				switch c.Verb {
				case "join", "form", "roles", "txn-begin", "txn-commit", "txn-end":
					known[w] = true
					if c.Verb == "roles" {
						for i := 1; i <= len(c.Words)-4; i++ {
							known[fmt.Sprintf("%s%d", c.Words[1], i)] = true
						}
					}
				default:
					name, _, _ := strings.Cut(w, "@")
					name, _, _ = strings.Cut(name, "'")
					if actorName.MatchString(name) && !known[name] {
						return s.slip(c, w)
					}
				}
			}
			for _, a := range c.Args {
				name, _, _ := strings.Cut(a.Value, "'")
				if (a.Key == "member" || a.Key == "as") && actorName.MatchString(name) && !known[name] {
					return s.slip(c, a.Value)
				}
				entry, _, _ := strings.Cut(a.Key, "'")
				if c.Verb == "sync" && actorName.MatchString(entry) && !known[entry] {
					return s.slip(c, a.Key)
				}
			}
		}
	}
	return s.checkProtocols()
}

func (s *Scenario) slip(c script.Command, who string) error {
	return &script.Error{
		File: s.File.Name, Line: c.Line, What: fmt.Sprintf("%s has not joined before this line", who),
		Example: "join " + who + " range=x",
	}
}

// scale is by how much the scenario's time is multiplied on the target. One that needs a broker profile is about durations that are the
// broker's own, so that nothing is scaled.
func (s *Scenario) scale(caps target.Capabilities) float64 {
	switch {
	case s.File.Profile != "":
		return 1
	case caps.Coarse > 0 && !caps.Virtual && !s.timed():
		return caps.Scale // how long the runner itself waits is of no matter
	case caps.Coarse > 0 && !caps.Virtual:
		return max(scale(caps), caps.Coarse.Seconds()/margin.Seconds())
	}
	return scale(caps)
}

// margin is the least time that scenarios keep from what a timer would do: 20 % of 10 s.
const margin = 2 * time.Second

// timed reports whether the scenario lets time pass.
func (s *Scenario) timed() bool {
	return slices.ContainsFunc(s.File.Blocks, func(b *script.Block) bool {
		return slices.ContainsFunc(b.Commands, func(c script.Command) bool { return c.Verb == "advance" || c.Verb == "at" })
	})
}

// groups are those that the scenario may have on the target at a time, by the names that it gives them.
func (s *Scenario) groups() map[string]bool {
	names := map[string]bool{mainGroup: true}
	for _, b := range s.File.Blocks {
		for i := range b.Commands {
			for _, g := range groupsOf(&b.Commands[i]) {
				names[g] = true
			}
		}
	}
	return names
}

// groupsOf are the groups that a command names.
func groupsOf(c *script.Command) (names []string) {
	for _, key := range []string{"group", "also"} {
		if g, ok := c.Arg(key); ok {
			names = append(names, g)
		}
	}
	if verbs[c.Verb].groups {
		names = append(names, c.Words...)
	}
	return names
}

// Estimate is how long the scenario lets time pass on the target.
func (s *Scenario) Estimate(caps target.Capabilities) time.Duration {
	var sum time.Duration
	if caps.Virtual {
		return 0
	}
	caps.Scale = s.scale(caps)
	first := caps.InitialDelay // of a group that joins make, one by one
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			switch c.Verb {
			case "advance":
				d, _ := time.ParseDuration(c.Words[0])
				if !c.Flag("unscaled") {
					d = time.Duration(float64(d) * caps.Scale)
				}
				sum += d
			case "form":
				first = 0
				sum += caps.InitialDelay + 2*caps.Settle
			case "at":
				d, _ := time.ParseDuration(c.Words[0])
				sum += time.Duration(float64(d) * caps.Scale) // at most: it counts from the mark
			case "restart":
				sum += restartTime
			case "join", "sync":
				sum += caps.Settle
			}
		}
	}
	return sum + first
}

package conformance

import (
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
)

//go:embed scenarios/*.txt
var embedded embed.FS

// Scenario is one scenario file.
type Scenario struct {
	Name string // the file's name without .txt
	Path string // where it was read; for embedded ones relative to this package
	File *script.File
}

// Scenarios returns the scenarios that come with Muster, sorted by name.
func Scenarios() ([]*Scenario, error) {
	names, err := fs.Glob(embedded, "scenarios/*.txt")
	if err != nil {
		return nil, err
	}
	return load(names, embedded.ReadFile)
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
	return load(files, os.ReadFile)
}

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
	s := &Scenario{Name: strings.TrimSuffix(path.Base(filepath.ToSlash(file)), ".txt"), Path: file, File: f}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// check finds commands of actors that never joined, which can only be slips.
func (s *Scenario) check() error {
	known := map[string]bool{}
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			for _, w := range c.Words {
				switch c.Verb {
				case "join", "form", "roles":
					known[w] = true
					if c.Verb == "roles" {
						for i := 1; i <= len(c.Words)-4; i++ {
							known[fmt.Sprintf("%s%d", c.Words[1], i)] = true
						}
					}
				default:
					name, _, _ := strings.Cut(w, "'")
					if actorName.MatchString(name) && !known[name] {
						return s.slip(c, w)
					}
				}
			}
			for _, a := range c.Args {
				name, _, _ := strings.Cut(a.Value, "'")
				if (a.Key == "member" || a.Key == "by") && actorName.MatchString(name) && !known[name] {
					return s.slip(c, a.Value)
				}
				if c.Verb == "sync" && actorName.MatchString(a.Key) && !known[a.Key] {
					return s.slip(c, a.Key)
				}
			}
		}
	}
	return nil
}

func (s *Scenario) slip(c script.Command, who string) error {
	return &script.Error{
		File: s.File.Name, Line: c.Line, What: fmt.Sprintf("%s has not joined before this line", who),
		Example: "join " + who + " range=x",
	}
}

// groups is how many groups the scenario may have on the target at a time.
func (s *Scenario) groups() int {
	names := map[string]bool{mainGroup: true}
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			if g, ok := c.Arg("group"); ok {
				names[g] = true
			}
		}
	}
	return len(names)
}

// Estimate is how long the scenario lets time pass on the target.
func (s *Scenario) Estimate(caps target.Capabilities) time.Duration {
	var sum time.Duration
	if caps.Virtual {
		return 0
	}
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			switch c.Verb {
			case "advance":
				d, _ := time.ParseDuration(c.Words[0])
				if !c.Flag("unscaled") {
					d = time.Duration(float64(d) * scale(caps))
				}
				sum += d
			case "form":
				sum += caps.InitialDelay + 2*caps.Settle
			case "join", "sync":
				sum += caps.Settle
			}
		}
	}
	return sum + caps.InitialDelay
}

// skip says why the scenario cannot be asked of the target, before it is tried; empty if it can.
func (s *Scenario) skip(caps target.Capabilities, slow bool) string {
	f := s.File
	if f.Profile != "" && f.Profile != caps.Profile {
		return fmt.Sprintf("needs a broker of profile %s", f.Profile)
	}
	if f.Slow != "" && !caps.Virtual && !slow {
		return "slow: " + f.Slow
	}
	for _, need := range f.Requires {
		ok, known := requirement(need, caps)
		if !known {
			return fmt.Sprintf("requires %s, which this version of Muster does not know", need)
		}
		if !ok {
			return "requires " + need
		}
	}
	return ""
}

// requirement looks at a word of "# requires:".
func requirement(need string, caps target.Capabilities) (ok, known bool) {
	switch {
	case need == "virtual":
		return caps.Virtual, true
	case need == "no-initial-delay":
		return caps.InitialDelay == 0, true
	case slices.Contains([]string{"topic", "t"}, need):
		return caps.Topics["t"] != "", true
	}
	return false, false
}

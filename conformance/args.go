package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
)

// What arguments may be is looked at when a file is loaded: a slip must be told with its line before anything is sent.

const (
	maxDuration = 24 * time.Hour // of what clients choose; an int32 of milliseconds holds it on the slowest target
	maxStep     = 1_000_000      // of gen=+N and gen=-N
	maxRepeat   = 1 << 16        // of x*N
)

// checkDuration looks at session= and rebalance=.
func checkDuration(key, value string) error {
	if _, named := sessionBound(value); named {
		if key == "session" {
			return nil
		}
		return fmt.Errorf("the target's bounds are those of session=; use a duration such as 10s")
	}
	d, err := time.ParseDuration(value)
	if err == nil && (d < 0 || d > maxDuration) {
		err = fmt.Errorf("it is not between 0 and %s", maxDuration)
	}
	return err
}

// checkVersion looks at v= of a verb, and at the versions that group sets.
func checkVersion(verb, value string) error {
	n, err := strconv.ParseUint(value, 10, 15)
	if err != nil {
		return fmt.Errorf("use a version number such as 3")
	}
	switch verb {
	case "leave-batch":
		verb = "leave"
	case "form":
		verb = "join"
	}
	if a, ok := apis[verb]; ok && n > uint64(a.max) {
		return fmt.Errorf("scenarios speak %s up to version %d", a.key.Name(), a.max)
	}
	return nil
}

// checkOwn looks at the arguments that only their verb knows.
func checkOwn(c *script.Command, a script.Arg) error {
	var err error
	switch {
	case c.Verb == "commit" && strings.Contains(a.Key, "/"):
		_, _, err = committed(a.Value)
	case c.Verb == "group" && apis[a.Key].verb != "":
		err = checkVersion(a.Key, strings.TrimPrefix(a.Value, "v"))
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", a.Key, a.Value, err)
	}
	return nil
}

// committed reads OFFSET:METADATA, where metadata of many letters is written x*4097.
func committed(value string) (offset int64, note string, err error) {
	number, note, _ := strings.Cut(value, ":")
	if offset, err = strconv.ParseInt(number, 10, 64); err != nil {
		return 0, "", fmt.Errorf("the offset is no number of 64 bits; write t/0=5, or t/0=5:note")
	}
	what, times, ok := strings.Cut(note, "*")
	if !ok {
		return offset, note, nil
	}
	n, err := strconv.ParseUint(times, 10, 32)
	if err != nil || n == 0 || n*uint64(len(what)) > maxRepeat {
		return 0, "", fmt.Errorf("metadata is repeated as in x*4097, to at most %d bytes", maxRepeat)
	}
	return offset, strings.Repeat(what, int(n)), nil
}

// checkProtocols finds joins of actors that have named no protocol.
func (s *Scenario) checkProtocols() error {
	has := map[string]bool{}
	for _, b := range s.File.Blocks {
		for i := range b.Commands {
			c := &b.Commands[i]
			switch c.Verb {
			case "form", "roles":
				for _, w := range c.Words {
					has[w] = true
				}
				for n := 1; c.Verb == "roles" && n <= len(c.Words)-3; n++ {
					has[fmt.Sprintf("%s%d", c.Words[1], n)] = true
				}
			case "join":
				for _, w := range c.Words {
					if len(protocols(c)) > 0 {
						has[w] = true
					}
					if !has[w] && !c.Flag("empty") {
						return &script.Error{
							File: s.File.Name, Line: c.Line, What: fmt.Sprintf("%s has no protocol yet", w), Example: "join " + w + " range=x",
						}
					}
				}
			}
		}
	}
	return nil
}

package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/nearest"
)

// verb is one thing that a scenario can do. Each has a file of its own.
type verb struct {
	example string
	keys    []string              // the key=value arguments it knows
	open    func(key string) bool // further keys: protocol names, actors, partitions
	flags   []string
	words   func([]string) error // what its words may be; nil: none
	groups  bool                 // its words are groups
	run     func(*run, *script.Command) error
}

// verbs is filled by the verbs' files.
var verbs = map[string]*verb{}

func register(name string, v *verb) { verbs[name] = v }

// grammar is what the parser is told of the verbs.
func grammar() script.Verbs {
	g := script.Verbs{}
	for name, v := range verbs {
		g[name] = script.Verb{Example: v.example, Check: v.check}
	}
	return g
}

func (v *verb) check(c *script.Command) error {
	if v.words == nil && len(c.Words) > 0 {
		return fmt.Errorf("%s takes no word such as %q", c.Verb, c.Words[0])
	}
	if v.words != nil {
		if err := v.words(c.Words); err != nil {
			return err
		}
	}
	for _, a := range c.Args {
		if !slices.Contains(v.keys, a.Key) && (v.open == nil || !v.open(a.Key)) {
			return fmt.Errorf("%s does not know %s=; it knows %s", c.Verb, a.Key, strings.Join(v.keys, "= ")+"=")
		}
		if meant := nearest.Slip(a.Key, v.keys); meant != "" && !slices.Contains(v.keys, a.Key) {
			return fmt.Errorf("%s= is no argument of %s, and as a name of your own it is too like %s=; write %s=, or choose another name", a.Key, c.Verb, meant, meant)
		}
		if err := checkValue(c.Verb, a); err != nil {
			return err
		}
		if err := checkOwn(c, a); err != nil {
			return err
		}
	}
	for _, f := range c.Flags {
		if !slices.Contains(v.flags, f) {
			return fmt.Errorf("%s does not know -%s", c.Verb, f)
		}
	}
	return nil
}

// checkValue looks at the arguments that mean the same with every verb.
func checkValue(verb string, a script.Arg) error {
	var err error
	switch a.Key {
	case "v":
		err = checkVersion(verb, a.Value)
	case "gen":
		_, err = parseGen(a.Value, 0)
	case "session", "rebalance":
		err = checkDuration(a.Key, a.Value)
	case "retention":
		err = checkDuration(a.Key, a.Value)
	case "as":
		err = actors([]string{a.Value})
	case "static":
		if !groupName.MatchString(a.Value) {
			err = fmt.Errorf("use a word that begins with a small letter, own for the actor's name, none to leave it out, or empty for the empty string")
		}
	case "member", "by":
		if !isMember(a.Value) {
			err = fmt.Errorf("use an actor (A), an older id of one (A'1), none or stranger")
		}
	case "group", "also":
		if !groupName.MatchString(a.Value) {
			err = fmt.Errorf("use a word that begins with a small letter, or none for the empty group id")
		}
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", a.Key, a.Value, err)
	}
	return nil
}

var (
	actorName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,7}$`)
	memberRef = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,7}'[1-9][0-9]?$`)
	groupName = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,15}$`)
)

func isMember(s string) bool {
	return s == "none" || s == "stranger" || actorName.MatchString(s) || memberRef.MatchString(s)
}

// actors are words that name at least one actor.
func actors(words []string) error {
	for _, w := range words {
		if !actorName.MatchString(w) {
			return fmt.Errorf("%q is not an actor: a capital letter, then letters and digits", w)
		}
	}
	if len(words) == 0 {
		return fmt.Errorf("name an actor")
	}
	return nil
}

// oneCaller is an actor, or - for nobody.
func oneCaller(words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("name one actor, or - for a request of nobody")
	}
	if words[0] == "-" {
		return nil
	}
	return actors(words)
}

func groupNames(words []string) error {
	for _, w := range words {
		if !groupName.MatchString(w) {
			return fmt.Errorf("%q is not a group: a word that begins with a small letter; %q is the scenario's own", w, mainGroup)
		}
	}
	return nil
}

// version is the v=N argument, -1 without one.
func version(c *script.Command) int16 {
	if s, ok := c.Arg("v"); ok {
		n, _ := strconv.ParseInt(s, 10, 16)
		return int16(n)
	}
	return -1
}

// groupArg is the scenario's name of the group that a request goes to: group=NAME, else the actor's.
func groupArg(c *script.Command, a *actor) string {
	if g, ok := c.Arg("group"); ok {
		return g
	}
	if a != nil {
		return a.group
	}
	return mainGroup
}

// instance is the group.instance.id that a word stands for.
func instance(word, actor string) *string {
	switch word {
	case "none":
		return nil
	case "own":
		word = strings.ToLower(actor)
	case "empty":
		word = ""
	}
	return &word
}

// instanceArg is the group.instance.id that a request carries: static=WORD, else the actor's.
func instanceArg(c *script.Command, a *actor) *string {
	s, ok := c.Arg("static")
	switch {
	case ok && a != nil:
		return instance(s, a.name)
	case ok:
		return instance(s, "")
	case a != nil:
		return a.instance
	}
	return nil
}

// memberArg is the member id that a request carries: member=WHO, else the given one.
func (r *run) memberArg(c *script.Command, own string) (string, error) {
	who, ok := c.Arg("member")
	if !ok {
		return own, nil
	}
	return r.memberID(who)
}

// memberID is the id that an actor's name, an older id's name, none or stranger stands for.
func (r *run) memberID(who string) (string, error) {
	switch who {
	case "none":
		return "", nil
	case "stranger":
		return strangerID, nil
	}
	name, older, isOlder := strings.Cut(who, "'")
	a := r.actor(name)
	if len(a.ids) == 0 {
		return "", fmt.Errorf("%s was never given a member id", name)
	}
	if !isOlder {
		return a.id(), nil
	}
	n, _ := strconv.Atoi(older)
	if n > len(a.ids) {
		return "", fmt.Errorf("%s was given %d member ids only", name, len(a.ids))
	}
	return a.ids[n-1], nil
}

// genArg is the generation that a request carries.
func genArg(c *script.Command, own int32) int32 {
	if s, ok := c.Arg("gen"); ok {
		g, _ := parseGen(s, own)
		return g
	}
	return own
}

// parseGen reads a generation: a number, none, or a step from the actor's own (+1, -1).
func parseGen(s string, own int32) (int32, error) {
	if s == "none" {
		return -1, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("use a number, none, or a step such as +1 or -1")
	}
	if s[0] == '+' || s[0] == '-' {
		if n > maxStep || n < -maxStep {
			return 0, fmt.Errorf("a step is %d at most", maxStep)
		}
		return own + int32(n), nil
	}
	return int32(n), nil
}

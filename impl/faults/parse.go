package faults

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/internal/nearest"
)

// maxDelay bounds how long a line may hold something up.
const maxDelay = time.Hour

// Parse reads a text with a fault on each line. The file's name is for errors, all of which are returned; apis are those whose requests can come, nodes is how many
// there are to name, 0 where that is not known yet.
func Parse(file, text string, apis []kmsg.Key, nodes int) (*Set, error) {
	s := &Set{}
	var errs []error
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") { // which some editors put before all
		p := parser{apis: apis, nodes: nodes}
		f, err := p.line(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, i+1, err))
		} else if f != nil {
			f.File, f.Line = file, i+1
			s.faults = append(s.faults, f)
		}
	}
	return s, errors.Join(errs...)
}

// parser reads one line.
type parser struct {
	words []word
	apis  []kmsg.Key
	nodes int // 0: any number

	bare string // the name that was read last, if nothing was since and it had no quotes
}

type word struct {
	text   string
	quoted bool
}

func (p *parser) line(line string) (*Fault, error) {
	text, err := p.split(line)
	if err != nil || len(p.words) == 0 {
		return nil, err
	}
	f := &Fault{Text: text}
	verb, err := p.choose("drop", "delay", "close", "answer", "fail", "move")
	if err != nil {
		return nil, err
	}
	switch verb {
	case "drop", "delay":
		err = p.transit(f, verb)
	case "close":
		err = p.hangUp(f)
	case "answer":
		f.Action = Answer
		if err = p.which(f); err == nil {
			err = p.code(f)
		}
		if _, ok := core.Versions()[f.API]; err == nil && !ok {
			err = fmt.Errorf("%s cannot be answered with an error here: it is no API of groups", f.API.Name())
		}
	case "fail":
		err = p.write(f)
	case "move":
		err = p.move(f)
	}
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%q: the line should have ended before it%s", p.words[0].text, p.quotes())
	}
	return f, err
}

// split cuts a line into words, without "the" and what comes after #. Words with blanks are quoted as in Go.
func (p *parser) split(line string) (text string, err error) {
	rest := strings.TrimSpace(line)
	whole := rest
	for rest != "" && !strings.HasPrefix(rest, "#") {
		w := word{text: rest}
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return "", fmt.Errorf(`%s: a quote without its end; "..." quotes as in Go`, rest)
			}
			w.text, _ = strconv.Unquote(quoted)
			w.quoted, rest = true, rest[len(quoted):]
		} else if i := strings.IndexAny(rest, " \t\r"); i >= 0 {
			w.text, rest = rest[:i], rest[i:]
		} else {
			rest = ""
		}
		if w.quoted || w.text != "the" {
			p.words = append(p.words, w)
		}
		rest = strings.TrimSpace(rest)
	}
	return strings.TrimSpace(strings.TrimSuffix(whole, rest)), nil
}

// next takes the next word if it is one of these; without words it takes any.
func (p *parser) next(want ...string) (string, bool) {
	if len(p.words) == 0 || len(want) > 0 && (p.words[0].quoted || !slices.Contains(want, p.words[0].text)) {
		return "", false
	}
	w := p.words[0]
	p.words, p.bare = p.words[1:], ""
	return w.text, true
}

// choose takes the next word, which has to be one of these.
func (p *parser) choose(want ...string) (string, error) {
	if w, ok := p.next(want...); ok {
		return w, nil
	}
	return "", p.unexpected(want, strings.Join(want, ", "))
}

// unexpected says what should have come, and what may have been meant.
func (p *parser) unexpected(names []string, want string) error {
	if len(p.words) == 0 {
		return fmt.Errorf("the line ends where %s should come", want)
	}
	hint := ""
	if near := nearest.To(p.words[0].text, names); near != "" {
		hint = "; do you mean " + near + "?"
	}
	return fmt.Errorf("%q: want %s%s%s", p.words[0].text, want, hint, p.quotes())
}

// quotes is a hint where a word that should not come stands behind a name, of which it may be a part.
func (p *parser) quotes() string {
	if p.bare == "" {
		return ""
	}
	return fmt.Sprintf("; a name with blanks stands in quotes: %q", p.bare+" "+p.words[0].text)
}

func (p *parser) name(of string) (*string, error) {
	quoted := len(p.words) > 0 && p.words[0].quoted
	w, ok := p.next()
	if !ok {
		return nil, p.unexpected(nil, "the name of a "+of)
	}
	if !quoted {
		p.bare = w
	}
	return &w, nil
}

func (p *parser) duration() (time.Duration, error) {
	if len(p.words) > 0 {
		if d, err := time.ParseDuration(p.words[0].text); err == nil && d > 0 && d <= maxDelay {
			p.words = p.words[1:]
			return d, nil
		}
	}
	return 0, p.unexpected(nil, "a duration of at most an hour, such as 500ms or 2s")
}

func (p *parser) node() (*int32, error) {
	if len(p.words) > 0 {
		if n, err := strconv.ParseInt(p.words[0].text, 10, 32); err == nil && n >= 0 {
			p.words = p.words[1:]
			id := int32(n)
			if p.nodes > 0 {
				err = exists(id, p.nodes)
			}
			return &id, err
		}
	}
	return nil, p.unexpected(nil, "the number of a node, from 0 on")
}

var (
	ordinal  = regexp.MustCompile(`^([1-9][0-9]{0,8})(st|nd|rd|th)$`)
	numbered = regexp.MustCompile(`^-?[0-9]`) // no API's name begins so
)

// ordinal reads "3rd", "every" or "every 3rd".
func (p *parser) ordinal(f *Fault) error {
	_, every := p.next("every")
	if len(p.words) > 0 && !p.words[0].quoted {
		if m := ordinal.FindStringSubmatch(p.words[0].text); m != nil {
			p.words = p.words[1:]
			n, _ := strconv.Atoi(m[1])
			if m[2] != ending(n) {
				return fmt.Errorf("%q: want %d%s", m[0], n, ending(n))
			}
			if every {
				f.every = n
			} else {
				f.nth = n
			}
			return nil
		}
	}
	if len(p.words) > 0 && !p.words[0].quoted && numbered.MatchString(p.words[0].text) {
		return fmt.Errorf("%q: want 1st, 2nd, 3rd and so on, up to 999999999th", p.words[0].text)
	}
	if every {
		return nil
	}
	return p.unexpected([]string{"every"}, "which one: 1st, 2nd, ... or every")
}

// ending is what makes a number an ordinal, as in 1st, 11th, 21st.
func ending(n int) string {
	if n%100/10 != 1 && n%10 >= 1 && n%10 <= 3 {
		return [...]string{"st", "nd", "rd"}[n%10-1]
	}
	return "th"
}

// which reads the requests that are meant.
func (p *parser) which(f *Fault) error {
	if err := p.ordinal(f); err != nil {
		return err
	}
	names := make([]string, len(p.apis))
	for i, key := range p.apis {
		names[i] = key.Name()
	}
	if len(p.words) == 0 || !slices.Contains(names, p.words[0].text) {
		return p.unexpected(names, "the name of an API that is served here, such as JoinGroup")
	}
	w, _ := p.next()
	f.API = p.apis[slices.Index(names, w)]
	return p.whose(f)
}

// whose reads what the requests have to have.
func (p *parser) whose(f *Fault) (err error) {
	for err == nil {
		if _, ok := p.next("on"); ok {
			if f.Node != nil {
				return errors.New("a second node: want one at most")
			}
			if _, err = p.choose("node"); err == nil {
				f.Node, err = p.node()
			}
			continue
		}
		if _, ok := p.next("of"); !ok {
			return nil
		}
		var kind string
		if kind, err = p.choose("group", "client"); err != nil {
			return err
		}
		whose := &f.Client
		if kind == "group" {
			whose = &f.Group
		}
		if *whose != nil {
			return fmt.Errorf("a second %s: want one at most", kind)
		}
		*whose, err = p.name(kind)
	}
	return err
}

func (p *parser) code(f *Fault) error {
	if _, err := p.choose("with"); err != nil {
		return err
	}
	codes := map[string]int16{"NOT_LEADER_OR_FOLLOWER": kerr.NotLeaderForPartition.Code} // Kafka's newer name of it
	for code := int16(-1); code < 200; code++ {
		if e := kerr.TypedErrorForCode(code); e != nil && e.Code == code && code != 0 { // an unknown code has an error too
			codes[e.Message] = code
		}
	}
	names := make([]string, 0, len(codes))
	for name := range codes {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(p.words) > 0 {
		if code, ok := codes[p.words[0].text]; ok {
			p.words = p.words[1:]
			f.Code = code
			return nil
		}
	}
	return p.unexpected(names, "an error of Kafka's, such as NOT_COORDINATOR")
}

// transit is "drop the request|reply of WHICH" and "delay the request|reply of WHICH by DURATION".
func (p *parser) transit(f *Fault, verb string) error {
	what, err := p.choose("request", "reply")
	if err != nil {
		return err
	}
	f.Action = Action(verb + " the " + what)
	if _, err := p.choose("of"); err != nil {
		return err
	}
	if err := p.which(f); err != nil || verb == "drop" {
		return err
	}
	if _, err := p.choose("by"); err != nil {
		return err
	}
	f.Delay, err = p.duration()
	return err
}

// hangUp is "close the connection before|after WHICH".
func (p *parser) hangUp(f *Fault) error {
	if _, err := p.choose("connection"); err != nil {
		return err
	}
	when, err := p.choose("before", "after")
	if err != nil {
		return err
	}
	f.Action = Action("close the connection " + when)
	return p.which(f)
}

// write is "fail the Nth append [of group NAME] with ERROR".
func (p *parser) write(f *Fault) error {
	f.Action = FailAppend
	if err := p.ordinal(f); err != nil {
		return err
	}
	if _, err := p.choose("append"); err != nil {
		return err
	}
	if _, ok := p.next("of"); ok {
		if _, err := p.choose("group"); err != nil {
			return err
		}
		var err error
		if f.Group, err = p.name("group"); err != nil {
			return err
		}
	}
	return p.code(f)
}

// move is "move the coordinator at WHICH [to node N] [loading for DURATION]".
func (p *parser) move(f *Fault) (err error) {
	f.Action = Move
	for _, w := range []string{"coordinator", "at"} {
		if _, err := p.choose(w); err != nil {
			return err
		}
	}
	if err := p.which(f); err != nil {
		return err
	}
	if _, ok := core.Versions()[f.API]; !ok || f.API == kmsg.ListGroups {
		return fmt.Errorf("%s is not about a group whose coordinator could move", f.API.Name())
	}
	if _, ok := p.next("to"); ok {
		if _, err := p.choose("node"); err != nil {
			return err
		}
		if f.To, err = p.node(); err != nil {
			return err
		}
	}
	if _, ok := p.next("loading"); ok {
		if _, err := p.choose("for"); err != nil {
			return err
		}
		f.Loading, err = p.duration()
	}
	return err
}

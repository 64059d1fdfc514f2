package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Verbs tells the parser which verbs there are.
type Verbs map[string]Verb

// Verb is what the parser knows of a verb: a line that shows how it is used, and what else must hold for a command.
type Verb struct {
	Example string
	Check   func(*Command) error
}

func parseCommand(text string) (Command, error) {
	c := Command{Text: text}
	line := text
	if i := commentAt(line); i >= 0 {
		line = line[:i]
	}
	tokens, err := split(line)
	if err != nil {
		return c, err
	}
	if len(tokens) == 0 {
		return c, errors.New("a comment stands between a block's commands; put it above them")
	}
	c.Verb = tokens[0]
	for _, tok := range tokens[1:] {
		key, value, isArg := cutArg(tok)
		switch {
		case isArg && key == "":
			return c, fmt.Errorf("%q has no key before the =", tok)
		case isArg:
			if strings.HasPrefix(value, `"`) {
				if value, err = strconv.Unquote(value); err != nil {
					return c, fmt.Errorf("%s is not a quoted text; write key=\"some text\"", tok)
				}
			}
			c.Args = append(c.Args, Arg{key, value})
		case len(tok) > 1 && tok[0] == '-':
			c.Flags = append(c.Flags, tok[1:])
		default:
			c.Words = append(c.Words, tok)
		}
	}
	return c, nil
}

// cutArg splits key=value at the first = that stands outside quotes.
func cutArg(tok string) (key, value string, ok bool) {
	i := strings.IndexByte(tok, '=')
	if q := strings.IndexByte(tok, '"'); i < 0 || q >= 0 && q < i {
		return "", "", false
	}
	return tok[:i], tok[i+1:], true
}

// split cuts a line at blanks that stand outside double quotes.
func split(line string) ([]string, error) {
	var tokens []string
	start, quoted := -1, false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
			if start < 0 {
				start = i
			}
		case !quoted && isBlank(b):
			if start >= 0 {
				tokens = append(tokens, line[start:i])
				start = -1
			}
		case start < 0:
			start = i
		}
	}
	if quoted {
		return nil, errors.New("a double quote is not closed")
	}
	if start >= 0 {
		tokens = append(tokens, line[start:])
	}
	return tokens, nil
}

func (v Verbs) check(c *Command) (example string, err error) {
	verb, ok := v[c.Verb]
	if !ok {
		return "", fmt.Errorf("unknown verb %q; there are: %s", c.Verb, strings.Join(v.names(), " "))
	}
	if verb.Check == nil {
		return "", nil
	}
	return verb.Example, verb.Check(c)
}

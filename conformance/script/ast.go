// Package script reads and writes scenario files: what clients do, and the text that a group coordinator's answers must give.
//
// The format is that of cockroachdb/datadriven with variations: a header of comment lines, then blocks of commands, a line of four
// dashes and the expected lines up to a blank line. The package knows the grammar, not the verbs: those come with the Verbs that
// the caller hands in.
package script

// BaseRelease is the Kafka release that the base text of every block was recorded from.
const BaseRelease = "4.3.1"

// File is a parsed scenario file.
type File struct {
	Name     string   // as given to Parse, for messages
	Header   []string // the header's lines as they are, each with its #
	Rules    []string // "# rule: ID, ID"; the first is the one that the scenario is about
	Profile  string   // "# profile: NAME", broker settings; empty is "default"
	Slow     string   // "# slow: reason", for scenarios that wait for timers which cannot be scaled
	Requires []string // "# requires: WORD, WORD", what the target must be like
	Blocks   []*Block
	Trailer  []string // comment lines after the last block
}

// Block is a few commands and the text that they give.
type Block struct {
	Line     int      // of the first command
	Lead     []string // the comment lines above it, "" for a blank line between them
	Rules    []string // "# rule: ID" above the block: the rules that this block is about
	Commands []Command
	Variants []Variant // the first one is the base
}

// Command is one line that a client, or the clock, does.
type Command struct {
	Line  int
	Text  string // the line as it is
	Verb  string
	Words []string // what is neither key=value nor -flag
	Args  []Arg    // key=value in order
	Flags []string // without the dash
}

// Arg is key=value.
type Arg struct{ Key, Value string }

// Variant is one expected text.
type Variant struct {
	Line     int
	When     Cond   // the releases that give it; the zero Cond is the base text
	Contract string // the rule whose contract it states, for a block that records a quirk
	Rule     string // the rule on which the releases differ there, where it is not the first one of the block
	Reason   string
	Lines    []Expect
}

// Base reports whether the variant is the block's base text.
func (v *Variant) Base() bool { return v.When.raw == "" && v.Contract == "" }

// Title is the variant's condition as it is written: "", "[<4.0]" or "contract: RULE".
func (v *Variant) Title() string {
	if v.Contract != "" {
		return "contract: " + v.Contract
	}
	if v.When.raw != "" {
		return "[" + v.When.raw + "]"
	}
	return ""
}

// For returns the text that the release gives: of the conditions that hold the narrowest, else the base.
func (b *Block) For(release string) *Variant {
	best, narrow := &b.Variants[0], 0
	for i := range b.Variants {
		if n := b.Variants[i].When.Holds(release); n > narrow {
			best, narrow = &b.Variants[i], n
		}
	}
	return best
}

// Arg returns the value of the last argument with that key.
func (c *Command) Arg(key string) (string, bool) {
	for i := len(c.Args) - 1; i >= 0; i-- {
		if c.Args[i].Key == key {
			return c.Args[i].Value, true
		}
	}
	return "", false
}

// Flag reports whether the flag is given.
func (c *Command) Flag(name string) bool {
	for _, f := range c.Flags {
		if f == name {
			return true
		}
	}
	return false
}

package script

import "strings"

// Print writes the file in its canonical form: one blank line between blocks, none at the end. A file that is in this form already
// comes out as it was.
func Print(f *File) []byte {
	var b strings.Builder
	put := func(lines ...string) {
		for _, l := range lines {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	put(f.Header...)
	for _, blk := range f.Blocks {
		put("")
		put(blk.Lead...)
		for _, c := range blk.Commands {
			put(c.Text)
		}
		for i := range blk.Variants {
			put(blk.Variants[i].separator())
			for _, l := range blk.Variants[i].Lines {
				put(l.Raw)
			}
		}
	}
	if len(f.Trailer) > 0 {
		put("")
		put(f.Trailer...)
	}
	return []byte(b.String())
}

func (v *Variant) separator() string {
	s := "----"
	if t := v.Title(); t != "" {
		s += " " + t
	}
	if v.Rule != "" {
		s += " " + v.Rule + ":"
	}
	if v.Reason != "" {
		s += " " + v.Reason
	}
	return s
}

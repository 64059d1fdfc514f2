package conformance

import "github.com/muster-kafka/muster/conformance/script"

// Capabilities.Release of the reference coordinator: conditions hold for it as for Kafka 4.4.0, and quirks are not its own.
const (
	Reference        = "reference"
	referenceRelease = "4.4.0"
)

// candidates are the texts of a block that a target of that release may give, the recorded one first. A Kafka release must give what was
// recorded from it. The reference and strangers may give the contract of a quirk instead.
func candidates(b *script.Block, release string) []*script.Variant {
	as := release
	if release == Reference {
		as = referenceRelease
	}
	best, narrow := &b.Variants[0], 0
	for i := range b.Variants {
		if n := b.Variants[i].When.Holds(as); n > narrow {
			best, narrow = &b.Variants[i], n
		}
	}
	out := []*script.Variant{best}
	if release != "" && release != Reference {
		return out
	}
	for i := range b.Variants {
		if b.Variants[i].Contract != "" {
			out = append(out, &b.Variants[i])
		}
	}
	return out
}

// accepted returns the candidate that matches, or nil.
func accepted(all []*script.Variant, got []string) *script.Variant {
	for _, v := range all {
		if v.Diff(got) < 0 {
			return v
		}
	}
	return nil
}

// others are the titles of the block's texts that match although they are not meant for the target.
func others(b *script.Block, expected []*script.Variant, got []string) []string {
	var out []string
	for i := range b.Variants {
		v := &b.Variants[i]
		if v.Diff(got) >= 0 {
			continue
		}
		meant := false
		for _, e := range expected {
			meant = meant || e == v
		}
		if !meant {
			title := v.Title()
			if title == "" {
				title = "Kafka " + script.BaseRelease
			}
			out = append(out, title)
		}
	}
	return out
}

package conformance

import "testing"

// A scenario that names the topic of the run cannot be asked of a target that has none, whether it says so or not.
func TestNoTopicSkips(t *testing.T) {
	for block, want := range map[string]bool{
		"commit - t/0=5\n----\n":            true,
		"fetch - t/0\n----\n":               true,
		"list\n----\n":                      false,
		"commit - nosuch/0=5\n----\n":       false,
		"list\n----\n\nfetch - t/1\n----\n": true,
	} {
		s, err := Parse("test.txt", []byte("# A test.\n# rule: join.new.rebalances\n\n"+block))
		if err != nil {
			t.Fatal(err)
		}
		caps := newFake(nil).caps
		if got := s.skip(caps, false).why(); got != "" {
			t.Errorf("%q is skipped where there is a topic: %s", block, got)
		}
		caps.Topics = nil
		if got := s.skip(caps, false).why(); (got != "") != want {
			t.Errorf("%q without a topic: skipped for %q, want %v", block, got, want)
		}
	}
}

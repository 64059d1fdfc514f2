package linearize

import (
	"testing"

	"github.com/muster-kafka/muster/checker/history"
)

// TestJoinedWhileReplaced: static member i is replaced in a Stable group between 20 and 30 ms, and known by its new id before the replacement is
// answered, as its old one is refused at 22 ms. C joins at 25 ms. Kafka counts the replacement, which waits for its record to be written, as one that has
// joined, so that it is in the generation that C begins, and is answered with that.
func TestJoinedWhileReplaced(t *testing.T) {
	replaced := func(b *book, to int, generation int32) {
		resp := joined(generation, "A2", "A2", "A2")
		other := joined(generation, "A2", "A2", "C").Members
		if generation == 1 { // in this version nobody is named but the leader as it was
			resp = joined(1, "A", "A2")
			other = nil
		}
		b.joinStatic("b", 20, to, resp)
		resp.Members = append(resp.Members, other...)
		b.last().Response = history.EncodeResponse(resp, b.last().Version)
	}
	comes := func(b *book, from, to int) { b.join("c", from, to, "C", joined(2, "A2", "C")) }
	for _, test := range []struct {
		name    string
		profile string
		write   func(b *book)
		want    Result
	}{
		{"in the next generation", "4.3.1", func(b *book) { replaced(b, 30, 2); comes(b, 25, 30) }, Legal},
		{"in the next generation, of Kafka 3.9", "3.9.2", func(b *book) { replaced(b, 30, 2); comes(b, 25, 30) }, Legal},
		{"in the next generation, by contract", "reference", func(b *book) { replaced(b, 30, 2); comes(b, 25, 30) }, Illegal},
		{"in its own", "4.3.1", func(b *book) { replaced(b, 30, 1); b.join("c", 25, 150, "C", joined(2, "C", "C", "C")) }, Legal},
		{"nobody else joins", "4.3.1", func(b *book) { replaced(b, 30, 2) }, Illegal},
		{"in the one after the next", "4.3.1", func(b *book) { replaced(b, 30, 3); comes(b, 25, 30) }, Illegal},
		{"before the other one joins", "4.3.1", func(b *book) { replaced(b, 24, 2); comes(b, 25, 30) }, Illegal},
		{"it is in, and the other one waits for it", "4.3.1", func(b *book) {
			replaced(b, 30, 2)
			b.join("c", 25, 200, "C", nil)
		}, Illegal},
		{"it joins once more after that", "4.3.1", func(b *book) {
			replaced(b, 30, 2)
			comes(b, 25, 30)
			b.sync("b", 31, 32, "A2", 2, []string{"A2", "C"}, 0, "A2")
			b.sync("c", 33, 34, "C", 2, nil, 0, "C")
		}, Legal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook(test.profile)
			b.joinStatic("a", 0, 3, joined(1, "A", "A", "A"))
			b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")
			b.join("c", 6, 7, "", refusedJoin(79, "C"))
			test.write(b)
			b.heartbeat("a", 22, 23, "A", 1, 25)
			b.verdict(t, test.want)
		})
	}
}

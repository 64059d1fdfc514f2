package linearize

import (
	"testing"

	"github.com/muster-kafka/muster/checker/history"
)

// trouble says what happened to what was written meanwhile, in milliseconds.
func (b *book) trouble(kind history.FaultKind, at, until int64) {
	b.AddFaults(history.Fault{Kind: kind, At: at * 1e6, Until: until * 1e6})
}

// TestAppendsFail: a write may fail while writes are made to, and at no other time.
func TestAppendsFail(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(b *book)
		want  Result
	}{
		{"a commit within", func(b *book) { b.commit("a", 20, 21, "A", 1, 7, 15); b.fetch("a", 22, 23, -1) }, Legal},
		{"by another error", func(b *book) { b.commit("a", 20, 21, "A", 1, 7, -1); b.fetch("a", 22, 23, -1) }, Legal},
		{"a commit after", func(b *book) { b.commit("a", 41, 42, "A", 1, 7, 15) }, Illegal},
		{"a commit before", func(b *book) { b.commit("a", 8, 9, "A", 1, 7, 15) }, Illegal},
		{"it was refused, and is there", func(b *book) { b.commit("a", 20, 21, "A", 1, 7, 15); b.fetch("a", 22, 23, 7) }, Illegal},
		{"it was acknowledged, and is not there", func(b *book) { b.commit("a", 20, 21, "A", 1, 7, 0); b.fetch("a", 22, 23, -1) }, Illegal},
		{"a heartbeat writes nothing", func(b *book) { b.heartbeat("a", 20, 21, "A", 1, 15) }, Illegal},
		{"a new group", func(b *book) {
			b.join("b", 20, 21, "", refusedJoin(79, "B"))
			b.join("b", 22, 34, "B", joined(2, "A", "B"))
			b.join("a", 23, 24+10, "A", joined(2, "A", "A", "A", "B"))
			b.sync("a", 35, 36, "A", 2, []string{"A", "B"}, 15, "")
			b.heartbeat("b", 37, 38, "B", 2, 27)
		}, Legal},
		{"an assignment that failed, and no rebalance", func(b *book) {
			b.join("b", 20, 21, "", refusedJoin(79, "B"))
			b.join("b", 22, 34, "B", joined(2, "A", "B"))
			b.join("a", 23, 24+10, "A", joined(2, "A", "A", "A", "B"))
			b.sync("a", 35, 36, "A", 2, []string{"A", "B"}, 15, "")
			b.heartbeat("b", 37, 38, "B", 2, 0)
		}, Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook("reference")
			b.trouble(history.AppendFails, 10, 40)
			b.alone()
			test.write(b)
			b.verdict(t, test.want)
		})
	}
}

// TestShutdownFails: what a target that is asked to end has to write may fail, until it has ended.
func TestShutdownFails(t *testing.T) {
	for name, test := range map[string]struct {
		at, gone, until int64
		want            Result
	}{
		"on its way":      {28, 50, 90, Legal},
		"before its way":  {34, 50, 90, Illegal},
		"after its way":   {6, 12, 14, Illegal},
		"on nobody's way": {0, 0, 0, Illegal},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook("3.9.2")
			b.alone()
			b.second()
			b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 16, "")
			b.sync("b", 32, 33, "B", 2, nil, 27, "")
			if test.until > 0 {
				b.shutdown(test.at, test.gone, test.until)
			}
			b.verdict(t, test.want)
		})
	}
}

// TestAppendsHang: while writes hang, others come between a request and its record, and at no other time.
func TestAppendsHang(t *testing.T) {
	commit := func(from, to int, code int16, then func(b *book)) func(b *book) { // while B joins, so that A's generation is over when it is answered
		return func(b *book) {
			b.commit("a", from, to, "A", 1, 7, code)
			b.join("b", 14, 15, "", refusedJoin(79, "B"))
			b.join("b", 16, 19, "B", joined(2, "A", "B"))
			b.join("a", 17, 19, "A", joined(2, "A", "A", "A", "B"))
			then(b)
		}
	}
	for _, test := range []struct {
		name  string
		hangs bool
		write func(b *book)
		want  Result
	}{
		{"seen later than let pass", true, commit(12, 40, 0, func(b *book) { b.fetch("c", 20, 21, -1); b.fetch("c", 41, 42, 7) }), Legal},
		{"without anything that hangs", false, commit(12, 40, 0, func(b *book) { b.fetch("c", 20, 21, -1); b.fetch("c", 41, 42, 7) }), Illegal},
		{"seen before its answer", true, commit(12, 40, 0, func(b *book) { b.fetch("c", 38, 39, 7); b.fetch("c", 41, 42, 7) }), Legal},
		{"never seen", true, commit(12, 40, 0, func(b *book) { b.fetch("c", 20, 21, -1); b.fetch("c", 41, 42, -1) }), Illegal},
		{"seen, and gone", true, commit(12, 40, 0, func(b *book) { b.fetch("c", 20, 21, 7); b.fetch("c", 22, 23, -1) }), Illegal},
		{"of a generation that was over before", true, commit(20, 40, 0, func(b *book) { b.fetch("c", 41, 42, 7) }), Illegal},
		{"and fails", true, commit(12, 40, 15, func(b *book) { b.fetch("c", 41, 42, -1) }), Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook("reference")
			if test.hangs {
				b.trouble(history.AppendHangs, 10, 38)
			}
			b.alone()
			test.write(b)
			b.verdict(t, test.want)
		})
	}
}

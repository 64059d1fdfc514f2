package linearize

import (
	"testing"
	"time"
)

// TestRemovedAsItHadNothing: A, the only member, leaves at 20 ms; the group has taken two generations, and is looked at. When the next one joins, its generations begin anew: right
// where the target has removed the group meanwhile, which it does only to groups without members and offsets, and so often.
func TestRemovedAsItHadNothing(t *testing.T) {
	anew := func(b *book, from int, generation int32) {
		b.join("c", from, from+1, "", refusedJoin(79, "C"))
		b.join("c", from+2, from+3, "C", joined(generation, "C", "C", "C"))
	}
	left := func(b *book) { b.alone(); b.leave("a", 20, 21, "A"); b.describe(22, 23, "Empty", "consumer") }
	for _, test := range []struct {
		name    string
		cleanup time.Duration
		write   func(b *book)
		java    Result
		scala   Result
	}{
		{"it has nothing", 10 * time.Minute, func(b *book) { left(b); anew(b, 30, 1) }, Legal, Legal},
		{"it is never removed", 0, func(b *book) { left(b); anew(b, 30, 1) }, Illegal, Illegal},
		{"it was not", 10 * time.Minute, func(b *book) { left(b); anew(b, 30, 3) }, Legal, Legal},
		{"another generation", 10 * time.Minute, func(b *book) { left(b); anew(b, 30, 2) }, Illegal, Illegal},
		{"it has an offset", 10 * time.Minute, func(b *book) {
			b.alone()
			b.commit("a", 6, 7, "A", 1, 5, 0)
			b.leave("a", 20, 21, "A")
			anew(b, 30, 1)
		}, Illegal, Illegal},
		{"it has a member", 10 * time.Minute, func(b *book) {
			b.alone()
			b.join("c", 30, 31, "", refusedJoin(79, "C"))
			b.join("c", 32, 40, "C", joined(1, "C", "C", "C"))
		}, Illegal, Illegal},
		{"twice, too soon", 10 * time.Minute, func(b *book) {
			left(b)
			anew(b, 30, 1)
			b.leave("c", 40, 41, "C")
			anew(b, 50, 1)
		}, Illegal, Legal},
		{"twice", 100 * time.Millisecond, func(b *book) {
			left(b)
			anew(b, 30, 1)
			b.leave("c", 40, 41, "C")
			anew(b, 150, 1)
		}, Legal, Legal},
	} {
		for profile, want := range map[string]Result{"4.3.1": test.java, "reference": test.java, "3.9.2": test.scala} {
			t.Run(test.name+", "+profile, func(t *testing.T) {
				b := newBook(profile)
				b.Header.Cleanup = test.cleanup
				test.write(b)
				v, err := Check(t.Context(), &b.History, Limits{})
				if err != nil || v.Result != want {
					t.Fatalf("%v %s (%v), want %v", v.Result, v.Reason, err, want)
				}
				if needed := want == Legal && test.name != "it was not"; v.Groups[0].Cleaned != needed {
					t.Errorf("it takes that: %v, want %v", v.Groups[0].Cleaned, needed)
				}
			})
		}
	}
}

package explore

// recent are states that a worker has reached before, as far as there is room. Most transitions lead to one of them, and it need not look
// into the table again, which all workers share: it takes the states of a level in order, so that a later way of its own is never better
// than an earlier one.
type recent [1 << recentBits]Key

const recentBits = 11

// fill makes room for others of what holds nothing yet: every place has the initial state, which is reached.
func (r *recent) fill(initial Key) {
	for i := range r {
		r[i] = initial
	}
}

// has says whether the state has been reached, and notes that it is now.
func (r *recent) has(k Key) bool {
	at := &r[k.hash()&(1<<recentBits-1)]
	if *at == k {
		return true
	}
	*at = k
	return false
}

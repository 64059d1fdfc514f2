/* A group of N members, much smaller than the specification: a model for measuring the search, not for judging anything. spin_test.go has the
   same in Go; tools/bench-spin.sh compares numbers of states and speed. Every event is one step. */

#ifndef N
#define N 6
#endif

/* phases */
#define EMPTY      0
#define PREPARING  1
#define COMPLETING 2
#define STABLE     3

/* members */
#define OUT     0
#define IDLE    1 /* has to join again */
#define PARKED  2 /* waits in JoinGroup */
#define OWES    3 /* owes a SyncGroup */
#define SYNCING 4 /* waits in SyncGroup */
#define HAS     5 /* has its assignment */

byte phase, leader = N;
byte m[N];
bit deaf[N]; /* has not heard its last answer */

byte j, k, n; /* zero between steps; not hidden, which SPIN refuses when it searches breadth first */

inline complete() {
	n = 0; k = N; j = 0;
	do
	:: j < N ->
		if
		:: m[j] == PARKED -> m[j] = OWES; n++; if :: k == N -> k = j :: else fi
		:: else -> m[j] = OUT
		fi;
		j++
	:: else -> break
	od;
	if
	:: n == 0 -> phase = EMPTY; leader = N
	:: else ->
		phase = COMPLETING;
		if
		:: leader == N -> leader = k
		:: leader < N && m[leader] == OUT -> leader = k
		:: else
		fi
	fi;
	j = 0; k = 0; n = 0
}

/* complete if nobody is missing */
inline review() {
	n = 0; k = 0; j = 0;
	do
	:: j < N -> if :: m[j] == IDLE -> n++ :: else fi; j++
	:: else -> break
	od;
	if
	:: n == 0 -> complete()
	:: else -> j = 0; k = 0; n = 0
	fi
}

inline prepare() {
	j = 0;
	do
	:: j < N -> if :: m[j] == OUT :: else -> m[j] = IDLE fi; j++
	:: else -> break
	od;
	j = 0;
	phase = PREPARING
}

/* a member goes */
inline gone(i) {
	m[i] = OUT; deaf[i] = 0;
	if :: leader == i -> leader = N :: else fi;
	if
	:: phase == COMPLETING || phase == STABLE -> prepare()
	:: else
	fi;
	review()
}

#define MEMBER(i) \
	:: d_step { phase == EMPTY -> m[i] = OWES; deaf[i] = 0; leader = i; phase = COMPLETING } \
	:: d_step { phase == PREPARING && m[i] != PARKED -> m[i] = PARKED; deaf[i] = 0; review() } \
	:: d_step { phase == COMPLETING && (m[i] == OUT || deaf[i]) -> prepare(); m[i] = PARKED; deaf[i] = 0; review() } \
	:: d_step { phase == STABLE && (m[i] == OUT || leader == i) -> prepare(); m[i] = PARKED; deaf[i] = 0; review() } \
	:: d_step { phase == COMPLETING && m[i] == OWES && leader != i -> m[i] = SYNCING } \
	:: d_step { phase == COMPLETING && m[i] == OWES && leader == i -> \
		m[i] = HAS; j = 0; \
		do :: j < N -> if :: m[j] == SYNCING -> m[j] = HAS :: else fi; j++ :: else -> break od; \
		j = 0; phase = STABLE } \
	:: d_step { phase == STABLE && m[i] == OWES -> m[i] = HAS; deaf[i] = 0 } \
	:: d_step { m[i] >= OWES && !deaf[i] -> deaf[i] = 1 } \
	:: d_step { m[i] != OUT -> gone(i) }

active proctype group() {
	do
	MEMBER(0)
	MEMBER(1)
	MEMBER(2)
#if N > 3
	MEMBER(3)
#endif
#if N > 4
	MEMBER(4)
#endif
#if N > 5
	MEMBER(5)
#endif
#if N > 6
	MEMBER(6)
#endif
	:: d_step { phase == PREPARING -> complete() } /* the join timer */
	od
}

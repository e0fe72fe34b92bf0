/* SPDX-License-Identifier: MIT */
/*
 * hodo_tracer.pml - the grace period of function tracers (src/func/dispatch.c,
 * tracer.c): a thread makes its word `inside` odd, loads the list of tracers, calls
 * them, and makes the word even; who unregisters a tracer publishes the list without it,
 * has every thread go through a barrier, then waits for each thread that is odd until its
 * word is another.
 *
 * What it shows, over every interleaving:
 *   - when unregistering has returned, nobody runs the tracer or will;
 *   - unregistering returns, if those inside leave (no state without a way on);
 *   - a thread that traces for the first time meanwhile is waited for, or has the new list.
 *
 * Threads' stores of `inside` and of the number of threads stay in a store buffer, in order, until it
 * is emptied at some time, as on x86-64 (TSO); loads see the thread's own stores, which matters to
 * no load here. The barrier is membarrier(2)'s: each thread's buffer was empty once during it. A list is a number: the
 * list after the n-th change.
 *
 * Left out: signal handlers (the guard keeps them out), threads that end inside (they are asked after),
 * wrap of `inside` (2^31 calls between two looks at one word).
 *
 * Parameters: R threads, each with CALLS turns; CHANGES of the list. Each M_... is a mutant.
 */
#ifndef R
#define R 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef CHANGES
#define CHANGES 2
#endif

byte inside[R];    /* as memory has it */
bit known[R];      /* in the list of threads, as memory has it */
byte pending[R];   /* inside, as the thread has it, while own_inside */
bit own_inside[R]; /* a store of inside is in the buffer */
bit own_known[R];  /* a store of known is in the buffer; older than the one of inside */
byte list;
bit gone[CHANGES];
byte finished;     /* threads and the one who unregisters */

/* A store goes to memory through the buffer, which holds one of each kind. */
inline store_inside(t, value)
{
	atomic {
		!own_inside[t];
		pending[t] = value;
		own_inside[t] = 1
	}
}

active [R] proctype thread()
{
	byte calls, mine, word;
	byte me = _pid;

	own_known[me] = 1;
	do
	:: calls < CALLS ->
#ifdef M_LOAD_FIRST
		mine = list;
#endif
		word++;
		store_inside(me, word);
#ifndef M_LOAD_FIRST
		mine = list;
#endif
#ifdef M_EVEN_FIRST
		word++;
		store_inside(me, word);
#endif
		assert(mine == CHANGES || !gone[mine]);
		skip;
		assert(mine == CHANGES || !gone[mine]);
#ifndef M_EVEN_FIRST
		word++;
		store_inside(me, word);
#endif
		calls++
	:: else -> break
	od;
	finished++
}

/* Buffers empty themselves at any time. */
active proctype memory()
{
	byte t;

	do
	:: atomic { own_known[t] -> known[t] = 1; own_known[t] = 0 }
	:: atomic { own_inside[t] && !own_known[t] -> inside[t] = pending[t]; own_inside[t] = 0 }
	:: t < R - 1 -> t++
	:: t > 0 -> t--
	:: finished == R + 1 -> break
	od
}

inline barrier()
{
	i = 0;
	do
	:: i < R ->
#ifndef M_NO_BARRIER
		!own_known[i] && !own_inside[i];
#endif
		i++
	:: else -> break
	od
}

inline wait_all()
{
	i = 0;
	do
	:: i < R ->
		if
		:: !known[i]
		:: else ->
			seen = inside[i];
			(seen % 2 == 0 || inside[i] != seen);
		fi;
		i++
	:: else -> break
	od
}

active proctype unregister()
{
	byte n, i, seen;

	do
	:: n < CHANGES ->
#ifdef M_WAIT_FIRST
		barrier();
		wait_all();
		list = n + 1;
#else
		list = n + 1;
		barrier();
#ifndef M_NO_WAIT
		wait_all();
#endif
#endif
		gone[n] = 1;
		n++
	:: else -> break
	od;
	finished++
}

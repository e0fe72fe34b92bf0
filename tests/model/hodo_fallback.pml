/* SPDX-License-Identifier: MIT */
/*
 * hodo_fallback.pml - the fallback ring: writers that cannot use restartable
 * sections share one ring under an owner lock, which a writer takes over whose
 * owner has died inside (a vfork child that was killed: it shares the memory).
 *
 * What it shows, over every interleaving:
 *   - the ring is valid at every moment, also after an owner's death anywhere in
 *     the lock, and after a kill of the whole process: its packets hold exactly
 *     the committed events, whole and in order;
 *   - time stamps never run backwards;
 *   - every event is committed once or counted as lost (busy), unless its writer
 *     died first;
 *   - after disabling has returned, no event is committed.
 *
 * Left out: memory order (steps are sequentially consistent; the one store and
 * later load whose order matters, `on` and `owner` while disabling, are
 * sequentially consistent in the code too, and a mutant swaps them), the full
 * ring (no consumer: the checker sees what one could see), signals (blocked in
 * the lock), spinning (any number of turns), and a new thread that gets a dead
 * owner's id (the lock stays taken then and events are counted as lost).
 *
 * Parameters: T writers, E events each, N packets of K units, DEATHS at most. DISABLE:
 * with a controller that disables the event. Each M_... is a mutant: one thing
 * done wrong, which must make the run fail.
 */
#ifndef T
#define T 3
#endif
#ifndef E
#define E 1
#endif
#ifndef N
#define N 4
#endif
#ifndef K
#define K 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#define UNITS 2 /* an event is two units, stored one after the other */
#define NOBODY 0

byte word_packet, word_events;
byte head_seq[N], head_before[N], head_events[N];
byte unit[N * K * UNITS];
byte owner; /* a writer's number, from 1 */
byte busy;
bit on = 1;

bit dead[T + 1];
byte deaths;

/* The truth. */
byte committed, truth[T * E];
byte finished, skipped;
bit disabled;

/* A step; or death instead of it. */
#define STEP(s) \
	if \
	:: atomic { s } \
	:: atomic { deaths < DEATHS -> deaths++; dead[me] = 1; goto end_dead } \
	fi

proctype writer(byte me)
{
	byte i, id, packet, events, before, stamp, seen;

	do
	:: i < E ->
		id = (me - 1) * E + i + 1;
#ifdef M_ON_OUTSIDE
		STEP(if :: !on -> skipped++; goto next :: else fi);
#endif
spin:
		STEP(seen = owner; if :: owner == NOBODY -> owner = me :: else fi);
		if
		:: seen == NOBODY -> goto locked
		:: else
		fi;
		if
		:: goto spin
		:: skip /* it has spun for long enough */
		fi;
#ifdef M_TAKE_ALIVE
		STEP(seen = seen);
#else
		/* A system call finds out whether the owner lives. */
		STEP(if :: !dead[seen] -> busy++; goto next :: else fi);
#endif
#ifdef M_TAKE_STORE
		STEP(owner = me);
#else
		STEP(if :: owner == seen -> owner = me :: else -> busy++; goto next fi);
#endif
locked:
#ifdef M_RELEASE_FIRST
		STEP(owner = NOBODY);
#endif
#if defined(DISABLE) && !defined(M_ON_OUTSIDE)
		STEP(if :: !on -> skipped++; goto unlock :: else fi);
#endif
		STEP(packet = word_packet; events = word_events);
		if
		:: events == K ->
			STEP(before = head_before[packet % N]);
			STEP(head_events[packet % N] = events);
			STEP(head_seq[(packet + 1) % N] = packet + 1);
			STEP(head_before[(packet + 1) % N] = before + events);
			STEP(word_packet = packet + 1; word_events = 0);
			packet++;
			events = 0
		:: else
		fi;
		STEP(stamp = committed);
		STEP(unit[((packet % N) * K + events) * UNITS] = id);
#ifndef M_COMMIT_FIRST
		STEP(unit[((packet % N) * K + events) * UNITS + 1] = id);
#endif
		STEP(
			assert(stamp == committed);
			assert(!disabled);
			truth[committed] = id; committed++;
			word_packet = packet; word_events = events + 1);
#ifdef M_COMMIT_FIRST
		STEP(unit[((packet % N) * K + events) * UNITS + 1] = id);
#endif
#ifdef DISABLE
unlock:
#endif
		STEP(owner = NOBODY);
next:
		i++
	:: else -> break
	od;
	finished++;
end_dead:
	skip
}

#ifdef DISABLE
active proctype controller()
{
	byte seen;

#ifdef M_DISABLE_LOAD_FIRST
	/* As without a fence between the store and the load. */
	seen = owner;
	on = 0;
#else
	on = 0;
	seen = owner;
#endif
#ifndef M_DISABLE_NO_WAIT
	/* Whoever takes the lock from now on sees the cleared word. */
	seen == NOBODY || owner != seen || dead[seen];
#endif
	disabled = 1
}
#endif

/* At any moment: what a consumer would find if the process were killed now. */
active proctype checker()
{
	byte packet, i, n, index;

	atomic {
		assert(head_seq[word_packet % N] == word_packet);
		do
		:: packet < word_packet ->
			assert(head_seq[packet % N] == packet);
			n = head_events[packet % N];
			goto events
		:: packet == word_packet ->
			n = word_events;
events:
			assert(head_before[packet % N] == index);
			assert(n <= K);
			i = 0;
			do
			:: i < n ->
				assert(index < committed);
				assert(unit[((packet % N) * K + i) * UNITS] == truth[index]);
				assert(unit[((packet % N) * K + i) * UNITS + 1] == truth[index]);
				index++;
				i++
			:: else -> break
			od;
			packet++
		:: packet > word_packet -> break
		od;
		assert(index == committed);
		assert(finished < T || committed + busy + skipped == T * E)
	}
}

init {
	byte t = 1;

	atomic {
		do
		:: t <= T -> run writer(t); t++
		:: else -> break
		od
	}
}

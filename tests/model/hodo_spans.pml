/* SPDX-License-Identifier: MIT */
/*
 * hodo_spans.pml - the table of open spans (src/user/event/spans.c): begins claim slots, ends take them.
 *
 * What it shows, over every interleaving:
 *   - an end that finds a begin has found its own: a begin is lost, perhaps, but never another's;
 *   - nobody fills a slot that another fills.
 *
 * Two threads, whose keys share a slot: of SLOTS slots the first has those from 0 on, the second those from 1 on,
 * WINDOW each. The first thread opens an outer and an inner scope of one name and closes both, again and again; -DNEST:
 * a signal handler interrupts it anywhere, with a scope of the same name, while the thread stands still. The
 * second opens its own, one in the other, and closes as many as CLOSED: the rest it has left by longjmp.
 *
 * Each access to a word is a step, with what the thread makes of it alone; memory is in order. That a store releases,
 * or a load acquires, is shown by mutants that move words across a ticket, as a machine could without it.
 *
 * Left out: spans that are distinguished by an id, which nest as scopes do or have no order to keep.
 *
 * Parameters: TURNS of the first thread, OPENED and CLOSED by the second. Each M_... is a mutant.
 */
#define SLOTS 3
#define WINDOW 2
#ifndef TURNS
#define TURNS 2
#endif
#ifndef OPENED
#define OPENED 2
#endif
#ifndef CLOSED
#define CLOSED 1
#endif
#ifndef LOOKS
#define LOOKS 4
#endif

#define FREE 0
#define BUSY 1
#define FIRST_TICKET 2
#define NONE 9

byte state[SLOTS];
byte begin_ns[SLOTS];
byte key[SLOTS];
bit filling[SLOTS]; /* somebody thinks that the slot is his */
byte tickets;
byte now = 1;
bit handling;

/* What has been read of slot s: is it a better one? The next is looked at. */
inline found(k, latest)
{
	if
	:: f_w >= FIRST_TICKET && f_k == k && (f_slot == NONE || (latest && f_t > f_ns) || (!latest && f_t < f_ns)) ->
		f_slot = s;
		f_ticket = f_w;
		f_ns = f_t
	:: else
	fi;
	s++;
	f_k = NONE;
	f_t = 0;
	f_w = FREE
}

/* The oldest begin of a key, or the latest: f_slot (NONE: none), f_ticket, f_ns. */
inline find(k, latest)
{
	atomic { f_slot = NONE; s = k };
	do
#ifdef M_WORDS_FIRST
	:: s < k + WINDOW ->
		f_k = key[s];
		f_t = begin_ns[s];
		atomic { f_w = state[s]; found(k, latest) }
#else
	:: atomic { s < k + WINDOW && f_w == FREE ->
		f_w = state[s];
		s = s + (f_w < FIRST_TICKET);
		f_w = (f_w < FIRST_TICKET -> FREE : f_w) }
	:: atomic { f_w != FREE && f_k != k ->
		f_k = key[s];
		s = s + (f_k != k);
		f_w = (f_k == k -> f_w : FREE);
		f_k = (f_k == k -> k : NONE) }
	:: atomic { f_w != FREE && f_k == k -> f_t = begin_ns[s]; found(k, latest) }
#endif
	:: else -> break
	od;
	atomic { s = 0 }
}

/* ok: the slot was still that begin's. */
inline take(slot, ticket, to)
{
#ifdef M_TAKE_STORE
	ok = (state[slot] == ticket);
	if
	:: ok -> state[slot] = to
	:: else
	fi;
#else
	atomic {
		ok = (state[slot] == ticket);
		if
		:: ok -> state[slot] = to
		:: else
		fi
	}
#endif
}

/* Drops begins of key k, the oldest first, until that with v_ticket is the oldest, and claims its slot. */
inline evict()
{
	v_k = key[v_slot];
#ifdef M_EVICT_FIRST
	take(v_slot, v_ticket, BUSY);
	if
	:: ok ->
		got = v_slot;
		look = 0;
		do
		:: look < WINDOW ->
			find(v_k, false);
			if
			:: f_slot != NONE -> take(f_slot, f_ticket, FREE)
			:: else
			fi;
			look++
		:: else -> break
		od
	:: else
	fi;
#else
#ifdef M_NO_DROP
	take(v_slot, v_ticket, BUSY);
	if
	:: ok -> got = v_slot
	:: else
	fi;
#else
	look = 0;
	seen = 0;
	do
	:: look < LOOKS ->
		look++;
		find(v_k, false);
		if
		:: f_slot == NONE -> break
		:: else
		fi;
#ifndef M_ONE_LOOK
		if
		:: f_ticket != seen -> seen = f_ticket; goto again
		:: else
		fi;
#endif
		if
		:: f_ticket == v_ticket ->
			take(v_slot, v_ticket, BUSY);
			if
			:: ok -> got = v_slot
			:: else
			fi;
			break
		:: else -> take(f_slot, f_ticket, FREE)
		fi;
again:		skip
	:: else -> break
	od;
#endif
#endif
	atomic { look = 0; seen = 0; v_k = 0 }
}

/* Claims slot c, if it is free; f_w: the ticket of a begin that has it. */
inline claim_free()
{
	f_w = state[c];
	if
	:: f_w == FREE -> state[c] = BUSY; got = c
	:: f_w == BUSY -> f_w = FREE; c++
	:: else
	fi
}

/* got: the slot of a new begin of key k, or NONE. */
inline claim(k)
{
	atomic { got = NONE; v_slot = NONE };
	c = k;
	do
#ifdef M_CLAIM_STORE
	:: c < k + WINDOW && got == NONE && f_w == FREE -> claim_free()
#else
	:: atomic { c < k + WINDOW && got == NONE && f_w == FREE -> claim_free() }
#endif
	:: atomic { f_w != FREE ->
		f_t = begin_ns[c];
		if
		:: v_slot == NONE || f_t < v_ns -> v_slot = c; v_ticket = f_w; v_ns = f_t
		:: else
		fi;
		c++;
		f_w = FREE;
		f_t = 0 }
	:: else -> break
	od;
	c = 0;
	if
	:: got == NONE && v_slot != NONE -> evict()
	:: else
	fi;
	atomic { v_slot = NONE; v_ticket = 0; v_ns = 0; ok = 0; f_slot = NONE; f_ticket = 0; f_ns = 0 }
}

/* mine: when it began. */
inline begin(k, mine)
{
	atomic { mine = now; now++ }
	claim(k);
	if
	:: got == NONE ->
#ifndef M_KEEP_OWN
		do
		:: look < WINDOW ->
			find(k, false);
			if
			:: f_slot != NONE -> take(f_slot, f_ticket, FREE)
			:: else
			fi;
			look++
		:: else -> break
		od
#endif
	:: else ->
		atomic { assert(!filling[got]); filling[got] = 1 }
#ifdef M_TICKET_FIRST
		atomic { tickets++; filling[got] = 0; state[got] = FIRST_TICKET + tickets }
		begin_ns[got] = mine;
		key[got] = k
#else
		begin_ns[got] = mine;
		key[got] = k;
#ifdef M_NO_TICKET
		atomic { filling[got] = 0; state[got] = FIRST_TICKET }
#else
		atomic { tickets++; filling[got] = 0; state[got] = FIRST_TICKET + tickets }
#endif
#endif
	fi;
	atomic { got = NONE; look = 0; ok = 0; f_slot = NONE; f_ticket = 0; f_ns = 0 }
}

inline end(k, mine)
{
	do
	:: look < LOOKS ->
		look++;
		find(k, true);
		if
		:: f_slot == NONE -> break
		:: else
		fi;
		take(f_slot, f_ticket, FREE);
#ifdef M_WORDS_LAST
		f_ns = begin_ns[f_slot];
#endif
		assert(!ok || f_ns == mine);
#ifdef M_ONE_END
		break
#else
		if
		:: ok -> break
		:: else
		fi
#endif
	:: else -> break
	od;
	atomic { ok = 0; f_slot = NONE; f_ticket = 0; f_ns = 0; mine = 0; look = 0 }
}

#define LOCALS							\
	byte s, f_slot = NONE, f_ticket, f_ns, f_k = NONE, f_t, f_w;	\
	byte v_slot = NONE, v_ticket, v_ns, v_k;		\
	byte c, got = NONE, look, seen;				\
	bit ok

active proctype thread() provided (!handling)
{
	LOCALS;
	byte turns, depth, mine[2];
	bit closing;

	do
	:: turns == TURNS -> break
	:: turns < TURNS && !closing ->
		begin(0, mine[depth]);
		atomic { depth++; closing = (depth == 2) }
	:: turns < TURNS && closing ->
		depth--;
		end(0, mine[depth]);
		atomic { closing = (depth > 0); turns = turns + !closing }
	od
}

active proctype other()
{
	LOCALS;
	byte opened, mine[OPENED];

	do
	:: opened < OPENED -> begin(1, mine[opened]); opened++
	:: else -> break
	od;
	do
	:: opened > OPENED - CLOSED -> opened--; end(1, mine[opened])
	:: else -> break
	od
}

#ifdef NEST
active proctype handler()
{
	LOCALS;
	byte mine;

	handling = 1;
	begin(0, mine);
	end(0, mine);
	handling = 0
}
#endif

/* SPDX-License-Identifier: MIT */
/*
 * hodo_anchor.pml - anchors on one ring: records of several threads, of which each is the thread's and the epoch's that
 * the last anchor before it in its packet says (core/ring.h; arch/x86_64/writer.S; hodo_ring_write_locked()).
 *
 * What it shows, over every interleaving of the steps below: when a record is committed, its packet's last anchor says
 * its thread, its epoch and, for a call, a window in which its frame lies.
 *
 * Steps, sections and preemption are those of hodo_ring.pml, which shows that records are whole and in order: here a
 * record is no more than what its anchor has to say of it. The steps of three writers, of R0, R1 and R2 records, are
 * explored; the third is a signal handler of the first one's thread, and may do more than a real one, which ends
 * before its thread goes on. Time runs on to the next epoch at any moment. Behind the commit of an anchor, a writer may
 * be moved to another CPU, where it finds another ring. A process that is killed is one whose steps come no more.
 *
 * SLOTS packets of SIZE units; a record is one unit, so is an anchor. The word's packet number wraps after SLOTS
 * packets, and the word does not count events: it comes round again far sooner than after the real 2^44 bytes. number
 * stands for what tells packets of one slot apart.
 *
 * LOCKED: the fallback ring. A lock in place of the sections; a writer may die with it in any step, and then the lock
 * is taken from it.
 *
 * Each M_... is a mutant: one thing done wrong, which must make the run fail.
 */
#ifndef R0
#define R0 2
#endif
#ifndef R1
#define R1 2
#endif
#ifndef R2
#define R2 1
#endif
#ifndef SIZE
#define SIZE 3
#endif
#define WRITERS 3
#define SLOTS 2
#define EPOCHS 2

#define THREAD (_pid % 2)
#define KEY (1 + THREAD * EPOCHS + now)

/* Shared: commit word, packets' numbers, ring.anchor (0, or a KEY) and ring.window; the time. */
byte word_slot, word_offset;
byte number[SLOTS];
byte anchor;
bit window;
bit epoch;

/* What the open packet's last anchor says, 0: it has none. */
byte said;
bit said_window;

#define OUTSIDE 0
#define INSIDE 1
#define ABORTED 2
byte section[WRITERS];
bool away[WRITERS];
bool owned;

#define ROOM(units) (word_offset + (units) <= SIZE)
#ifdef M_NO_EPOCH
#define SAME (anchor != 0 && (anchor - 1) / EPOCHS == THREAD)
#else
#ifdef M_NO_THREAD
#define SAME (anchor != 0 && (anchor - 1) % EPOCHS == now)
#else
#define SAME (anchor == KEY)
#endif
#endif
#ifdef M_NO_FRAME
#define SERVES SAME
#else
#define SERVES (SAME && (!call || window == frame))
#endif

/* A writer's step has the CPU: others on it were preempted. */
#define INTERRUPT(other) \
	if \
	:: other != _pid && section[other] == INSIDE && !away[other] && !away[_pid] -> section[other] = ABORTED \
	:: else \
	fi
#ifdef LOCKED
#define BEGIN(s) atomic { !owned -> owned = true; s }
#define STEP(s, abort_label) \
	atomic { \
		if \
		:: s \
		:: owned = false; goto dead \
		fi }
#define LEAVE owned = false
#else
#define BEGIN(s) atomic { INTERRUPT(0); INTERRUPT(1); INTERRUPT(2); section[_pid] = INSIDE; s }
#define STEP(s, abort_label) \
	atomic { \
		INTERRUPT(0); INTERRUPT(1); INTERRUPT(2); \
		if \
		:: section[_pid] == ABORTED -> section[_pid] = OUTSIDE; goto abort_label \
		:: else -> s \
		fi }
#define LEAVE section[_pid] = OUTSIDE
#endif

active [WRITERS] proctype writer()
{
	byte n, slot, offset, seq;
	bit now, frame, call;

	do
	:: n == (_pid == 0 -> R0 : (_pid == 1 -> R1 : R2)) -> break
	:: else ->
again:
		/* What is loaded in a section can be loaded in one step: a step of another writer aborts it. */
		BEGIN(
			now = epoch;
			if
			:: call = 0; frame = 0
			:: call = 1; frame = 0
			:: call = 1; frame = 1
			fi;
			if
			:: ROOM(1) && SERVES -> skip
			:: ROOM(2) && !SERVES -> goto anchored
			:: !ROOM(2) && !(ROOM(1) && SERVES) -> goto switch
			fi);
		STEP(assert(said == KEY && (!call || said_window == frame)); word_offset++; LEAVE, again);
		goto next;
anchored:
#ifndef M_NO_CLEAR
		STEP(anchor = 0, again);
#endif
#ifdef M_KEY_FIRST
		STEP(window = frame; anchor = KEY, again);
#endif
#ifndef LOCKED
		/* Behind the commit, it may be moved. */
		STEP(
			slot = word_slot; seq = number[slot]; word_offset = word_offset + 2; offset = word_offset;
			said = KEY; said_window = frame; LEAVE;
			if
			:: away[_pid] = true
			:: skip
			fi, again);
#ifdef M_KEY_FIRST
		goto next;
#endif
		BEGIN(
			if
			:: true
#ifndef M_NO_RING
			   && !away[_pid]
#endif
#ifndef M_NO_WORD
			   && word_slot == slot && word_offset == offset
#endif
#ifndef M_NO_NUMBER
			   && number[slot] == seq
#endif
			:: else -> LEAVE; goto next
			fi);
#else
		STEP(word_offset = word_offset + 2; said = KEY; said_window = frame, again);
#endif
#if !defined(M_WINDOW_LATE) && !defined(M_NO_WINDOW)
		STEP(window = frame, next);
#endif
#ifdef M_WINDOW_LATE
		STEP(anchor = KEY, next);
		STEP(window = frame; LEAVE, next);
#else
		STEP(anchor = KEY; LEAVE, next);
#endif
		goto next;
switch:
		STEP(number[1 - word_slot] = number[word_slot] + 1, again);
#ifndef M_SWITCH_NO_CLEAR
		STEP(anchor = 0, again);
#endif
		STEP(word_slot = 1 - word_slot; word_offset = 0; said = 0; LEAVE, again);
		goto again;
next:
		atomic { away[_pid] = false; n++; slot = 0; offset = 0; seq = 0; now = 0; frame = 0; call = 0 }
	od;
dead:	skip
}

active proctype clock()
{
	epoch = 1
}

/* SPDX-License-Identifier: MIT */
/*
 * hodo_ring.pml - the ring of one CPU: writers in restartable sections, the
 * packet switch, the consumer in both modes, kill at any point, and disabling.
 *
 * What it shows, over every interleaving of the steps below:
 *   - a committed event is read exactly once, or counted as overwritten; the
 *     count is a difference of headers and is exact also after a kill;
 *   - no event is read torn, and the events are read in the order of commit;
 *   - no event is committed twice, whatever is aborted and retried;
 *   - time stamps never run backwards, packets' begin and end included;
 *   - after disabling has returned, no event is committed.
 *
 * One step (an atomic {} below) is one load or store of shared memory, or a few
 * that nobody else can tell apart. The scheduler is in the steps: a step of a
 * writer on this CPU means that the other writers on it were preempted before,
 * so it aborts the section that one of them is inside of. The process `kernel`
 * adds what needs no other writer's step: a signal, or preemption and the same
 * thread again (abort); migration to another CPU, and back. A signal handler
 * that traces needs no process of its own: to the ring it is one more writer,
 * which preempts the interrupted one and runs to its end before that one goes
 * on at its abort label, and that schedule is one of those explored.
 *
 * What is left out:
 *   - memory order: steps are sequentially consistent. On x86-64 the protocol
 *     has no store followed by a load whose order matters: a writer's stores
 *     stay in order, a migration orders them for the next CPU, and disabling
 *     runs membarrier (here: the step that aborts all sections). The generic
 *     code uses acquire and release where this model relies on order; the C twin
 *     under ThreadSanitizer is the check of that.
 *   - sizes: N packets of K units instead of bytes, events of 1 or 2 units.
 *     The word's packet number wraps after N packets: the same word comes back
 *     far sooner than after the real 2^44 bytes.
 *   - events larger than a packet and the limit on retries (both leave the ring
 *     before they touch it), other CPUs' rings (the same code on other memory).
 *     Migration is explored where it differs from preemption: between the load
 *     of the word and the packet switch, which may then run on the wrong CPU.
 *
 * Parameters: N packets, K units a packet; E0, E1 events of the two writers, of
 * SZ0 and SZ1 units. OVERWRITE: flight recorder. DISABLE: with a controller that
 * disables the event. Each M_... is a mutant: one thing done wrong, which must
 * make the run fail.
 */
#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif
#ifndef E0
#define E0 2
#endif
#ifndef E1
#define E1 2
#endif
#ifndef SZ0
#define SZ0 1
#endif
#ifndef SZ1
#define SZ1 1
#endif
#ifndef OVERWRITE
#define OVERWRITE 0
#endif
#define W 2
#define EVENTS (E0 + E1)
#ifdef M_READ_NO_MARGIN
#define MARGIN 1
#else
#define MARGIN 2
#endif

/* Shared memory: the word (packet number, offset, events: always changed in one step), ... */
byte word_packet, word_offset, word_events;
#if !OVERWRITE
byte consumed, lost;
#endif
/* ... the packets' headers and contents: units that hold the number of their event. */
byte head_seq[N], head_before[N], head_content[N], head_events[N];
byte unit[N * K];
#ifdef DISABLE
bit on = 1;
#endif

/* Where a writer is. */
#define OUTSIDE 0 /* in no section */
#define INSIDE 1
#define ABORTED 2 /* was inside: goes on at the abort label */
byte section[W];
bit planning[W]; /* between the switch's load of the word and its end */
bit away[W];     /* on another CPU */
bit killed;

/* What is true, for the assertions only. */
byte committed;     /* events */
byte truth[EVENTS]; /* the n-th committed event's number */
byte finished;      /* writers */
byte skipped;       /* events not taken since the event was off */
bit disabled;

#define SIZE(id) (((id) <= E0) -> SZ0 : SZ1)
#define OTHER (1 - _pid)

/* A writer's step has the CPU: the other one on it was preempted. */
inline preempt()
{
	if
	:: section[OTHER] == INSIDE && !away[OTHER] && !away[_pid] -> section[OTHER] = ABORTED
	:: else
	fi
}
#define STEP(s) atomic { !killed -> preempt(); s }
#define INSTR(s, abort_label) \
	atomic { !killed -> \
		preempt(); \
		if \
		:: section[_pid] == ABORTED -> section[_pid] = OUTSIDE; goto abort_label \
		:: else -> s \
		fi }
#define LEAVE section[_pid] = OUTSIDE
#define NEXT(packet) (((packet) + 1) % N)
#define WORD_IS(p, o, e) (word_packet == p && word_offset == o && word_events == e)
#ifdef M_COMMIT_NOT_LAST
#define COMMIT_END skip
#else
#define COMMIT_END LEAVE
#endif
#ifdef M_FULL_NOT_LAST
#define FULL_END skip
#else
#define FULL_END LEAVE
#endif
#ifdef M_FULL_OFF_BY_ONE
#define FULL (N + 1)
#else
#define FULL N
#endif

active [W] proctype writer()
{
	byte i, id, packet, offset, events, seq, before, stamp, left;

	do
	:: i < (_pid == 0 -> E0 : E1) ->
		id = (_pid == 0 -> 0 : E0) + i + 1;
again:
		atomic {
			packet = 0; offset = 0; events = 0; seq = 0; before = 0; stamp = 0; left = 0; planning[_pid] = 0
		}
		/* The event's section: CPU and on word, word, clock, units, commit. */
		atomic { !killed && !away[_pid] ->
			preempt();
			section[_pid] = INSIDE;
#ifdef DISABLE
			if
			:: on
			:: else -> LEAVE; skipped++; goto next
			fi
#endif
			}
#ifdef M_ARM_LATE
		/* The section is announced before it begins: an interruption in between is not noticed. */
		atomic { !killed ->
			if
			:: section[_pid] == ABORTED -> section[_pid] = OUTSIDE
			:: else
			fi }
#endif
		INSTR(packet = word_packet; offset = word_offset; events = word_events, again);
		if
		:: offset + SIZE(id) <= K
		:: else -> STEP(LEAVE); goto slow
		fi;
		INSTR(stamp = committed, again);
#ifndef M_COMMIT_FIRST
		left = SIZE(id);
		do
		:: left > 0 -> INSTR(left--; unit[packet * K + offset + left] = id, again)
		:: else -> break
		od;
#endif
		/* Commit: the section's last instruction, so that nothing can abort behind it. */
		INSTR(
			assert(stamp == committed); /* no event was committed since the clock was read */
			assert(!disabled);
			truth[committed] = id; committed++;
			word_packet = packet; word_offset = offset + SIZE(id); word_events = events + 1;
			COMMIT_END, again);
#ifdef M_COMMIT_NOT_LAST
		INSTR(LEAVE, again);
#endif
#ifdef M_COMMIT_FIRST
		left = SIZE(id);
		do
		:: left > 0 -> STEP(left--; unit[packet * K + offset + left] = id)
		:: else -> break
		od;
#endif
		goto next;
slow:
#if !OVERWRITE
		/*
		 * A full ring is found and counted in a section of its own, of which the count is the last instruction;
		 * the switch would find it too, with more work.
		 */
		atomic { !killed && !away[_pid] -> preempt(); section[_pid] = INSIDE }
		INSTR(packet = word_packet; offset = word_offset, again);
		if
		:: offset + SIZE(id) <= K -> STEP(LEAVE); goto again
		:: else
		fi;
		INSTR(seq = head_seq[packet], again);
		INSTR(left = (seq + 1 - consumed >= FULL), again);
		if
		:: left -> INSTR(lost++; FULL_END, again);
#ifdef M_FULL_NOT_LAST
			INSTR(LEAVE, again);
#endif
			goto next
		:: else -> STEP(LEAVE)
		fi;
#endif
		/* The packet switch: values are computed outside the section, ... */
		STEP(packet = word_packet; offset = word_offset; events = word_events; planning[_pid] = 1);
		if
		:: offset + SIZE(id) <= K -> goto again /* the other writer has switched */
		:: else
		fi;
		STEP(seq = head_seq[packet]);
#ifndef M_PLAN_NO_RELOAD
		/*
		 * ... from a packet that is known to be the current one: its number may have been loaded from a
		 * switch under way, a lap after the word. Then the section would find word and number as
		 * expected, and the values below would be from before that switch.
		 */
		STEP(if :: !(WORD_IS(packet, offset, events)) -> goto again :: else fi);
#endif
		STEP(before = head_before[packet]);
#if !OVERWRITE
		STEP(left = (seq + 1 - consumed >= FULL));
		if
		:: left -> /* also if that was about a packet of the past: then it is counted without need */
			STEP(lost++);
			goto next
		:: else
		fi;
#endif
		STEP(stamp = committed);
		/* ... and used only if nothing that they came from has changed. */
		STEP(section[_pid] = INSIDE);
#ifndef M_SWITCH_NO_CPU
		INSTR(if :: away[_pid] -> LEAVE; goto again :: else fi, again);
#endif
#ifndef M_SWITCH_NO_WORD
		INSTR(if :: !(WORD_IS(packet, offset, events)) -> LEAVE; goto again :: else fi, again);
#endif
#ifndef M_SWITCH_NO_SEQ
		INSTR(if :: head_seq[packet] != seq -> LEAVE; goto again :: else fi, again);
#endif
#ifdef M_SWITCH_WORD_FIRST
		INSTR(word_packet = NEXT(packet); word_offset = 0; word_events = 0, again);
#endif
		INSTR(head_content[packet] = offset; head_events[packet] = events, again);
		INSTR(head_seq[NEXT(packet)] = seq + 1, again);
		INSTR(head_before[NEXT(packet)] = before + events; head_content[NEXT(packet)] = 0, again);
#ifdef M_SWITCH_WORD_FIRST
		STEP(LEAVE);
#else
		INSTR(
			assert(stamp == committed); /* the packets' end and begin are not before the last event */
			word_packet = NEXT(packet); word_offset = 0; word_events = 0; LEAVE, again);
#endif
		goto again;
next:
		atomic { planning[_pid] = 0; i++ }
	:: else -> break
	od;
	STEP(finished++)
}

active proctype kernel()
{
	byte t;

	do
	:: killed || finished == W -> break
	:: atomic { !killed && finished < W ->
		if
		:: t = 0
		:: t = 1
		fi;
		if
		:: section[t] == INSIDE -> section[t] = ABORTED
		:: planning[t] && !away[t] && section[t] != INSIDE -> away[t] = 1
		:: away[t] -> /* back: preempts nobody until its next step */
			away[t] = 0;
			if
			:: section[t] == INSIDE -> section[t] = ABORTED
			:: else
			fi
		:: else
		fi;
		t = 0 }
	:: atomic { killed = 1; break }
	od
}

#ifdef DISABLE
active proctype controller()
{
	on = 0;
#ifndef M_DISABLE_NO_BARRIER
	/* membarrier: every section that is under way is restarted. */
	atomic {
		if :: section[0] == INSIDE -> section[0] = ABORTED :: else fi;
		if :: section[1] == INSIDE -> section[1] = ABORTED :: else fi
	}
#endif
	disabled = 1
}
#endif

/*
 * The number of the current packet: its slot's sequence number, if the word
 * named that slot before and after it was loaded. (The word could have gone once
 * around in between; the real one takes 2^44 bytes for that.)
 */
inline current(failed)
{
	slot = word_packet;
	cur = head_seq[slot];
	atomic {
		now_offset = word_offset;
		if
		:: word_packet != slot -> goto failed
		:: else
		fi
	}
}

active proctype consumer()
{
	byte packet;   /* the next to read, and how much of it has been */
	byte done;
	byte expected; /* events so far: read and missed */
	byte missed;
	byte cur, slot, now_offset, end, before, events, index, i;
	bit last, closed, wrong;

poll:
	atomic {
		cur = 0; slot = 0; now_offset = 0; end = 0; before = 0; events = 0; index = 0; i = 0;
		closed = 0; wrong = 0
	}
	/* Looked at before the word: nothing is committed behind the death. */
	last = (killed || finished == W);
	current(poll);
#if OVERWRITE
	/*
	 * Not the oldest packet: it has the slot of the next one, which an aborted switch may have scribbled on.
	 */
	if
	:: packet + N < cur + MARGIN -> packet = cur + MARGIN - N; done = 0
	:: else
	fi;
#endif
	assert(packet <= cur);
	closed = packet < cur;
	before = head_before[packet % N];
	if
	:: closed ->
		end = head_content[packet % N];
		events = head_events[packet % N]
	:: else ->
#ifdef M_OPEN_BY_HEADER
		end = (head_content[packet % N] > done -> head_content[packet % N] : done)
#else
		end = now_offset
#endif
	fi;
	if
	:: end > K || end < done ->
#if OVERWRITE
		end = done;
#endif
		wrong = 1
	:: else
	fi;
#ifdef M_CONSUME_FIRST
	if
	:: closed -> consumed = packet + 1
	:: else
	fi;
#endif
	/* Compared with the truth as it is copied; the verdict counts once the copy is known to be good. */
	index = (done == 0 -> before : expected);
	slot = 0;
	i = done;
	do
	:: i < end ->
		atomic {
			if
			:: index >= committed -> wrong = 1
			:: else ->
				wrong = wrong || unit[(packet % N) * K + i] != truth[index];
				slot++;
				if
				:: slot == SIZE(truth[index]) -> slot = 0; index++
				:: else
				fi
			fi;
			i++
		}
	:: else -> break
	od;
	wrong = wrong || slot != 0;
#if OVERWRITE && !defined(M_READ_NO_RECHECK)
recheck:	skip;
	current(recheck);
	if
	:: packet + N < cur + MARGIN -> goto poll
	:: else
	fi;
#endif
	assert(!wrong); /* intact, in order, the committed ones and no others */
	if
	:: done == 0 ->
		assert(before >= expected);
		missed = missed + before - expected
	:: else
	fi;
	expected = index;
	assert(OVERWRITE || missed == 0);
	if
	:: closed ->
		assert(expected == before + events);
		packet++;
		done = 0;
#if !OVERWRITE
		consumed = packet;
#endif
		goto poll
	:: else -> done = end
	fi;
	if
	:: last -> skip
	:: else -> goto poll
	fi;
	/* The writers are gone: nothing is missing, and nothing was taken twice. */
	assert(expected == committed);
#if OVERWRITE
	assert(killed || committed + skipped == EVENTS);
#else
	assert(killed || committed + lost + skipped == EVENTS);
#endif
	i = 0;
	do
	:: i + 1 < committed ->
		end = i + 1;
		do
		:: end < committed -> assert(truth[i] != truth[end]); end++
		:: else -> break
		od;
		i++
	:: else -> break
	od
}

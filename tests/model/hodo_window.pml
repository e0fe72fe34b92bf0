/* SPDX-License-Identifier: MIT */
/*
 * hodo_window.pml - a window of a program's code that is replaced by a jump, and put back, while threads run through
 * it (src/func/engine/apply.c, trap.c).
 *
 * What it shows, over every interleaving:
 *   - no core runs an instruction of which it has fetched a part from before a change and a part from behind it;
 *   - no instruction's first byte changes while cores may run it but to int3 or from it, which is the one change of
 *     running code that processors allow without a stop of all cores;
 *   - a thread that was preempted between the instructions, or comes there by a jump, does what it would have done,
 *     each instruction once;
 *   - a trap finds its slot, however late its handler runs, and a slot that is given back has nobody in it;
 *   - -DFORK: a child that is made in the middle of a change, by a clone() that asks nobody, ends it, whatever had been
 *     written, while a thread of its own runs.
 *
 * The window has two instructions, each of a first byte and the rest of it: four cells. A cell is as the program has
 * it, as the jump has it, or int3; the jump's byte at the second instruction is one that traps. Between two barriers
 * a core that fetches a cell may see any of the values that it has had since the last one, again and again, in
 * whatever order: `may` is their set. A barrier leaves the one that memory has.
 *
 *   - -DSWITCH: another plan's jump comes to where one is, and the window does not go off in between.
 *
 * Left out: that stores of several windows go out together, which makes each of their steps longer.
 *
 * Parameters: CYCLES of on and off. -DGIVE: the slot is given back after each, and is another's. Each M_...
 * is a mutant.
 */
#define T 2
#ifndef CYCLES
#define CYCLES 2
#endif

#define PROGRAM 1 /* sets of one */
#define JUMP 2
#define INT3 4
#define OTHER 8 /* another plan's jump */

/* Where a thread is. */
#define FIRST 0  /* at the first instruction */
#define SECOND 1
#define TRAP1 2  /* on the way to the handler */
#define TRAP2 3
#define SLOT1 4  /* in the slot, at the copies */
#define SLOT2 5
#define OUT 6

byte memory[4] = PROGRAM; /* the first byte and the rest, twice */
byte may[4] = PROGRAM;
byte at[T] = OUT;
bit first[T];   /* it is to run the first instruction, too */
bit slot;       /* it is the window's */
bit child;
bit done;       /* what was to be written is */

#define first_byte(c) (c == 0 || c == 2)

inline put(c, value)
{
	atomic {
		/* Without that nobody knows what a core runs that fetches it just then. */
		assert(!first_byte(c) || memory[c] == value || memory[c] == INT3 || value == INT3);
		memory[c] = value;
		may[c] = may[c] | value
	}
}

inline barrier()
{
	d_step { may[0] = memory[0]; may[1] = memory[1]; may[2] = memory[2]; may[3] = memory[3] }
}

inline barrier_if(condition)
{
	if
	:: condition -> barrier()
	:: else
	fi
}

/* A core that may still see the instruction as it was must see all of it so. */
inline whole_first(is)
{
	assert(may[1] == is && (is == PROGRAM || (may[2] == is && may[3] == is)))
}

inline fetch_first(t)
{
	if
	:: may[0] & PROGRAM -> whole_first(PROGRAM); at[t] = SECOND; first[t] = 0
	:: may[0] & JUMP -> whole_first(JUMP); assert(slot); at[t] = SLOT1
#ifdef SWITCH
	:: may[0] & OTHER -> whole_first(OTHER); at[t] = SLOT1
#endif
	:: may[0] & INT3 -> at[t] = TRAP1
	fi
}

inline fetch_second(t)
{
	if
	:: may[2] & PROGRAM -> assert(may[3] == PROGRAM && !first[t]); at[t] = OUT
	:: may[2] & (JUMP | INT3 | OTHER) -> at[t] = TRAP2
	fi
}

inline handle(t, to)
{
#ifdef M_FIND_ON
	assert(memory[0] != PROGRAM);
#endif
	assert(slot);
	at[t] = to
}

active [T] proctype thread()
{
	do
	:: atomic { at[_pid] == FIRST -> fetch_first(_pid) }
	:: atomic { at[_pid] == SECOND -> fetch_second(_pid) }
	:: atomic { at[_pid] == TRAP1 -> handle(_pid, SLOT1) }
	:: atomic { at[_pid] == TRAP2 -> handle(_pid, SLOT2) }
	:: atomic { at[_pid] == SLOT1 -> assert(slot && first[_pid]); first[_pid] = 0; at[_pid] = SLOT2 }
	:: atomic { at[_pid] == SLOT2 -> assert(slot && !first[_pid]); at[_pid] = OUT }
	:: atomic { at[_pid] == OUT && !done -> at[_pid] = FIRST; first[_pid] = 1 }
	:: atomic { at[_pid] == OUT && !done -> at[_pid] = SECOND }
	:: atomic { at[_pid] == OUT && done -> break }
	od
}

/*
 * The parent's threads are not in the child: only the one that made it, which is in none of these places, and those
 * that it starts. What is being written goes on in the child, or it does not.
 */
inline maybe_fork()
{
#ifdef FORK
	if
	:: d_step { !child ->
		child = 1;
		at[0] = OUT; at[1] = OUT; first[0] = 0; first[1] = 0;
		may[0] = memory[0]; may[1] = memory[1]; may[2] = memory[2]; may[3] = memory[3] };
		goto again
	:: true
	fi
#else
	skip
#endif
}

inline write(c, value)
{
	maybe_fork();
	put(c, value)
}

/* Int3 on each first byte; where the jump is, the second one traps, and is a part of the jump. */
inline step_1()
{
#ifndef M_NO_INT3
	write(0, INT3);
#endif
#ifdef M_BOUNDARY_ALWAYS
	write(2, INT3)
#else
	if
#ifdef M_BOUNDARY_AT_ONCE
	:: memory[2] == PROGRAM -> write(2, JUMP)
#else
	:: memory[2] == PROGRAM -> write(2, INT3)
#endif
	:: else
	fi
#endif
}

/* Where another jump is: what is behind its first byte goes off. */
inline step_between()
{
	if
	:: takes ->
		write(1, PROGRAM);
		write(2, INT3);
		write(3, PROGRAM);
		barrier()
	:: else
	fi
}

/* The bytes between, and of a jump all but its first. */
inline step_2()
{
	write(1, wanted);
#if defined(M_BOUNDARY_EARLY)
	write(2, wanted);
#else
#ifndef M_BOUNDARY_LATE
	write(2, (wanted == PROGRAM -> INT3 : wanted));
#endif
#endif
	write(3, wanted)
}

inline step_3()
{
	write(0, wanted);
	write(2, wanted)
}

/* Nobody is in it, or on the way to it. */
#define is_in(t) (at[t] == TRAP1 || at[t] == TRAP2 || at[t] == SLOT1 || at[t] == SLOT2)

active proctype writer()
{
	byte changes, wanted = PROGRAM;
	bit takes;

	do
	:: changes < 2 * CYCLES && !child ->
		atomic {
#ifdef SWITCH
			if
			:: wanted == PROGRAM -> wanted = JUMP
			:: wanted == JUMP -> wanted = OTHER; takes = 1
			:: wanted != PROGRAM -> wanted = PROGRAM; takes = 0
			fi;
#else
			wanted = JUMP + PROGRAM - wanted;
#endif
			slot = 1
		};
again:
#ifdef M_CHILD_LEAVES
		if
		:: child -> goto whole
		:: else
		fi;
#endif
#ifdef M_OFF_FORWARDS
		put(1, wanted);
#endif
#ifdef M_CHILD_AT_ONCE
		if
		:: child -> step_2(); goto last
		:: else
		fi;
#endif
		step_1();
#ifdef M_ON_NO_BARRIER_1
		barrier_if(wanted == PROGRAM);
#else
#ifdef M_OFF_NO_BARRIER_1
		barrier_if(wanted == JUMP);
#else
		barrier();
#endif
#endif
#if defined(SWITCH) && !defined(M_SWITCH_AT_ONCE)
		step_between();
#endif
		step_2();
#ifdef M_ON_NO_BARRIER_2
		barrier_if(wanted == PROGRAM);
#else
#ifdef M_OFF_NO_BARRIER_2
		barrier_if(wanted == JUMP);
#else
		barrier();
#endif
#endif
last:		step_3();
#ifndef M_NO_BARRIER_3
		barrier();
#endif
whole:		assert(memory[0] == wanted && memory[1] == wanted && memory[2] == wanted && memory[3] == wanted);
#ifdef GIVE
		if
#ifdef M_GIVE_EARLY
		:: wanted == PROGRAM -> slot = 0
#else
		:: atomic { wanted == PROGRAM && !is_in(0) && !is_in(1) -> slot = 0 }
#endif
		:: wanted == JUMP
		fi;
#endif
		changes++
	:: else -> break
	od;
	done = 1
}

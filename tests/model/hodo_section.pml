/* SPDX-License-Identifier: MIT */
/*
 * hodo_section.pml - the end of a recording (src/user/event/section.c, recording.c): writers in restartable
 * sequences and in sections on one side; on the other, who closes the sections, waits until
 * nobody is inside, takes the views away, and unmaps the memory; then the next recording
 * begins.
 *
 * What it shows, over every interleaving:
 *   - nobody touches memory that is gone, nor, later, finds a view that belongs to it;
 *   - the end comes, if those inside leave.
 *
 * Writer 0 has restartable sequences: in one it writes an event if there is a view; else it
 * enters a section (a sequence, too: look at `open`, count), sets the view up, leaves. Its stores stay in a
 * store buffer, in order, until that is emptied at some time. A barrier empties it and restarts a
 * sequence that is under way. Writer 1 has none: its counts are locked instructions. The commit of a
 * sequence is one step, which happens only if there was no restart.
 *
 * Left out: signals (sections nest), a section that a longjmp leaves (the end gives up after two seconds).
 *
 * Parameters: TURNS of each writer, ENDS of recordings. Each M_... is a mutant.
 */
#ifndef TURNS
#define TURNS 2
#endif
#ifndef ENDS
#define ENDS 2
#endif

bit mem = 1;     /* mapped */
bit open = 1;
bit view;        /* as memory has it */
bit restart;     /* of writer 0's sequence */
byte in0, out0;  /* writer 0's counts, as memory has them */
byte in1, out1;
/* Writer 0's store buffer: oldest first. */
bit own_in, own_view, own_out;
byte finished;

inline empty_buffer()
{
	in0 = in0 + own_in;
	own_in = 0;
	view = (own_view -> 1 : view);
	own_view = 0;
	out0 = out0 + own_out;
	own_out = 0
}

active proctype sequences()
{
	byte turns;
	bit seen;

	do
	:: turns < TURNS ->
		/* the writer in assembly */
fast:		restart = 0;
		seen = view || own_view;
		if
		:: seen ->
			atomic {
				if
				:: restart -> goto fast
				:: else -> assert(mem)
				fi
			}
			goto done
		:: else
		fi;
		/* a section */
slow:		restart = 0;
		seen = open;
		if
		:: !seen -> goto done
		:: else
		fi;
		atomic {
#ifndef M_NO_RESTART
			if
			:: restart -> goto slow
			:: else
			fi;
#endif
			!own_in;
			own_in = 1
		}
		assert(mem);
		atomic { !own_view; own_view = 1 }
		assert(mem);
		atomic { !own_out; own_out = 1 }
done:		turns++
	:: else -> break
	od;
	finished++
}

active proctype locked()
{
	byte turns;
	bit seen;

	do
	:: turns < TURNS ->
#ifdef M_CHECK_FIRST
		seen = open;
		in1++;
#else
		in1++;
		seen = open;
#endif
		if
		:: seen ->
			assert(mem);
			view = 1;
			assert(mem)
		:: else
		fi;
		out1++;
		turns++
	:: else -> break
	od;
	finished++
}

/* The buffer empties itself at any time, a store after the other. */
active proctype memory()
{
	do
	:: atomic { own_in -> in0++; own_in = 0 }
	:: atomic { own_view && !own_in -> view = 1; own_view = 0 }
	:: atomic { own_out && !own_in && !own_view -> out0++; own_out = 0 }
	:: finished == 3 && !own_in && !own_view && !own_out -> break
	od
}

inline barrier()
{
	atomic {
		empty_buffer();
		restart = 1
	}
}

active proctype ends()
{
	byte n, out, ins;

	do
	:: n < ENDS ->
#ifdef M_VIEWS_FIRST
		view = 0;
		barrier();
#endif
		open = 0;
#ifndef M_NO_BARRIER
		barrier();
#endif
#ifndef M_NO_WAIT
again:
#ifdef M_INS_FIRST
		ins = in0;
		ins = ins + in1;
		out = out0;
		out = out + out1;
#else
		out = out0;
		out = out + out1;
		ins = in0;
		ins = ins + in1;
#endif
		if
		:: out != ins -> goto again
		:: else
		fi;
#endif
#ifndef M_VIEWS_FIRST
		view = 0;
#ifndef M_NO_LAST_BARRIER
		barrier();
#endif
#endif
		mem = 0;
		assert(!view && !own_view);
		mem = 1;
		open = 1;
		n++
	:: else -> break
	od;
	finished++
}

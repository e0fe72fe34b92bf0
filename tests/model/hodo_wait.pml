/* SPDX-License-Identifier: MIT */
/*
 * hodo_wait.pml - writers that wait for room in a full ring, and the recorder that makes it (user/ring/wait.c;
 * give_back() in record/ring/ring_reader.c). A futex compares and sleeps in one step, and wakes who sleeps.
 *
 * WRITERS threads write EVENTS packets each into a ring of SLOTS, of which one is always open; the recorder takes them.
 * One at a time writes (a CPU's ring), but any number of them may be between its look at the ring and its sleep. A
 * writer may be killed before a write, and in its sleep, where its flag stays. Time-outs, by which a real writer looks
 * again, are left out: nobody may depend on them.
 *
 * Holds: where nobody can go on, everybody has ended, and all that was written was taken.
 */
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef EVENTS
#define EVENTS 4
#endif
#define WRITERS 2

byte written, consumed;
byte space;
bit waiters;
bool asleep[WRITERS];
byte ended;

#define FULL (written - consumed >= SLOTS - 1)

inline wake()
{
#ifdef M_NUMBER_FIRST
	space++;
#endif
	atomic { waiting = waiters; waiters = 0 }
#if !defined(M_NUMBER_FIRST) && !defined(M_NO_NUMBER)
	space++;
#endif
	if
	:: waiting -> atomic { asleep[0] = false; asleep[1] = false; waiting = 0 }
	:: else
	fi
}

proctype writer(byte me)
{
	byte n, seen;
	bool is_full;

write:
	if
	:: n < EVENTS ->
		atomic {
			is_full = FULL;
			if
			:: !is_full -> written++; n++
			:: else
			fi
		}
	:: n == EVENTS -> goto end
	:: goto end /* it is killed */
	fi;
	if
	:: !is_full -> goto write
	:: else
	fi;
#ifndef M_SEEN_LATE
	seen = space;
#endif
#ifndef M_FLAG_LATE
	waiters = 1;
#endif
#ifndef M_NO_LOOK_AGAIN
	is_full = FULL;
#endif
#ifdef M_SEEN_LATE
	seen = space;
#endif
#ifdef M_FLAG_LATE
	waiters = 1;
#endif
	if
	:: is_full ->
		atomic {
			if
			:: space == seen -> asleep[me] = true
			:: else
			fi
		}
		!asleep[me]
	:: is_full -> goto end /* it is killed */
	:: !is_full
	fi;
	goto write;
end:
	ended++
}

active proctype recorder()
{
	byte current;
	bit waiting;

	do
	:: written != consumed ->
		current = written;
		do
		:: consumed == current -> break
		:: consumed != current ->
#ifdef M_ROOM_LATE
			if
			:: consumed + 1 == current -> wake()
			:: else
			fi;
			consumed++
#else
			consumed++;
			if
#ifndef M_NOT_AT_END
			:: consumed == current -> wake()
#endif
#if SLOTS > 2
			:: consumed != current && (current - consumed) * 2 == SLOTS -> wake()
#endif
			:: else
			fi
#endif
		od
	:: written == consumed && ended == WRITERS -> break
	od
}

active proctype nobody_goes_on()
{
	timeout;
	assert(ended == WRITERS && written == consumed)
}

init
{
	atomic {
		run writer(0);
		run writer(1)
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * hodo_kernel.pml - the kernel's writers (src/kmod/emit.h, writer.c): a ring for each CPU, whose writer has
 * interrupts off and says that it is `busy`; the fallback ring for what finds it busy (an NMI, at any
 * step; an event that filling in another one brings about), behind a lock that is tried once; packets that are
 * switched, and closed by an interrupt from another CPU (flush); a reader that moves `consumed` by a system
 * call; the end, which waits until nobody is inside, after which the memory is gone.
 *
 * What it shows, over every interleaving:
 *   - a reader finds exactly the committed events, whole and in order, and time stamps never run back;
 *   - the last anchor before an event in its packet says the event's thread, and there is one;
 *   - each event is committed once or counted as lost, by cause, unless it comes when events are off;
 *   - positions that readers give are refused unless they lie between the last one and the open packet;
 *   - nobody touches memory that is gone; the end comes.
 *
 * Each CPU has a task, which emits E events, by two threads in turns, and in the first brings about another one if
 * NEST; its NMIs, X of them, which come at any step, run before the task goes on, are not interrupted, and are of its
 * thread at that moment; and the interrupt for flush, which waits until they are on. An event's place in a packet has
 * room for an anchor, and is used again by the next event where RULES refuse the one that is there; that an anchor may
 * be committed a moment before its event is not seen here. The clock's epochs are as threads are. Left out: the order
 * of memory (steps are sequentially consistent: a CPU sees its own stores in order; commit and lock are release
 * stores); overwrite mode, in which nothing is refused as full (hodo_ring.pml has its reader); other interrupts, which
 * cannot come while a writer is busy.
 *
 * Parameters: CPUS, E, X, N packets of K events, NEST, FLUSH: how many, LATE: the reader begins when events are off,
 * TWO readers, RULES: any event may be refused when it is whole. Each M_... is a mutant.
 */
#ifndef CPUS
#define CPUS 2
#endif
#ifndef E
#define E 1
#endif
#ifndef X
#define X 1
#endif
#ifndef N
#define N 2
#endif
#ifndef K
#define K 1
#endif
#define RINGS (CPUS + 1)
#define FALLBACK CPUS
#define EMITTED (CPUS * (E + X))
#ifdef NEST
#define ALL (EMITTED + CPUS)
#else
#define ALL EMITTED
#endif
#define ROOM 8 /* events of a ring that are remembered */

bit on = 1, mem = 1, stopped;
bit busy[RINGS];
bit section[CPUS]; /* the task is where the end waits for it to leave */
bit irqs_off[CPUS], in_irq[CPUS], in_nmi[CPUS];
bit thread[CPUS];
bit ipi[CPUS];

/* Of the rings, as everybody sees them. */
byte word_seq[RINGS], word_events[RINGS], consumed[RINGS];
byte head_seq[RINGS * N], head_before[RINGS * N], head_events[RINGS * N];
byte unit[RINGS * N * K * 2]; /* an event is two units */
byte anchor[RINGS * N * K]; /* in front of the event that is there: of which thread, + 1; 0: none */
byte said[RINGS]; /* by the last anchor in the open packet: the writer's */
byte lost_full[RINGS], lost_busy;

/* The truth. */
byte committed[RINGS], truth[RINGS * ROOM], taken[RINGS];
byte skipped, finished, gave;
bit readers_done;

#define SLOT(r, seq) ((r) * N + (seq) % N)
#define PLACE(r, seq, i) (SLOT(r, seq) * K + (i))
#define UNIT(r, seq, i) (PLACE(r, seq, i) * 2)
#ifdef M_SAID_OF_CPU
#define SAID(r) said[c]
#else
#define SAID(r) said[r]
#endif
#define TRUTH(id) (id + 32 * thread[c]) /* an event and its thread */
/* Who may take a step on CPU c. */
#define TASK (!in_nmi[c] && !in_irq[c])
#define IRQ (!in_nmi[c])
#define NMI true
#define STEP(can, s) atomic { can -> s }

/* To the next packet; ok: there was one. */
inline switch_packet(can, r, seq, events, ok)
{
	ok = 1;
#ifndef M_FULL_UNCHECKED
	STEP(can, ok = (seq + 1 - consumed[r] < N));
#endif
	if
	:: ok ->
		STEP(can, head_events[SLOT(r, seq)] = events);
		STEP(can, assert(mem); head_before[SLOT(r, seq + 1)] = head_before[SLOT(r, seq)] + events;
		     head_seq[SLOT(r, seq + 1)] = seq + 1);
		STEP(can, word_seq[r] = seq + 1; word_events[r] = 0; seq++; events = 0;
#ifndef M_SAID_KEPT
		     SAID(r) = 0
#endif
		     )
	:: else
	fi
}

/* hodo_emit_begin(), when busy is set, and the event's first half. */
inline begin(can, r, id, seq, events, ok, stamp, old)
{
#ifdef M_OLD_EARLY
	STEP(can, old = SAID(r));
#endif
#ifndef M_BUSY_LATE
	STEP(can, seq = word_seq[r]; events = word_events[r]);
#endif
	ok = 1;
	if
	:: events == K ->
		switch_packet(can, r, seq, events, ok);
#ifdef LATE
		assert(ok) /* there is room for all */
#else
		if
		:: !ok -> STEP(can, assert(mem); lost_full[r]++)
		:: else
		fi
#endif
	:: else
	fi;
	if
	:: ok ->
		STEP(can, stamp = committed[r]);
		STEP(can, assert(mem);
#ifndef M_OLD_EARLY
		     old = SAID(r);
#endif
		     anchor[PLACE(r, seq, events)] = (SAID(r) == thread[c] + 1 -> 0 : thread[c] + 1);
		     SAID(r) = thread[c] + 1; unit[UNIT(r, seq, events)] = id)
	:: else
	fi
}

/* The other half, and hodo_emit_end(). */
inline end(can, r, id, seq, events, stamp, old)
{
#ifndef M_COMMIT_FIRST
	STEP(can, unit[UNIT(r, seq, events) + 1] = id);
#endif
#ifdef M_RELEASE_FIRST
	STEP(can, busy[r] = 0);
#endif
	if
	:: STEP(can, assert(mem && !stopped && stamp == committed[r]);
		truth[r * ROOM + committed[r]] = TRUTH(id); committed[r]++;
		word_seq[r] = seq; word_events[r] = events + 1)
#ifdef RULES
	:: STEP(can, skipped++;
#ifndef M_REFUSED_SAID
		SAID(r) = old
#endif
		)
#endif
	fi
#ifdef M_COMMIT_FIRST
	STEP(can, unit[UNIT(r, seq, events) + 1] = id)
#endif
}

/* hodo_emit_nested() and what follows. */
inline fall_back(can, id, seq, events, ok, stamp, old, got)
{
#if defined(M_LOCK_STORE)
	STEP(can, got = !busy[FALLBACK]);
	STEP(can, busy[FALLBACK] = (got -> 1 : busy[FALLBACK]));
#elif defined(M_NO_LOCK)
	got = 1;
#else
	STEP(can, got = !busy[FALLBACK]; busy[FALLBACK] = 1);
#endif
	if
	:: got ->
#ifdef M_BUSY_LATE
		STEP(can, seq = word_seq[FALLBACK]; events = word_events[FALLBACK]);
#endif
		begin(can, FALLBACK, id, seq, events, ok, stamp, old);
		if
		:: ok -> end(can, FALLBACK, id, seq, events, stamp, old)
		:: else
		fi;
		STEP(can, busy[FALLBACK] = 0)
	:: else ->
#ifdef M_LOST_PLAIN
		STEP(can, stamp = lost_busy);
		STEP(can, lost_busy = stamp + 1)
#else
		STEP(can, assert(mem); lost_busy++)
#endif
	fi
}

proctype task(byte c)
{
	byte i, seq, events, stamp, old, id;
	bit ok, go;
#ifdef NEST
	byte seq2, events2, stamp2, old2;
	bit ok2, got;
#endif

	do
	:: i < E ->
		id = 1 + c * (E + X + 1) + i;
#ifdef M_CHECK_OUTSIDE
		STEP(TASK, go = on);
		STEP(TASK, section[c] = 1);
#else
		STEP(TASK, section[c] = 1);
		STEP(TASK, go = on);
#endif
		if
		:: go ->
#ifndef M_IRQS_ON
			STEP(TASK, irqs_off[c] = 1);
#endif
#ifdef M_BUSY_LATE
			/* As without the barrier: loaded before busy was stored. */
			STEP(TASK, seq = word_seq[c]; events = word_events[c]);
#endif
			STEP(TASK, busy[c] = 1);
			begin(TASK, c, id, seq, events, ok, stamp, old);
			if
			:: ok ->
#ifdef NEST
				if
				:: i == 0 ->
					fall_back(TASK, 1 + c * (E + X + 1) + E + X, seq2, events2, ok2, stamp2, old2,
						  got)
				:: else
				fi;
#endif
				end(TASK, c, id, seq, events, stamp, old)
			:: else ->
#if defined(NEST) && !defined(LATE)
				skipped = skipped + (i == 0) /* it did not come to it */
#endif
			fi;
			STEP(TASK, busy[c] = 0);
			STEP(TASK, irqs_off[c] = 0)
		:: else ->
#ifdef NEST
			skipped = skipped + (i == 0);
#endif
			skipped++
		fi;
		STEP(TASK, section[c] = 0; thread[c] = !thread[c]);
		i++
	:: else -> break
	od;
	finished++
}

proctype nmis(byte c)
{
	byte i, seq, events, stamp, old, id;
	bit ok, got, go, seen;

	do
	:: i < X ->
		id = 1 + c * (E + X + 1) + E + i;
		in_nmi[c] = 1;
		go = on;
		if
		:: go ->
#ifndef M_NO_BUSY
			seen = busy[c];
#endif
			if
			:: seen -> fall_back(NMI, id, seq, events, ok, stamp, old, got)
			:: else ->
#ifdef M_BUSY_LATE
				seq = word_seq[c]; events = word_events[c];
#endif
				busy[c] = 1;
				begin(NMI, c, id, seq, events, ok, stamp, old);
				if
				:: ok -> end(NMI, c, id, seq, events, stamp, old)
				:: else
				fi;
				busy[c] = 0
			fi
		:: else -> skipped++
		fi;
		in_nmi[c] = 0;
		i++
	:: else -> break
	od;
	finished++
}

#ifdef FLUSH
/* On each CPU, interrupts off. */
proctype interrupts(byte c)
{
	byte seq, events;
	bit ok;

	do
	:: atomic { ipi[c] && !irqs_off[c] && !in_nmi[c] -> in_irq[c] = 1 }
#ifndef M_IPI_NOT_BUSY
		STEP(IRQ, busy[c] = 1);
#endif
		STEP(IRQ, seq = word_seq[c]; events = word_events[c]);
		if
		:: events > 0 -> switch_packet(IRQ, c, seq, events, ok)
		:: else
		fi;
#ifndef M_IPI_NOT_BUSY
		STEP(IRQ, busy[c] = 0);
#endif
		STEP(IRQ, in_irq[c] = 0; ipi[c] = 0)
	:: mem == 0 -> break
	od
}

/* A system call: closes open packets. */
inline flush()
{
	c = 0;
	do
	:: c < CPUS ->
#ifdef M_FLUSH_FROM_AFAR
		seq = word_seq[c];
		events = word_events[c];
		if
		:: events > 0 -> switch_packet(true, c, seq, events, ok)
		:: else
		fi;
#else
		ipi[c] = 1;
		ipi[c] == 0;
#endif
		c++
	:: else -> break
	od;
	atomic { ok = !busy[FALLBACK]; busy[FALLBACK] = 1 }
	if
	:: ok ->
		seq = word_seq[FALLBACK];
		events = word_events[FALLBACK];
		if
		:: events > 0 -> switch_packet(true, FALLBACK, seq, events, ok)
		:: else
		fi;
		busy[FALLBACK] = 0
	:: else
	fi
}
#endif

#if CPUS == 1
/* Of another CPU, all that matters here: it has the fallback ring's lock for a while. */
active proctype other()
{
	atomic { !busy[FALLBACK] -> busy[FALLBACK] = 1 }
	busy[FALLBACK] = 0
}
#endif

active proctype control()
{
	byte c, n, seq, events;
	bit ok;

#ifdef FLUSH
	do
	:: n < FLUSH -> flush(); n++
	:: else -> break
	od;
#endif
	on = 0;
#ifndef M_END_NO_WAIT
	/* hodo_quiesce() */
	c = 0;
	do
	:: c < CPUS -> !section[c]; !in_nmi[c]; c++
	:: else -> break
	od;
#endif
	stopped = 1;
	readers_done;
	mem = 0
}

/* The system call: whether the position was taken. */
inline put(r, position, done)
{
#if defined(M_PUT_UNCHECKED)
	atomic { assert(position >= consumed[r] && position <= word_seq[r]); consumed[r] = position; done = 1 }
#elif defined(M_PUT_UNLOCKED)
	done = (position >= consumed[r] && position <= word_seq[r]);
	if
	:: done -> atomic { assert(position >= consumed[r]); consumed[r] = position }
	:: else
	fi
#else
	/* Under the lock that all who give positions take. */
	atomic { done = (position >= consumed[r] && position <= word_seq[r]);
		if
		:: done -> assert(position >= consumed[r]); consumed[r] = position
		:: else
		fi }
#endif
}

/* The i-th event of a packet, which is the n-th of the ring. */
inline look_at(r, seq, i, n)
{
	assert(unit[UNIT(r, seq, i)] == truth[r * ROOM + n] % 32);
	assert(unit[UNIT(r, seq, i) + 1] == truth[r * ROOM + n] % 32);
	now = (anchor[PLACE(r, seq, i)] -> anchor[PLACE(r, seq, i)] : now);
	assert(now == truth[r * ROOM + n] / 32 + 1)
}

/* Takes the events of a packet. */
inline take(r, n)
{
	i = 0;
	now = 0;
	do
	:: i < n ->
		atomic {
			assert(mem && taken[r] < committed[r]);
			look_at(r, seq, i, taken[r]);
			taken[r]++;
			i++
		}
	:: else -> break
	od
}

#ifndef TWO
active proctype reader()
{
	byte r, seq, i, n, now;
	bit done, last;

#ifdef LATE
	stopped;
#endif
	do
	:: r < RINGS ->
		last = stopped;
		seq = consumed[r];
		if
		:: seq < word_seq[r] ->
			assert(head_seq[SLOT(r, seq)] == seq && head_before[SLOT(r, seq)] == taken[r]);
			take(r, head_events[SLOT(r, seq)]);
			put(r, seq + 1, done);
			assert(done)
		:: else ->
			if
			:: last ->
				/* The open packet, by the word. */
				take(r, word_events[r]);
				assert(taken[r] == committed[r]);
				r++
#ifndef LATE
			:: !last ->
				/* Looks into the open packet, as a snapshot does. */
				n = (word_seq[r] == seq -> word_events[r] : 0);
				i = 0;
				now = 0;
				do
				:: i < n ->
					atomic {
						look_at(r, seq, i, taken[r] + i);
						i++
					}
				:: else -> break
				od;
				r = (r + 1) % RINGS
#endif
			fi
		fi
	:: else -> break
	od;
	readers_done = 1;
	/* Whatever comes now is not recorded. */
	finished == 2 * CPUS;
	assert(committed[FALLBACK] + lost_full[FALLBACK] + lost_busy + committed[0] + lost_full[0] +
#if CPUS > 1
	       committed[1] + lost_full[1] +
#endif
	       skipped == ALL)
}
#else
/* Two that read the same ring: its events are not looked at, only the position is. */
proctype giver()
{
	byte position;
	bit done;

	if
	:: position = word_seq[0]
	:: position = consumed[0]
	:: position = word_seq[0] + 1
	fi;
	put(0, position, done);
	assert(consumed[0] <= word_seq[0]);
	atomic {
		gave++;
		if
		:: gave == 2 -> readers_done = 1
		:: else
		fi
	}
}
#endif

init {
	byte c;

	atomic {
		do
		:: c < CPUS -> run task(c); run nmis(c); c++
		:: else -> break
		od;
#ifdef FLUSH
		c = 0;
		do
		:: c < CPUS -> run interrupts(c); c++
		:: else -> break
		od;
#endif
#ifdef TWO
		run giver();
		run giver();
#endif
	}
}

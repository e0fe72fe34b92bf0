/* SPDX-License-Identifier: MIT */
/*
 * threads.c - dispatch's state of each thread: made at its first traced call, reused for a new thread when it
 * has ended. libc's threads report their end, and are in no call then; others that have ended are found when
 * memory is needed, or a tid is reused.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <core/bounded_text.h>
#include <func/names/names.h>
#include "threads.h"
#include <user/user.h>
#include <errno.h>
#include <user/libc/sys.h>
#include <func/func.h>

#define CHUNK 64 /* threads in one mapping */
#define FRAMES_FIRST 1024u
#define PARKED_SLOTS 16384u
#define SPINS 200
#define KEYS_AT_HAND 32 /* glibc allocates no memory for values of the first keys */

static struct hodo_func_thread *chunks[HODO_FUNC_THREADS_MAX / CHUNK];
static uint32_t nthreads;
static uint32_t search_at = CHUNK; /* number of threads at which the next search for ended ones is worthwhile */
static uint32_t threads_lock;
static uint32_t process; /* the process of these threads */

/* Parked frames, of tracers' shadows and of those of durations.c. */
static struct table {
	struct hodo_parked parked; /* first */
	struct hodo_func_thread *owner; /* who has it locked */
} tables[2];

struct hodo_func_thread *hodo_func_thread_at(uint32_t i)
{
	return i < hodo_load_acquire(&nthreads) ? &chunks[i / CHUNK][i % CHUNK] : 0;
}

/* ------------------------------------------------------------- parked frames */

/*
 * A handler may interrupt the holder and come here: it does without the lock. A holder left by a longjmp no
 * longer counts; its thread may come here again, or have left dispatch.
 */
static bool lock_parked(struct hodo_parked *p)
{
	struct hodo_func_thread **of = &((struct table *)p)->owner, *own = hodo_func_tls.thread, *owner = 0;

	for (int i = 0; i < SPINS; i++) {
		owner = 0;
		if (hodo_cas_acquire(of, &owner, own) || owner == own)
			return true;
	}
	return !(hodo_load_acquire(&owner->inside) & 1) && hodo_cas_acquire(of, &owner, own);
}

static void unlock_parked(struct hodo_parked *p)
{
	hodo_store_release(&((struct table *)p)->owner, (struct hodo_func_thread *)0);
}

static bool grow_frames(struct hodo_shadow *shadow)
{
	size_t bytes = shadow->max * sizeof(*shadow->frames);
	uint64_t mask;
	void *p;

	if (shadow->max >= HODO_FRAMES_MAX)
		return false;
	/* A handler that longjmps from between the two would leave a dangling address. */
	mask = hodo_signals_block();
	p = (void *)hodo_sys4(SYS_mremap, shadow->frames, bytes, 2 * bytes, MREMAP_MAYMOVE);
	if (!hodo_is_error(p)) {
		shadow->frames = p;
		shadow->max *= 2;
	}
	hodo_signals_restore(mask);
	return !hodo_is_error(p);
}

/* --------------------------------------------------------------- thread's stack */

/*
 * The mapping that contains the stack pointer, which no other stack shares: a thread's stack has a guard
 * below, and above it ends at the thread's own block. The main thread's grows down to the mapping below.
 */
static void find_stack(struct hodo_func_thread *t)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), self = (uintptr_t)__builtin_thread_pointer();
	struct hodo_mapping m;

	t->shadow.stack_low = t->shadow.stack_high = 0;
	if (!hodo_maps_find(sp, &m, 0, 0))
		return;
	t->shadow.stack_low = t->main ? m.below : m.low;
	t->shadow.stack_high = self > sp && self < m.high ? self : m.high;
}

/* --------------------------------------------------------------------- threads */

static struct hodo_func_thread *find_gone(uint32_t tid)
{
	uint32_t pid = (uint32_t)hodo_sys0(SYS_getpid);
	bool search = nthreads >= search_at;
	uint32_t live = 0;

	for (uint32_t i = 0; i < nthreads; i++) {
		struct hodo_func_thread *t = &chunks[i / CHUNK][i % CHUNK];

		if (t->tid == tid || t->tid == 0 ||
		    (search && hodo_sys3(SYS_tgkill, pid, t->tid, 0) == -ESRCH))
			return t;
		live++;
	}
	if (search)
		search_at = 2 * live;
	return 0;
}

static bool make_table(struct table *t)
{
	void *p = t->parked.slots ? t->parked.slots : hodo_map(PARKED_SLOTS * sizeof(struct hodo_frame));

	if (p && !t->parked.slots)
		t->parked = (struct hodo_parked){ .slots = p, .mask = PARKED_SLOTS - 1, .lock = lock_parked,
						  .unlock = unlock_parked };
	return p;
}

static struct hodo_func_thread *new_thread(void)
{
	struct hodo_func_thread **chunk = &chunks[nthreads / CHUNK];
	struct hodo_func_thread *t;
	void *p;

	if (nthreads == HODO_FUNC_THREADS_MAX)
		return 0;
	if (!*chunk) {
		p = hodo_map(CHUNK * sizeof(*t));
		if (!p)
			return 0;
		*chunk = p;
	}
	if (!make_table(&tables[0]))
		return 0;
	t = &(*chunk)[nthreads % CHUNK];
	p = hodo_map(FRAMES_FIRST * sizeof(struct hodo_frame));
	if (!p)
		return 0;
	t->shadow.frames = p;
	t->shadow.max = FRAMES_FIRST;
	hodo_store_release(&nthreads, nthreads + 1);
	return t;
}

/* Signals are blocked: a handler would wait for the lock forever. */
static struct hodo_func_thread *set_up(uint32_t tid, __typeof__(((struct hodo_shadow *)0)->closed) closed)
{
	struct hodo_func_thread *t;

	t = find_gone(tid);
	if (!t)
		t = new_thread();
	if (!t)
		return 0;
	t->tid = tid;
	t->main = tid == (uint32_t)hodo_sys0(SYS_getpid);
	t->inside &= ~1u;
	t->guard = 0;
	t->role = 0;
	t->stack_min = t->stack_pending = 0;
	t->shadow.n = t->calls.n = 0;
	t->shadow.own_high = t->shadow.doubt = 0;
	t->shadow.thread = tid;
	t->shadow.parked = &tables[0].parked;
	t->shadow.grow = grow_frames;
	t->shadow.closed = closed;
	return t;
}

static pthread_key_t end_key;
static bool has_end_key;

void hodo_func_threads_watch(void (*ends)(void *thread))
{
	if (pthread_key_create(&end_key, ends) != 0)
		return;
	has_end_key = end_key < KEYS_AT_HAND;
	if (!has_end_key)
		pthread_key_delete(end_key);
}

static void watch_end(long thread, long unused, long unused2)
{
	pthread_setspecific(end_key, (void *)thread);
}

static void lock_threads(void)
{
	uint32_t free_word = 0;

	/* Finally sleep: yielding alone would starve an owner with lower real-time priority. */
	for (unsigned i = 1; !hodo_cas_acquire(&threads_lock, &free_word, 1); free_word = 0, i++) {
		if (i > 100)
			hodo_sleep_ns(50000);
		else
			hodo_sys0(SYS_sched_yield);
	}
}

struct hodo_func_thread *hodo_func_thread_get(__typeof__(((struct hodo_shadow *)0)->closed) closed)
{
	uint64_t mask = hodo_signals_block();
	struct hodo_func_thread *t = hodo_func_tls.thread;

	if (t)
		goto out;
	/* A vfork child has its parent's thread-local storage, but not the thread id. Its calls are not seen. */
	if ((uint32_t)hodo_sys0(SYS_getpid) != process)
		goto out;
	lock_threads();
	t = set_up(hodo_gettid(), closed);
	hodo_store_release(&threads_lock, 0);
	if (t)
		find_stack(t);
	else
		hodo_dispatch_count(offsetof(struct hodo_shm, func_threads));
	hodo_func_tls.thread = t;
	if (t && has_end_key)
		hodo_x86_keep(watch_end, (long)t, 0, 0);
out:
	hodo_signals_restore(mask);
	return t;
}

bool hodo_func_thread_calls(struct hodo_func_thread *t)
{
	uint64_t mask = hodo_signals_block();
	struct hodo_shadow *s = &t->calls;
	bool made;
	void *p;

	lock_threads();
	made = make_table(&tables[1]);
	hodo_store_release(&threads_lock, 0);
	p = !made ? 0 : s->frames ? s->frames : hodo_map(FRAMES_FIRST * sizeof(struct hodo_frame));
	if (p && !s->frames) {
		s->max = FRAMES_FIRST;
		s->parked = &tables[1].parked;
		s->grow = grow_frames;
		s->frames = p;
	}
	if (p) {
		s->thread = t->tid;
		s->stack_low = t->shadow.stack_low;
		s->stack_high = t->shadow.stack_high;
		s->own_high = s->doubt = 0;
	}
	hodo_signals_restore(mask);
	return p;
}

void hodo_func_threads_init(void)
{
	process = (uint32_t)hodo_sys0(SYS_getpid);
}

/* ------------------------------------------------------------------ where it sleeps */

/* Whether /proc shows this process's own pid namespace, so that its pids are ours. */
static bool proc_is_own(uint32_t pid)
{
	char digits[12], link[12];
	struct hodo_bounded own = hodo_bounded_to(digits, sizeof(digits));

	hodo_bounded_number(&own, pid);
	return hodo_sys3(SYS_readlink, "/proc/self", link, sizeof(link)) == (long)own.len &&
	       hodo_bounded_is(link, own.len, digits);
}

/*
 * The stack pointer of a sleeping thread: the last but one number in its /proc file; 0: it runs, or is not
 * known.
 */
static uintptr_t sleeps_at(uint32_t tid)
{
	char name[48], text[256];
	struct hodo_bounded path = hodo_bounded_to(name, sizeof(name));
	uintptr_t last = 0, before = 0;
	long fd, n;

	hodo_bounded_put(&path, "/proc/self/task/");
	hodo_bounded_number(&path, tid);
	hodo_bounded_put(&path, "/syscall");
	fd = hodo_sys4(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = hodo_sys3(SYS_read, fd, text, sizeof(text));
	hodo_sys1(SYS_close, fd);
	for (long i = 0; i < n && text[0] != 'r' /* "running" */; i++) {
		char c = text[i];

		if (c == ' ') {
			before = last;
			last = 0;
		} else if (c != 'x' && c != '-' && c != '\n') {
			last = last << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
	}
	return before;
}

bool hodo_func_thread_left(const struct hodo_func_thread *t)
{
	uintptr_t guard = hodo_load_acquire(&t->guard), sp;

	if (!guard || !hodo_func_own_stack(t, guard) || !proc_is_own(process))
		return false;
	sp = sleeps_at(hodo_load(&t->tid));
	/* The same guard before and after: it does not sleep in a dispatch that has begun meanwhile. */
	return sp > guard && hodo_func_own_stack(t, sp) && hodo_load_acquire(&t->guard) == guard;
}

/*
 * The child has only the forked thread, under another tid; the others' state is free for new threads. After a
 * bare clone a new thread may come here instead: the forked thread's state is then unknown among all, and
 * none is reused.
 */
void hodo_func_threads_after_fork(void)
{
	struct hodo_func_thread *own = hodo_func_tls.thread;
	uint32_t forked;

	hodo_func_threads_init();
	forked = hodo_gettid() == process ? 0 : process;
	threads_lock = 0;
	tables[0].owner = tables[1].owner = 0;
	for (uint32_t i = 0; i < nthreads; i++) {
		struct hodo_func_thread *t = &chunks[i / CHUNK][i % CHUNK];

		if (t == own)
			continue;
		t->tid = t->shadow.thread = forked;
		t->main = forked != 0;
		t->inside &= ~1u;
	}
	if (own) {
		own->tid = own->shadow.thread = hodo_gettid();
		own->main = true;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * process.c - a process's life with libhodo: the constructor, and what fork
 * leaves behind.
 *
 * A fork child must not write into its parent's rings. The table of views lies
 * in memory that the kernel wipes on fork, so that every thread's fast path
 * turns into the slow one at once, also after clone() or _Fork(), which run no
 * handlers; a mark on a wiped page of its own says to the slow path why. The
 * rings themselves are not inherited (MADV_DONTFORK).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include "sys.h"
#include "user.h"

struct hodo_recording hodo_recording;

enum { FORKED = 0, SET_UP = 1, SETTING_UP = 2 };
static uint32_t *fork_mark; /* SET_UP; wiped to FORKED in a fork child */
static uint32_t control_owner;

void hodo_control_retake(void)
{
	uint32_t tid = hodo_gettid(), owner = 0;

	for (unsigned i = 1; !hodo_cas_acquire(&control_owner, &owner, tid); owner = 0, i++) {
		struct timespec pause = { 0, 50000 };

		/* Sleep in the end: yielding alone keeps an owner of lower real-time priority from going on. */
		if (i > 1000)
			hodo_sys2(SYS_nanosleep, &pause, 0);
		else if (i % 16 == 0)
			hodo_sys0(SYS_sched_yield);
	}
}

void hodo_control_release(void)
{
	hodo_store_release(&control_owner, 0);
}

uint64_t hodo_control_lock(void)
{
	uint64_t mask = hodo_signals_block();

	/* In a child that ran no fork handler, the owner may be a thread that stayed in the parent. */
	if (hodo_process_forked())
		hodo_process_after_fork();
	hodo_control_retake();
	return mask;
}

void hodo_control_unlock(uint64_t mask)
{
	hodo_control_release();
	hodo_signals_restore(mask);
}

bool hodo_process_forked(void)
{
	return fork_mark && hodo_load_acquire(fork_mark) != SET_UP;
}

static void *wiped_mapping(size_t len)
{
	void *p = hodo_map(len);

	if (!p)
		return 0;
	if (hodo_sys3(SYS_madvise, p, len, MADV_WIPEONFORK) != 0) {
		hodo_sys2(SYS_munmap, p, len);
		return 0;
	}
	return p;
}

void hodo_process_views(void)
{
	if (!hodo_recording.views)
		hodo_recording.views = wiped_mapping(sizeof(struct hodo_view) * HODO_VIEWS);
}

/* -------------------------------------------------------------------- fork */

static void set_up_child(void)
{
	hodo_tls.table = hodo_no_views;
	/* One that was on the fallback path stays there: the child of a vfork child has no rseq registration
	 * either, although its area looks as if it had. */
	if (hodo_tls.mode == HODO_THREAD_RSEQ)
		hodo_tls.mode = HODO_THREAD_NEW;
	hodo_recording_forked();
	hodo_listener_lost();
	hodo_probe_after_fork();
	hodo_patch_forked();
	if (hodo_func)
		hodo_func->forked();
	if (hodo_session_start(HODO_START_FORK) != 0 && hodo_flight_begin(HODO_START_FORK) != 0) {
		hodo_objects_rebind();
		hodo_patch_sites();
		if (hodo_func)
			hodo_func->recording();
	}
	hodo_store_release(fork_mark, SET_UP);
}

/* In a child that ran no fork handler. It may have started threads since: one sets it up, the others wait. */
void hodo_process_after_fork(void)
{
	uint64_t mask = hodo_signals_block();
	uint32_t mark = FORKED;

	if (hodo_cas_acquire(fork_mark, &mark, SETTING_UP)) {
		control_owner = hodo_gettid(); /* whoever held it stayed in the parent */
		set_up_child();
		hodo_store_release(&control_owner, 0);
	}
	while (hodo_load_acquire(fork_mark) == SETTING_UP)
		hodo_sys0(SYS_sched_yield);
	hodo_signals_restore(mask);
}

static uint64_t fork_mask;

static void before_fork(void)
{
	fork_mask = hodo_control_lock();
}
static void after_fork_parent(void)
{
	hodo_control_unlock(fork_mask);
}
static void after_fork_child(void)
{
	if (hodo_process_forked())
		set_up_child();
	hodo_control_unlock(fork_mask);
	hodo_listener_forked();
}

/* ------------------------------------------------------------- constructor */

static bool is_on(const char *value)
{
	return value && *value && !(value[0] == '0' && !value[1]);
}

/*
 * Brought into a program that runs, by a debugger's means: one of its threads stands still for this. What takes time
 * is left to the thread that listens: looking at all objects, and registering for barriers, which
 * takes 15 ms where there are threads.
 */
static bool is_attached(void)
{
	static const char field[] = "TracerPid:\t";
	char text[1024];
	long fd, n;

	/* libc sets it up in its own constructor, which comes after ours when a program starts. */
	if (!program_invocation_name || !program_invocation_name[0])
		return false;
	fd = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = hodo_sys3(SYS_read, fd, text, sizeof(text));
	hodo_sys1(SYS_close, fd);
	for (long i = 0; i + (long)sizeof(field) < n; i++) {
		if (__builtin_memcmp(text + i, field, sizeof(field) - 1) == 0)
			return text[i + (long)sizeof(field) - 1] != '0';
	}
	return false;
}

void hodo_process_scan(void)
{
	static bool scanned;

	if (!scanned)
		hodo_objects_scan();
	scanned = true;
}

/*
 * First of all constructors where the library is preloaded or linked (-z
 * initfirst), so that the constructors of instrumented libraries are traced;
 * libc's own have not run then, hence the environment from the argument.
 */
static __attribute__((constructor(101))) void start(int argc, char **argv, char **envp)
{
	bool listen = false;
	uint64_t mask;

	hodo_emit_init();
	/* A set-user-ID program does not show what it does to the user who started it. */
	if (!getauxval(AT_SECURE)) {
		hodo_session_path(envp);
		hodo_flight_init(envp);
		hodo_listener_init(envp);
		listen = is_on(hodo_environment(envp, HODO_LISTEN_ENV));
	}
	fork_mark = wiped_mapping(HODO_PAGE);
	if (!fork_mark)
		return; /* a kernel before 4.14: without it a fork child would write into its parent's rings */
	*fork_mark = SET_UP;
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	hodo_objects_prepare();
	hodo_functions_init();
	if (hodo_func)
		hodo_func->init();
	mask = hodo_control_lock();
	hodo_patch_init();
	if (!is_attached()) {
		hodo_patch_register();
		hodo_process_scan();
	}
	if (hodo_objects_foreign)
		hodo_session_path(0); /* the recorder takes a second conversation for an exec */
	if (hodo_session_start(HODO_START_EXEC) != 0 && !hodo_objects_foreign)
		hodo_flight_begin(HODO_START_EXEC);
	hodo_control_unlock(mask);
	hodo_loader_hook();
	if (listen && !hodo_objects_foreign)
		hodo_listener_start(1);
}

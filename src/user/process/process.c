/* SPDX-License-Identifier: MIT */
/*
 * process.c - the constructor, and fork.
 */
#include <fcntl.h>
#include <sys/auxv.h>
#include "images.h"
#include "root.h"
#include <user/libc/sys.h>
#include <user/event/trace_context.h>
#include <user/flight/flight.h>
#include <user/libc/libc.h>
#include <user/objects/objects.h>
#include <user/ring/rings.h>
#include <user/talk/talk.h>
#include "process.h"

/* -------------------------------------------------------------------- fork */

static void set_up_child(void)
{
	hodo_tls.table = hodo_no_views;
	/* A thread on the fallback path stays there: the child of a vfork child has no rseq registration
	 * either, although its area looks as if it had. Its storage is its own again. */
	hodo_tls.mode = hodo_tls.mode == HODO_THREAD_NEW || hodo_tls.mode == HODO_THREAD_RSEQ ? HODO_THREAD_NEW :
											    HODO_THREAD_FALLBACK;
	hodo_recording_forked();
	hodo_trace_context_forked();
	hodo_listener_lost();
	hodo_probe_after_fork();
	hodo_patch_forked();
	if (hodo_func)
		hodo_func->forked();
	if (hodo_session_start(HODO_START_FORK) != 0 && hodo_flight_begin(HODO_START_FORK) != 0) {
		hodo_sites_rebind();
		hodo_sites_patch();
		if (hodo_func)
			hodo_func->recording();
	}
}

static uint64_t fork_mask;

static void before_fork(void)
{
	fork_mask = hodo_control_lock();
	if (hodo_libc_debug())
		hodo_control_lend();
}
static void after_fork_parent(void)
{
	if (hodo_libc_debug())
		hodo_control_take_back();
	hodo_control_unlock(fork_mask);
}
static void after_fork_child(void)
{
	if (hodo_libc_debug())
		hodo_control_take_back();
	if (hodo_process_forked())
		hodo_process_set_up_child();
	hodo_control_unlock(fork_mask);
	hodo_listener_forked();
}

/* ------------------------------------------------------------- constructor */

static bool is_on(const char *value)
{
	return value && *value && !(value[0] == '0' && !value[1]);
}

/*
 * Whether libhodo was attached to a running program, as a debugger would: one of its threads is stopped for
 * this. The thread that listens does what takes time: looking at all objects, and registering for barriers,
 * which takes 15 ms with several threads.
 */
static bool is_attached(void)
{
	static const char field[] = "TracerPid:\t";
	char text[1024];
	long n;

	/* glibc sets it in its constructor, which runs after ours when a program starts. */
	if (!program_invocation_name || !program_invocation_name[0] || !hodo_libc_is_glibc())
		return false;
	n = hodo_sys_file_read(AT_FDCWD, "/proc/thread-self/status", text, sizeof(text));
	for (long i = 0; i + (long)sizeof(field) < n; i++) {
		if (__builtin_memcmp(text + i, field, sizeof(field) - 1) == 0)
			return text[i + (long)sizeof(field) - 1] != '0';
	}
	return false;
}

static void warn_blind(void)
{
	uint64_t mask = hodo_control_lock();

	hodo_catalog_warn("libraries that it opens later are not recorded: the loader's hook for debuggers "
			  "is not available");
	hodo_control_unlock(mask);
}

/*
 * First of all constructors where the library is preloaded or linked (-z initfirst), so that the constructors of
 * instrumented libraries are traced; libc's own have not run then, hence the environment from the argument.
 * It has a name so that the linker of a static program takes it from the archive (cmake/HodoInstall.cmake).
 */
HODO_HIDDEN __attribute__((constructor(101))) void hodo_library_start(int argc, char **argv, char **envp);

void hodo_library_start(int argc, char **argv, char **envp)
{
	bool listen = false;
	uint64_t mask;

	envp = hodo_libc_environment(envp);
	hodo_emit_init();
	hodo_gather_init();
	hodo_clone_prepare();
	hodo_exec_prepare();
	hodo_privileges_prepare();
	hodo_root_init(envp);
	/* A set-user-ID program must not show the user who started it what it does. */
	if (!getauxval(AT_SECURE)) {
		hodo_session_join(hodo_environment(envp, HODO_RECORDER_ENV));
		hodo_flight_init(envp);
		hodo_listener_init(envp);
		listen = is_on(hodo_environment(envp, HODO_LISTEN_ENV));
	}
	if (!hodo_process_watch_forks(set_up_child))
		return; /* kernels before 4.14: a fork child would write into its parent's rings */
	hodo_libc_at_fork(before_fork, after_fork_parent, after_fork_child);
	hodo_objects_prepare();
	hodo_clock_init();
	if (hodo_func)
		hodo_func->init();
	mask = hodo_control_lock();
	hodo_patch_init();
	if (!is_attached()) {
		hodo_patch_register();
		hodo_objects_scan_once();
	}
	if (hodo_session_start(HODO_START_EXEC) != 0)
		hodo_flight_begin(HODO_START_EXEC);
	hodo_control_unlock(mask);
	hodo_loader_hook();
	if (hodo_loader_blind && !hodo_objects_foreign)
		warn_blind();
	if (listen && !hodo_objects_foreign)
		hodo_listener_start(HODO_LISTENS_WANTED);
}

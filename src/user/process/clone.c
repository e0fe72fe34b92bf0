/* SPDX-License-Identifier: MIT */
/*
 * clone.c - clone() for programs whose children share memory without being threads (not posix_spawn's child,
 * which runs none of the program's code).
 *
 * With CLONE_VM and without CLONE_SETTLS the child shares the parent's thread-local storage; see arch/x86_64/vfork.S
 * for why it must not take the fast path. A parent that waits (CLONE_VFORK) returns to the fast path when the
 * child has ended; one that runs beside the child, or whose child leaves another such child running, stays on
 * the fallback path.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include "process.h"

/*
 * musl's shared library hides the name. A static program has it: the code that starts threads calls it in
 * both.
 */
extern int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...) __attribute__((weak));

static __typeof__(clone) *libcs = __clone;

/*
 * The child of a bare clone joins the recording with its first event. If that event came from a process that
 * shares its memory, the recording would belong to that process, and end with it.
 */
static void join_first(void)
{
	hodo_process_check_fork();
}

void hodo_clone_prepare(void)
{
	extern __typeof__(dlsym) dlsym __attribute__((weak));

	hodo_x86_shares = join_first;
	if (!libcs && &dlsym)
		*(void **)&libcs = dlsym(RTLD_NEXT, "clone");
}

/* musl's __clone() returns what the kernel does. */
static int returned(int pid)
{
	if (pid >= 0 || libcs != __clone || hodo_libc_is_glibc())
		return pid;
	errno = -pid;
	return -1;
}

HODO_PUBLIC int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	bool shares = (flags & CLONE_VM) && !(flags & CLONE_SETTLS), waits = flags & CLONE_VFORK;
	void *parent_tid, *tls, *child_tid;
	struct hodo_tls saved;
	va_list more;
	int pid;

	va_start(more, arg);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	if (flags & CLONE_VM)
		join_first();
	saved = hodo_tls;
	if (shares) {
		hodo_tls.mode = waits ? HODO_THREAD_FALLBACK : HODO_THREAD_SHARED;
		hodo_tls.table = hodo_no_views;
		hodo_compiler_barrier();
	}
	pid = returned(libcs(fn, stack, flags, arg, parent_tid, tls, child_tid));
	if (shares && (pid < 0 || (waits && hodo_load(&hodo_tls.mode) != HODO_THREAD_SHARED)))
		hodo_tls = saved;
	return pid;
}

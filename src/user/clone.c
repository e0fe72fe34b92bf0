/* SPDX-License-Identifier: MIT */
/*
 * clone.c - clone() for programs whose children share memory without being threads (posix_spawn's own child runs none
 * of the program's code and is not concerned).
 *
 * With CLONE_VM and without CLONE_SETTLS the child shares the parent's thread-local storage; see arch/x86_64/vfork.S
 * for why it must not take the fast path. A parent that waits (CLONE_VFORK) gets its own back when the child has ended;
 * one that runs on beside the child stays on the fallback path with it, also if it is its own child that has left one
 * there.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include "sys.h"
#include "user.h"

/* musl's library keeps the name to itself. A static program has it: what starts threads calls it in both. */
extern int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...) __attribute__((weak));

static __typeof__(clone) *libcs = __clone;

/*
 * The child of a bare clone joins the recording by its first event. If that were one of who shares its memory, the
 * recording would be that one's, and end with it.
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

/* SPDX-License-Identifier: MIT */
/*
 * clone.c - clone() for programs whose children share memory without being
 * threads (posix_spawn's own child runs none of the program's code and is not
 * concerned).
 *
 * With CLONE_VM and without CLONE_SETTLS the child shares the parent's
 * thread-local storage; see arch/x86_64/vfork.S for why it must not take the
 * fast path. A parent that waits (CLONE_VFORK) gets its own back when the child
 * has ended; one that runs on beside the child stays on the fallback path with it.
 */
#include <sched.h>
#include <stdarg.h>
#include "sys.h"
#include "user.h"

extern int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

HODO_PUBLIC int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	struct hodo_tls saved = hodo_tls;
	bool shares = (flags & CLONE_VM) && !(flags & CLONE_SETTLS);
	void *parent_tid, *tls, *child_tid;
	va_list more;
	int pid;

	va_start(more, arg);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	if (shares) {
		hodo_tls.mode = HODO_THREAD_FALLBACK;
		hodo_tls.table = hodo_no_views;
		hodo_compiler_barrier();
	}
	pid = __clone(fn, stack, flags, arg, parent_tid, tls, child_tid);
	if (shares && (flags & CLONE_VFORK))
		hodo_tls = saved;
	return pid;
}

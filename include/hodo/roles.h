/* SPDX-License-Identifier: MIT */
/*
 * hodo/roles.h - which thread may call which function; part of <hodo/tracer.h>.
 *
 *	void ui_draw(void) { HODO_ONLY_IN("main"); … }
 *	static void *worker(void *arg) { hodo_thread_role("worker"); … }
 *
 * `hodo record --tracer thread` reports each place that calls such a function
 * in a thread of another role, with the chain of calls that led there; with
 * --abort, it ends the program there, for a debugger or a core dump. Otherwise
 * nothing is checked and nothing costs time.
 *
 * Needs no library at link time, and has no effect if libhodo is not loaded.
 * Define HODO_DISABLE before you include this to leave it all out.
 */
#ifndef HODO_ROLES_H
#define HODO_ROLES_H

#pragma GCC system_header

#include <hodo/trace.h>

/*
 * HODO_ONLY_IN("role"): a statement, best the first one of a function: the function is meant
 * to be called only in threads of that role. The role is a string literal of letters,
 * digits, '-', '_', '.' and ' ', at most 63. Several such statements in a
 * function allow any of their roles. Only functions that can be traced
 * (see <hodo/tracer.h>) are checked. The function is not inlined, so that it has an entry, and gets no
 * additional instruction that runs.
 *
 * int hodo_thread_role("role"): the calling thread has this role from now on;
 * NULL or "" removes its role. A thread has no role until it sets one; the first
 * thread of a process has "main" until it sets another. The string is copied. Returns 0,
 * -ENOSYS if libhodo is not loaded, -ENAMETOOLONG for more than 63 bytes, -ENOSPC
 * for more than 256 different roles in a process. For any thread, including signal handlers.
 */
#ifdef HODO_DISABLE

#define HODO_ONLY_IN(role) ((void)sizeof("" role))

static inline HODO_OWN_ int hodo_thread_role(const char *role)
{
	(void)role;
	return -ENOSYS;
}

#else

/* One note for each translation unit, as <hodo/trace.h> has one for its sites. */
__asm__(".ifndef .Lhodo_roles_note\n"
	".set .Lhodo_roles_note, 1\n"
	".weak __start_hodo_roles\n"
	".hidden __start_hodo_roles\n"
	".weak __stop_hodo_roles\n"
	".hidden __stop_hodo_roles\n"
	".pushsection .note.hodo,\"a\",@note\n"
	".balign 4\n"
	".long 5, 16, 3\n"
	".asciz \"Hodo\"\n"
	".balign 4\n"
	".long __start_hodo_roles-., __stop_hodo_roles-., 0, 0\n"
	".popsection\n"
	/* If no file marks a function, bfd refuses the references above unless there is such a section. */
	".pushsection hodo_roles,\"ao\",@progbits,.note.hodo\n"
	".popsection\n"
	".endif\n");

/*
 * Keeps compilers from copying the function into its callers, where the record would name the caller. gcc
 * does not copy functions with a computed goto; here it is one that nothing ever jumps to, two bytes in
 * the cold part. clang does not copy functions with a label whose address is taken.
 */
#ifdef __clang__
#define HODO_NO_COPY_                                                        \
	do {                                                                 \
		_Pragma("clang diagnostic push")                             \
		_Pragma("clang diagnostic ignored \"-Wgnu-label-as-value\"") \
		__label__ hodo_here_;                                        \
	hodo_here_:                                                          \
		__asm__ volatile("" : : "i"(&&hodo_here_));                  \
		_Pragma("clang diagnostic pop")                              \
	} while (0)
#else
#define HODO_NO_COPY_                                                \
	do {                                                         \
		__label__ hodo_never_, hodo_out_;                    \
		__asm__ goto("" : : : : hodo_never_);                \
		goto hodo_out_;                                      \
	hodo_never_:                                                 \
		__attribute__((cold));                               \
		{                                                    \
			void *hodo_nowhere_;                         \
			__asm__("" : "=r"(hodo_nowhere_));           \
			goto *hodo_nowhere_;                         \
		}                                                    \
	hodo_out_:;                                                  \
	} while (0)
#endif

/* The record is linked to the code it belongs to, as sites' are. */
#define HODO_ONLY_IN(role)                                                                 \
	do {                                                                               \
		HODO_NO_COPY_;                                                             \
		__asm__ volatile(".Lhodo_role_%=:\n"                                       \
				 ".pushsection .rodata.hodo_roles,\"aMS\",@progbits,1\n"   \
				 ".Lhodo_role_name_%=:\n"                                  \
				 ".asciz \"" role "\"\n"                                   \
				 ".popsection\n"                                           \
				 ".pushsection hodo_roles,\"ao?\",@progbits,.Lhodo_role_%=\n" \
				 ".balign 4\n"                                             \
				 ".long .Lhodo_role_%=-., .Lhodo_role_name_%=-.\n"         \
				 ".popsection\n"                                           \
				 : :);                                                     \
	} while (0)

static inline HODO_OWN_ int hodo_thread_role(const char *role)
{
	const struct hodo_ops *ops = hodo_ops_ptr_;

	/* An older library has fewer members. */
	if (!ops || ops->size < __builtin_offsetof(struct hodo_ops, thread_role) + sizeof(ops->thread_role) ||
	    !ops->thread_role)
		return -ENOSYS;
	return ops->thread_role(role);
}

#endif
#endif

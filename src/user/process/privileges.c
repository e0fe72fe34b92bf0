/* SPDX-License-Identifier: MIT */
/*
 * privileges.c - libc's functions that change what the process or the calling thread may do, where the thread that
 * listens would be in the way.
 *
 *   setuid() ...    libc repeats them in each thread, and ends the process if one may and another may not. After
 *                   PR_SET_KEEPCAPS and capset(2), which are of one thread, the listener and the caller differ.
 *   capset()        changes the caller alone: the listener would keep what the program gives up.
 *   unshare, setns  some namespaces are only for a process with one thread.
 *
 * So the listener ends first, and the caller starts another one afterwards, which inherits the caller's privileges. A
 * recording for which a recorder attached ends with it.
 *
 *                 | the same                 | listener             | fork
 *   each          | one ends the listener,   | waits until the      | a fork child has no listener, and a vfork
 *                 | both begin_listening()   | kernel has ended it  | child has another pid: libc's alone is called
 *
 * Exported under libc's own symbol versions, see libhodo.map.in. A static program keeps libc's. Most of these may be
 * called in signal handlers; where a handler interrupts the start of a thread and a listener must end, the new one may
 * wait for the thread that was interrupted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <user/talk/listen.h>
#include <user/libc/sys.h>
#include <user/talk/talk.h>
#include "process.h"

#ifdef HODO_SPLIT
extern int capset(cap_user_header_t head, const cap_user_data_t data);

#define END_LIMIT_NS 1000000000ll /* of a listener that is stopped, or waits for somebody else */
#define LOOK_NS      20000

/* Of one thread; 0: the caller. */
struct capabilities {
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
};

static bool has_same(uint32_t tid)
{
	struct __user_cap_header_struct own_head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, (int)tid };
	struct capabilities own = { 0 }, other = { 0 };

	return hodo_sys2(SYS_capget, &own_head, &own) == 0 && hodo_sys2(SYS_capget, &head, &other) == 0 &&
	       __builtin_memcmp(&own, &other, sizeof(own)) == 0;
}

/* This process, not a vfork child of it, has a thread that listens. */
static bool listens(void)
{
	while (hodo_load_acquire(&hodo_listener.state) == HODO_LISTENER_STARTING)
		hodo_sleep_ns(LOOK_NS);
	return hodo_load_acquire(&hodo_listener.state) == HODO_LISTENER_LISTENS &&
	       hodo_listener.pid == (uint32_t)hodo_sys0(SYS_getpid);
}

/* Why it listened: the argument of resume(); 0: it did not, or does not end. */
static __attribute__((noinline)) uint32_t pause_listener(void)
{
	uint32_t why = hodo_load_seq(&hodo_listener.why), tid = hodo_listener.tid;

	/* Not only its state: libc's setuid() counts a thread until the kernel has ended it. */
	for (int64_t ns = 0; hodo_sys3(SYS_tgkill, hodo_listener.pid, tid, 0) == 0; ns += LOOK_NS) {
		if (ns >= END_LIMIT_NS)
			return 0;
		hodo_listener_leave();
		hodo_sleep_ns(LOOK_NS);
	}
	return why;
}

/* The result of libc's function, whose errno stays. */
static __attribute__((noinline)) int resume_listener(uint32_t why, int result)
{
	int error = errno;

	if (why)
		hodo_listener_start(why);
	errno = error;
	return result;
}

/* ------------------------------------------------------- what libc does in each thread */

#define REPEATED(X)                                                         \
	X(setuid, (uid_t u), (u))                                           \
	X(setgid, (gid_t g), (g))                                           \
	X(seteuid, (uid_t u), (u))                                          \
	X(setegid, (gid_t g), (g))                                          \
	X(setreuid, (uid_t r, uid_t e), (r, e))                             \
	X(setregid, (gid_t r, gid_t e), (r, e))                             \
	X(setresuid, (uid_t r, uid_t e, uid_t s), (r, e, s))                \
	X(setresgid, (gid_t r, gid_t e, gid_t s), (r, e, s))                \
	X(setgroups, (size_t n, const gid_t *groups), (n, groups))          \
	X(initgroups, (const char *user, gid_t group), (user, group))

#define ALONE(X)                                                            \
	X(capset, (cap_user_header_t head, const cap_user_data_t data), (head, data)) \
	X(unshare, (int flags), (flags))                                    \
	X(setns, (int fd, int type), (fd, type))

#define MEMBER(name, parameters, arguments) __typeof__(name) *name;
#define NAME(name, parameters, arguments)   #name,

static struct {
	REPEATED(MEMBER)
	ALONE(MEMBER)
} libcs;
static const char names[][12] = { REPEATED(NAME) ALONE(NAME) }; /* in the same order */
_Static_assert(sizeof(names) / sizeof(*names) == sizeof(libcs) / sizeof(libcs.setuid), "a name for each");

void hodo_privileges_prepare(void)
{
	void **to = (void **)&libcs;

	for (unsigned i = 0; !libcs.setns && i < sizeof(names) / sizeof(*names); i++)
		to[i] = dlsym(RTLD_NEXT, names[i]);
}

static __attribute__((noinline)) uint32_t pause_if_others(void)
{
	hodo_privileges_prepare();
	if (!listens())
		return 0;
	/* It may differ from now on, or does already. */
	return hodo_sys1(SYS_prctl, PR_GET_KEEPCAPS) == 1 || !has_same(hodo_listener.tid) ? pause_listener() : 0;
}

#define DEFINE(name, parameters, arguments, pause)                              \
	HODO_PUBLIC int name parameters                                         \
	{                                                                       \
		uint32_t why = pause;                                           \
										\
		return resume_listener(why, libcs.name arguments);              \
	}
#define DEFINE_REPEATED(name, parameters, arguments) DEFINE(name, parameters, arguments, pause_if_others())

REPEATED(DEFINE_REPEATED)

/* ------------------------------------------------------------ what is of one thread */

static __attribute__((noinline)) uint32_t pause_always(void)
{
	hodo_privileges_prepare();
	return listens() ? pause_listener() : 0;
}

/* With other threads, the system call fails anyway, and a recording need not end for that. */
static __attribute__((noinline)) uint32_t pause_if_alone(int flags)
{
	const int harmless = CLONE_FILES | CLONE_FS | CLONE_SYSVSEM;

	hodo_privileges_prepare();
	return (flags & ~harmless) && listens() && hodo_keeper_threads() == 2 ? pause_listener() : 0;
}

DEFINE(capset, (cap_user_header_t head, const cap_user_data_t data), (head, data), pause_always())
DEFINE(unshare, (int flags), (flags), pause_if_alone(flags))
DEFINE(setns, (int fd, int type), (fd, type), pause_if_alone(-1))
#else
void hodo_privileges_prepare(void)
{
}
#endif

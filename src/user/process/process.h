/* SPDX-License-Identifier: MIT */
/*
 * process.h - the process: its control lock, fork, its threads and what they may do, and the machine.
 */
#pragma once

#include <link.h>
#include <user/user.h>

/* lock.c */
HODO_SHARED uint64_t hodo_control_lock(void); /* returns the signal mask to restore */
HODO_SHARED void hodo_control_unlock(uint64_t mask);
/* Lets others take the lock while its holder waits for them; signals stay blocked. */
HODO_HIDDEN void hodo_control_release(void);
HODO_HIDDEN void hodo_control_retake(void);
/* A thread that is about to fork lends its lock to code that the loader calls. */
HODO_HIDDEN void hodo_control_lend(void);
HODO_HIDDEN void hodo_control_take_back(void);
/* As lock and unlock; under the loader's lock. */
HODO_HIDDEN uint64_t hodo_control_borrow(bool *borrowed);
HODO_HIDDEN void hodo_control_give_back(uint64_t mask, bool borrowed);
/* From now on, forks are noticed; false: that is not possible. set_up runs in a child, under the control
 * lock. */
HODO_HIDDEN bool hodo_process_watch_forks(void (*set_up)(void));
/* Whether this process is set up for the recording, or is a fork child, whose mark the kernel has wiped. */
enum hodo_fork_mark { HODO_FORKED = 0, HODO_SET_UP = 1, HODO_SETTING_UP = 2 };
extern HODO_SHARED const uint32_t *hodo_fork_mark;
/* Whether this is a fork child that has not been set up. */
static inline bool hodo_process_forked(void)
{
	return __builtin_expect(hodo_load_acquire(hodo_fork_mark) != HODO_SET_UP, 0);
}
HODO_SHARED void hodo_process_after_fork(void);
static inline void hodo_process_check_fork(void)
{
	if (hodo_process_forked())
		hodo_process_after_fork();
}
/*
 * Whether there is a recording to write to, with signals blocked: a handler that interrupted the slow path may have
 * forked and come back here in the child, which has neither its parent's rings nor its views. Until signals
 * are unblocked none can, so pointers to them stay valid.
 */
static inline bool hodo_process_recording(void)
{
	hodo_process_check_fork();
	return hodo_recording.on;
}
HODO_HIDDEN void hodo_process_set_up_child(void); /* in a fork handler */
HODO_HIDDEN void hodo_process_views(void); /* maps the table of views for a new recording */

/* machine.c */
HODO_HIDDEN bool hodo_have_tsc(void);
HODO_HIDDEN uint32_t hodo_possible_cpus(void);
HODO_HIDDEN void hodo_process_name(char comm[16]);
HODO_HIDDEN void hodo_process_exe(char *path, size_t size);
HODO_HIDDEN const char *hodo_environment(char *const *envp, const char *name); /* value or NULL */

/* thread.c: starts one of ours, with all signals blocked. 0 or negative errno. */
HODO_HIDDEN int hodo_thread_start(void *(*run)(void *));

/* clone.c: in the constructor. */
HODO_HIDDEN void hodo_clone_prepare(void);

/* keeper.c: the calling thread may be the first one, and a thread listens now. */
HODO_HIDDEN void hodo_keeper_watch(void);
HODO_HIDDEN void hodo_privileges_prepare(void); /* privileges.c: finds libc's functions */

/* namespaces.c: the loader's namespaces other than libhodo's; in the callback of dl_iterate_phdr(), except
 * for unload. */
HODO_HIDDEN void hodo_namespaces_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data);
HODO_HIDDEN const struct r_debug *hodo_namespaces_debug(void); /* of the first; NULL: there is no loader */
HODO_HIDDEN bool hodo_namespaces_unload(void); /* whether objects are vanishing from one of them */

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control.h - what the files of the control tree share.
 *
 * Files of events are removed under hodo_lock, and debugfs waits then for their operations that run. So these never
 * wait for the lock: hodo_control_trylock() ends the operation instead, and the kernel begins the system call anew,
 * which tries again or finds that the file has gone. The other files are removed when the module goes, without the
 * lock, and may wait for it.
 *
 *                    | file of an event        | other file
 *   removal          | under hodo_lock; beside | without it; beside
 *   its operations   | trylock, restart        | wait for hodo_lock
 *
 * An operation that runs keeps debugfs_remove() from returning, thus its event, or provider, from being freed. The text
 * that was written is copied from the user, and what is read to the user, without the lock.
 */
#ifndef HODO_KMOD_CONTROL_H
#define HODO_KMOD_CONTROL_H

#include "kmod.h"

struct file_operations;
struct seq_file;

/* hodo_lock for a file of an event: 0, or what the operation has to return. */
int hodo_control_trylock(void);
/* What was written, less than size bytes, without blanks around it, NUL-terminated. NULL: *err says why not. */
char *hodo_control_text(char *buf, size_t size, const char __user *from, size_t len, int *err);

/* control_text.c: what is said of events and losses. */
extern const struct file_operations *const hodo_control_info_ops;
extern const struct file_operations *const hodo_control_overflow_ops;
extern const struct file_operations *const hodo_control_format_ops; /* private: the event */
/* control_filter.c: likewise. */
extern const struct file_operations hodo_control_filter_ops;
/* control_event.c: makes the folder events, and those in it. Takes hodo_lock. */
void hodo_control_events_init(void);

#endif

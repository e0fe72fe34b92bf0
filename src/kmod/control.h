/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control.h - what the files of the control tree share.
 *
 * Folders of events are removed under hodo_lock, and sysfs waits then for the operations of their files that run. So
 * these never wait for the lock: hodo_control_trylock() ends the operation instead, and the kernel begins the system
 * call anew, which tries again or finds that the file has gone. The other files are removed when the module goes,
 * without the lock, and may wait for it.
 *
 *                    | file of an event        | other file
 *   removal          | under hodo_lock; beside | without it; beside
 *   its operations   | trylock, restart        | wait for hodo_lock
 *
 * An operation that runs keeps hodo_control_dir_free() from returning, thus its event, or provider, from being freed.
 * sysfs copies from and to the user when the operation is over, without the lock.
 */
#ifndef HODO_KMOD_CONTROL_H
#define HODO_KMOD_CONTROL_H

#include "kmod.h"

struct file;
struct seq_file;

/* A kind of file. data is what its folder was made with: the event, the provider, or NULL. */
struct hodo_control_file {
	const char *name;
	umode_t mode;
	/* One of the first two, if it can be read. What it says; m->private: data. */
	int (*show)(struct seq_file *m, void *data);
	/* Likewise in pieces, as pread(): bytes, or a negative errno. */
	ssize_t (*read)(const struct file *file, char *to, loff_t offset, size_t len);
	/* What was written, without blanks around it. 0 or negative errno. NULL: it cannot be written. */
	int (*take)(void *data, char *text);
};

/* A folder of the tree with its files. */
struct hodo_control_dir;

/* parent: NULL: below /sys/kernel. NULL: no memory. */
struct hodo_control_dir *hodo_control_dir_new(const char *name, struct hodo_control_dir *parent,
					      const struct hodo_control_file *files, unsigned int n, void *data);
/* The folder and all below it go from the tree: no operation of them runs any more. They still have to be freed. */
void hodo_control_dir_close(struct hodo_control_dir *dir);
/* Closes it, if it is not, and frees it. */
void hodo_control_dir_free(struct hodo_control_dir *dir);
/* Calls show with room for all that it says: m is zeros at first, and m->buf is kvfree()d by the caller. */
int hodo_control_show(struct seq_file *m, int (*show)(struct seq_file *m, void *v), void *v);

/* hodo_lock for a file of an event: 0, or what the operation has to return. */
int hodo_control_trylock(void);
/* "0" or "1": 0 or 1; else -EINVAL. */
int hodo_control_switch(const char *text);

/* control_text.c: what is said of events and losses. */
ssize_t hodo_control_info(const struct file *file, char *to, loff_t offset, size_t len);
int hodo_control_overflow(struct seq_file *m, void *data);
int hodo_control_format(struct seq_file *m, void *event);
/* control_filter.c: of an event. */
int hodo_control_filter_show(struct seq_file *m, void *event);
int hodo_control_filter_take(void *event, char *text);
/* control_event.c: makes the folder events, and those in it. Takes hodo_lock. 0 or -ENOMEM. */
int hodo_control_events_init(struct hodo_control_dir *root);
/* No folder comes any more. Takes hodo_lock. */
void hodo_control_events_close(void);
void hodo_control_events_exit(void);

#endif

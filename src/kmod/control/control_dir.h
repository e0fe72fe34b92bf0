/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control_dir.h - what the files of the control tree share.
 *
 * Folders of events are removed under hodo_lock, and sysfs then waits for running operations on their files.
 * So these never wait for the lock: hodo_control_trylock() ends the operation instead, and the kernel
 * restarts the system call, which tries again or finds that the file has gone. The other files are removed
 * when the module goes, without the lock, and may wait for it.
 *
 *                    | file of an event        | other file
 *   removal          | under hodo_lock; beside | without it; beside
 *   its operations   | trylock, restart        | wait for hodo_lock
 *
 * While an operation runs, hodo_control_dir_free() does not return, so its event, or provider, is not freed.
 * sysfs copies from and to the user after the operation, without the lock.
 */
#pragma once

#include <kmod/kmod.h>

struct file;
struct seq_file;

/* A kind of file. data is its folder's: the event, the provider, or NULL. */
struct hodo_control_file {
	const char *name;
	umode_t mode;
	/* show or read is set if it can be read. Writes its contents; m->private: data. */
	int (*show)(struct seq_file *m, void *data);
	/* Reads its contents in pieces, as pread(): bytes, or a negative errno. */
	ssize_t (*read)(const struct file *file, char *to, loff_t offset, size_t len);
	/*
	 * Takes what was written, without surrounding blanks. 0 or negative errno. NULL: it cannot be
	 * written.
	 */
	int (*take)(void *data, char *text);
};

/* A folder of the tree with its files. */
struct hodo_control_dir;

/* parent: NULL: below /sys/kernel. NULL: no memory. */
struct hodo_control_dir *hodo_control_dir_new(const char *name, struct hodo_control_dir *parent,
					      const struct hodo_control_file *files, unsigned int n, void *data);
/*
 * Removes the folder and everything below it from the tree: no operation on them runs any more. They must
 * still be freed.
 */
void hodo_control_dir_close(struct hodo_control_dir *dir);
/* Closes it if necessary, and frees it. */
void hodo_control_dir_free(struct hodo_control_dir *dir);
/* Calls show with room for all its output: m is zero at first, and the caller kvfree()s m->buf. */
int hodo_control_show(struct seq_file *m, int (*show)(struct seq_file *m, void *v), void *v);

/* Takes hodo_lock for a file of an event: 0, or what the operation must return. */
int hodo_control_trylock(void);
/* "0" or "1": 0 or 1; else -EINVAL. */
int hodo_control_switch(const char *text);

/* control_text.c: texts about events and losses. */
ssize_t hodo_control_info(const struct file *file, char *to, loff_t offset, size_t len);
int hodo_control_overflow(struct seq_file *m, void *data);
int hodo_control_format(struct seq_file *m, void *event);
/* control_filter.c: of an event. */
int hodo_control_filter_show(struct seq_file *m, void *event);
int hodo_control_filter_take(void *event, char *text);
/* control_event.c: makes the folder events, and those in it. Takes hodo_lock. 0 or -ENOMEM. */
int hodo_control_events_init(struct hodo_control_dir *root);
/* No more folders are made. Takes hodo_lock. */
void hodo_control_events_close(void);
void hodo_control_events_exit(void);

/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - the kernel among those who are recorded, by the module hodo (<hodo/abi_kernel.h>): a struct hodo_process
 * whose memory is mapped for reading only, whose memfd is the open device that is asked by ioctl(), and without a
 * pidfd.
 */
#ifndef HODO_RECORD_KERNEL_H
#define HODO_RECORD_KERNEL_H

#include "catalog.h"
#include "functions.h"
#include "pattern.h"

struct hodo_session;
struct hodo_memory;

#define HODO_KERNEL_WHY_MAX 512u

/*
 * The control tree: HODO_KERNEL_DIR. For tests, a folder that the environment names so, which has also what the device
 * stands for, as the files `record` and `memory`.
 */
const char *hodo_kernel_dir(void);

/*
 * Opens `info` of the tree, or the device: `record`, to record with it; `memory`, to look at the recording that there
 * is (-ENODATA: there is none). Where the module is not loaded, that is tried once, by modprobe. The descriptor, or a
 * negative errno with a line for the user in why: -EACCES, -EPERM: not allowed; -ENOENT: there is no
 * module.
 */
int hodo_kernel_open(const char *name, int flags, char *why, size_t size);
/* Whether the kernel could be recorded, with the module as it is: 0, or what hodo_kernel_open() would say. */
int hodo_kernel_check(char *why, size_t size);

/* The file `record`, if nobody records the kernel as yet. As hodo_kernel_open(); -EBUSY: somebody does. */
int hodo_kernel_open_record(char *why, size_t size);

/*
 * Records the kernel, too: fd, of hodo_kernel_open_record(), is the session's from then on. patterns: its events;
 * filter, conditions and functions are those of the session. 0; or a negative errno and a line in why.
 */
int hodo_session_record_kernel(struct hodo_session *s, int fd, const struct hodo_pattern_list *patterns, char *why,
			       size_t size);
/* Whether it is being recorded. */
bool hodo_session_has_kernel(const struct hodo_session *s);

/* The memory of whoever records the kernel as a flight recorder. 0; or a negative errno and a line in why. */
int hodo_kernel_memory(struct hodo_memory *m, char *why, size_t size);

/* The path of the object that stands for the kernel and its modules. */
#define HODO_KERNEL_OBJECT "[kernel]"

/*
 * kernel_functions.c: looks for the functions that are meant in the kernel's own list. Where the kernel has no fprobe,
 * functions that are few are named by their addresses from now on: only so are their exits reported; and so are those
 * that the list has under another name. 0; -ESRCH: there is none; other errno. With a line in why.
 */
int hodo_kernel_functions_resolve(struct hodo_functions *f, char *why, size_t size);

/* kernel_functions.c: adds the object. 0 or negative errno. */
int hodo_kernel_functions_object(struct hodo_catalog *catalog);

#endif

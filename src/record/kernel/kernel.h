/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - recording the kernel through the module hodo (<hodo/abi_kernel.h>): a struct hodo_process whose
 * memory is mapped read-only, whose memfd is the open device, used by ioctl(), and which has no pidfd.
 */
#pragma once

#include <base/why.h>
#include <record/catalog.h>
#include <record/functions.h>
#include <read/event/pattern.h>

struct hodo_recorder;
struct hodo_lent;

/*
 * The control tree: HODO_KERNEL_DIR. For tests, a folder named in the environment, which also has files
 * `record` and `memory` in place of the device.
 */
const char *hodo_kernel_dir(void);

/*
 * Opens `info` of the tree, or the device: `record`, to record with it; `memory`, to read the present
 * recording (-ENODATA: none). If the module is not loaded, tries modprobe once. The descriptor, or a negative
 * errno with a line for the user in why: -EACCES, -EPERM: not allowed; -ENOENT: there is no module.
 */
int hodo_kernel_open(const char *name, int flags, struct hodo_why *why);
/* Whether the kernel could be recorded, with the module as it is: 0, or as hodo_kernel_open(). */
int hodo_kernel_check(struct hodo_why *why);

/* Opens `record`, if nobody records the kernel. As hodo_kernel_open(); -EBUSY: somebody does. */
int hodo_kernel_open_record(struct hodo_why *why);

/*
 * Records the kernel, too: the recorder takes fd, from hodo_kernel_open_record(). patterns: its events;
 * filter, conditions and functions are the recorder's. 0; or a negative errno and a line in why.
 */
int hodo_recorder_add_kernel(struct hodo_recorder *s, int fd, const struct hodo_pattern_list *patterns,
			     struct hodo_why *why);
/* Whether it is being recorded. */
bool hodo_recorder_has_kernel(const struct hodo_recorder *s);

/*
 * The memory of the recorder that records the kernel as a flight recorder. 0; or a negative errno and a line
 * in why.
 */
int hodo_kernel_memory(struct hodo_lent *m, struct hodo_why *why);

/* The path of the object that stands for the kernel and its modules. */
#define HODO_KERNEL_OBJECT "[kernel]"

/*
 * kernel_functions.c: looks up the selected functions in the kernel's list. If the kernel has no fprobe, a
 * small number of functions is replaced by their addresses: only then are their exits reported; so are
 * functions that the list has under another name. 0; -ESRCH: none; other errno. With a line in why.
 */
int hodo_kernel_functions_resolve(struct hodo_functions *f, struct hodo_why *why);

/* kernel_functions.c: adds the object. 0 or negative errno. */
int hodo_kernel_functions_object(struct hodo_catalog *catalog);

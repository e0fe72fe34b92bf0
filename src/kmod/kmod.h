/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kmod.h - the parts of the module, which main.c begins and ends. */
#ifndef HODO_KMOD_KMOD_H
#define HODO_KMOD_KMOD_H

#include "compat.h"
#include "event.h"

/* hodo: TEXT, in the kernel's log. */
#undef pr_fmt
#define pr_fmt(fmt) "hodo: " fmt

void hodo_writers_exit(void); /* writer.c */
int hodo_control_init(void); /* control.c: the control tree, with folders of the present events */
void hodo_control_close(void); /* nobody has one of its files open afterwards */
void hodo_control_exit(void); /* when all events are removed */
int hodo_recorder_init(void); /* recorder.c: /dev/hodo, and the files in debugfs */
void hodo_recorder_exit(void);
int hodo_tracepoints_init(void); /* tracepoints.c: the kernel's own */
void hodo_tracepoints_exit(void);
int hodo_syscalls_init(void); /* syscalls.c */
void hodo_syscalls_exit(void);
int hodo_sites_init(void); /* sites.c: instrumented modules */
void hodo_sites_exit(void);
int hodo_functions_init(void); /* functions.c: func:entry, func:exit */
void hodo_functions_exit(void);

/* control.c: an event's folder. Under hodo_lock. */
void hodo_control_event_added(struct hodo_event *event);
void hodo_control_event_removed(struct hodo_event *event);

/* functions.c: the recording wants the functions in its config, or none any more. Under hodo_lock. 0 or
 * negative errno. */
int hodo_functions_start(const struct hodo_functions_config *config);
void hodo_functions_stop(void);

/* threads.c: names of threads go to the recording's memory. Under hodo_lock. */
int hodo_threads_start(void);
void hodo_threads_stop(void);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* kmod.h - the parts of the module, which main.c begins and ends. */
#pragma once

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

/* functions.c: the recording wants the functions in its config, or none any more. Under hodo_lock. 0 or
 * negative errno. */
int hodo_functions_start(const struct hodo_functions_config *config);
void hodo_functions_stop(void);

/* threads.c: names of threads go to the recording's memory. Under hodo_lock. */
int hodo_threads_start(void);
void hodo_threads_stop(void);

/* registry.c: operations on all events. Under hodo_lock. */
/* A recording begins: nothing is in its catalogue yet. */
void hodo_registry_begin(void);
/* Switches on what the recording wants. */
void hodo_registry_on(void);
/* Switches all off, and waits until no writer is inside. */
void hodo_registry_off(void);

/* rules.c: conditions of the recording, or of an event's file in the control tree. Under hodo_lock. */
/* A recording begins, with no event on. 0 or -EINVAL: its conditions are not valid. */
int hodo_rules_prepare(void);
/* The event is off. wanted: the event itself is to be recorded. 0; HODO_RULES_NEVER: it is not needed at all;
 * negative errno. */
#define HODO_RULES_NEVER 1
int hodo_rules_bind(struct hodo_event *event, bool wanted);
/* The event is off, and no writer inside. */
void hodo_rules_free(struct hodo_event *event);

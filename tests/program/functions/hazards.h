/* SPDX-License-Identifier: MIT */
/* hazards.h - scenes that function tracers get wrong. Each prints what it found, the same traced or not. */
#ifndef HAZARDS_H
#define HAZARDS_H

#include "counts.h"

/* jumps.c */
int scene_longjmp(void);
int scene_longjmp_handler(void);
int scene_longjmp_altstack(void);
int scene_storm(void);
/* stacks.c */
int scene_coroutines(void);
int scene_coroutines_threads(void);
int scene_altstack(void);
int scene_deep(void);
/* threads.c */
int scene_threads(void);
int scene_cancel(void);
int scene_cancel_anywhere(void);
int scene_pthread_exit(void);
/* processes.c */
int scene_fork(void);
int scene_vfork(void);
int scene_exec_thread(void);
int scene_child(void);
/* values.c */
int scene_values(void);
/* calls.c */
int scene_tail_calls(void);
int scene_callbacks(void);
int scene_ifunc(void);
int scene_leaves(void);
int scene_backtrace(void);
extern int constructed;

#endif

/* SPDX-License-Identifier: MIT */
/* dispatch.h - what trampolines call, and what encloses the use of a thread's shadow. */
#pragma once

#include <func/threads.h>

/* Whether one of the program's tracers is running in this thread. */
HODO_HIDDEN bool hodo_dispatch_in_tracer(void);
HODO_HIDDEN bool hodo_dispatch_inside(void); /* the thread is in dispatch, or in a handler that interrupted it */

/* Encloses uses of a thread's shadows, in the thread. NULL: ignore this event, which is counted.
 * at: its frame; guard: the caller's. */
HODO_HIDDEN struct hodo_func_thread *hodo_dispatch_begin(uintptr_t at, bool entry, uintptr_t guard);
HODO_HIDDEN void hodo_dispatch_end(struct hodo_func_thread *t);

/* In dispatch: the function's sets; none if it is not known. */
HODO_HIDDEN uint64_t hodo_dispatch_sets(uint64_t function);

/* The trampolines' C side. pc: after the slot (or the function, for -finstrument-functions); at: see struct
 * hodo_frame. */
#define HODO_DISPATCH_SP 1u      /* at is the stack pointer inside the frame */
#define HODO_DISPATCH_NO_EXIT 2u /* the exit will not be seen */
#define HODO_DISPATCH_PLANNED 4u /* pc - 1 is in the function, when its two lowest bits are cleared */
#define HODO_DISPATCH_REPLACED 8u /* through a replaced return address: pc is in the caller */
HODO_HIDDEN void hodo_dispatch_enter(uintptr_t pc, uintptr_t at, unsigned flags);
HODO_HIDDEN void hodo_dispatch_exit(uintptr_t pc, uintptr_t at, unsigned flags);
HODO_HIDDEN void hodo_dispatch_thread_ends(void *unused); /* it is no longer in any call */
HODO_HIDDEN void hodo_dispatch_return(uintptr_t at); /* of a replaced return address */


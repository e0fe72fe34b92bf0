/* SPDX-License-Identifier: MIT */
/* grace.h - what dispatch may still read is unmapped when no thread is in dispatch any more. */
#pragma once

#include <user/user.h>

HODO_HIDDEN void hodo_grace_retire(void *memory, size_t bytes); /* under the control lock: to be unmapped later */
HODO_HIDDEN void hodo_grace_give_back(void);                    /* under the control lock: if nobody is in dispatch */
HODO_HIDDEN void hodo_grace_settle(void); /* without the lock: waits, then unmaps what was retired before */
HODO_HIDDEN bool hodo_grace_recording(void); /* waits for the end of a recording; false: a thread stays inside */

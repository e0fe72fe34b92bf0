/* SPDX-License-Identifier: MIT */
/* handover.h - why a process that joins has no buffers to hand over, and what to do about it. */
#ifndef HODO_RECORD_HANDOVER_H
#define HODO_RECORD_HANDOVER_H

#include <stddef.h>

#include <hodo/abi.h>

/* Writes it to why, which it returns. */
const char *hodo_handover_failed(const struct hodo_msg_failed *m, char *why, size_t size);

#endif

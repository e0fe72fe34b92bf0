/* SPDX-License-Identifier: MIT */
/* thread.c - what the writers read of a thread, and of the machine. */
#include "writer.h"

__thread struct hodo_tls hodo_tls __attribute__((tls_model("initial-exec"))) = { hodo_no_views, 0, 0, 0 };
struct hodo_view hodo_zero_views[HODO_VIEWS_ALL];
long hodo_rseq_offset;
static void nothing(void) { }
void (*hodo_x86_shares)(void) = nothing;
void (*hodo_x86_slow)(struct hodo_state *state, const void *data, size_t len);

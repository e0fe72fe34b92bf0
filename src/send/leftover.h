/* SPDX-License-Identifier: MIT */
/*
 * leftover.h - parts that a recorder with --to had not handed over when it was killed: they are in the recording's
 * directory, and its spool says what they are called at the receiver.
 */
#pragma once

#include <base/why.h>

#include "spool.h"

/*
 * Packs them into the spool, and removes them where they were. recording: the directory. prepare: as in struct
 * hodo_sender_config, or NULL. Returns how many there were, or a negative errno with a line for the user; 0 also if a
 * recorder still writes there.
 */
int hodo_leftover_take(struct hodo_spool *s, const char *recording, int level,
		       void (*prepare)(void *arg, const char *part), void *arg, struct hodo_why *why);

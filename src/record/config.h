/* SPDX-License-Identifier: MIT */
/* config.h - what a recorder asks of those whom it records: processes, and the kernel. */
#ifndef HODO_RECORD_CONFIG_H
#define HODO_RECORD_CONFIG_H

#include <hodo/abi.h>

#include "session.h"

/* A new uuid for a folder; salt: of what it is, in case there are no random numbers. */
void hodo_config_uuid(uint64_t salt, uint8_t uuid[16]);

/* Fills m, as the session is configured, with these patterns; kernel: for the kernel. Its bytes, up to what is used. */
size_t hodo_config_make(const struct hodo_session *s, const struct hodo_pattern_list *patterns, const uint8_t uuid[16],
			const struct hodo_context_config *context, bool kernel, struct hodo_msg_config *m);

#endif

/* SPDX-License-Identifier: MIT */
/* context.h - what stands before the fields of every event, as a process's catalogue says. */
#ifndef HODO_RECORD_CONTEXT_H
#define HODO_RECORD_CONTEXT_H

#include <stdint.h>

#include <hodo/abi.h>

#define HODO_CONTEXT_NAME_MAX 48u /* bytes of a field's name, its NUL included */

struct hodo_context_fields {
	uint32_t n;
	uint8_t type[HODO_CONTEXT_FIELDS_MAX];
	char name[HODO_CONTEXT_FIELDS_MAX][HODO_CONTEXT_NAME_MAX]; /* identifiers, all different */
};

/* 0, or -EINVAL if the configuration makes no sense. */
int hodo_context_fields(const struct hodo_context_config *config, struct hodo_context_fields *fields);

#endif

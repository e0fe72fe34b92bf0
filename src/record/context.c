/* SPDX-License-Identifier: MIT */
/* context.c - the fields of a recording's context. */
#include "context.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t flag;
	uint8_t type;
	const char *name;
} known[] = {
	{ HODO_CONTEXT_COMM, HODO_TYPE_STR, "comm" },
	{ HODO_CONTEXT_PID, HODO_TYPE_U32, "pid" },
	{ HODO_CONTEXT_IP, HODO_TYPE_PTR, "ip" },
	{ HODO_CONTEXT_CALLSTACK, HODO_TYPE_ARRAY | HODO_TYPE_PTR, "callstack" },
	{ HODO_CONTEXT_STACK, HODO_TYPE_ARRAY | HODO_TYPE_U64, "stack_regs" },
	{ HODO_CONTEXT_STACK, HODO_TYPE_BYTES, "stack" },
};

static bool is_identifier(const char *s, size_t size)
{
	size_t n = strnlen(s, size);

	return n > 0 && n < size &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

static void add(struct hodo_context_fields *f, uint8_t type, const char *prefix, const char *name)
{
	f->type[f->n] = type;
	snprintf(f->name[f->n], sizeof(f->name[f->n]), "%s%s", prefix, name);
	f->n++;
}

int hodo_context_fields(const struct hodo_context_config *config, struct hodo_context_fields *fields)
{
	fields->n = 0;
	if (config->size != sizeof(*config) || config->flags >= 2 * HODO_CONTEXT_COUNTERS ||
	    config->counters > HODO_COUNTERS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (config->flags & known[i].flag)
			add(fields, known[i].type, "", known[i].name);
	for (uint32_t i = 0; (config->flags & HODO_CONTEXT_COUNTERS) && i < config->counters; i++) {
		if (!is_identifier(config->counter[i].name, sizeof(config->counter[i].name)))
			return -EINVAL;
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(config->counter[i].name, config->counter[k].name) == 0)
				return -EINVAL;
		add(fields, HODO_TYPE_U64, "perf_", config->counter[i].name);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * functions.c - what a recording wants of functions, and what processes report about them.
 */
#include "functions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <core/function_pattern.h>

#include <record/ring/shm.h>

static const char *name_flaw(const struct hodo_pattern_list *list, const char *p, size_t len)
{
	struct hodo_function_pattern parts;
	bool sound = hodo_function_pattern(&parts, p, len);

	if (!sound && parts.glob)
		return "the name of a function is empty";
	if (len > HODO_FUNCTION_NAME_MAX)
		return "the name of a function is too long";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)p[i] < ' ' || (unsigned char)p[i] == 127)
			return "the name of a function cannot have control characters";
	if (!sound)
		return "a range of addresses is 0xSTART-0xEND, the end excluded";
	if (list->n >= HODO_FUNCTION_NAMES_MAX || list->bytes + len + 1 > HODO_FUNCTIONS_MAX)
		return "too many functions are named: use * to name several at once";
	return NULL;
}

int hodo_functions_add(struct hodo_pattern_list *list, const char *text, struct hodo_why *why)
{
	return hodo_pattern_add_others(list, text, name_flaw, why);
}

void hodo_functions_free(struct hodo_functions *f)
{
	hodo_pattern_free(&f->patterns);
	hodo_pattern_free(&f->loops);
	hodo_pattern_free(&f->arguments);
	memset(f, 0, sizeof(*f));
}

size_t hodo_functions_size(const struct hodo_functions *f)
{
	return f->tracers ? sizeof(struct hodo_functions_config) + f->patterns.bytes + f->loops.bytes : 0;
}

int hodo_functions_check(const struct hodo_functions *f)
{
	return hodo_functions_size(f) > HODO_FUNCTIONS_MAX ? -E2BIG : 0;
}

void hodo_functions_pack(const struct hodo_functions *f, uint64_t limit_ticks, uint64_t ticks_per_s, uint8_t *to)
{
	struct hodo_functions_config c = {
		.size = sizeof(c), .tracers = f->tracers, .depth_max = f->depth_max, .flags = f->flags,
		.limit_ticks = limit_ticks, .ticks_per_s = ticks_per_s,
		.patterns = f->patterns.n, .patterns_len = (uint32_t)f->patterns.bytes,
		.loops = f->loops.n, .loops_len = (uint32_t)f->loops.bytes,
	};

	memcpy(to, &c, sizeof(c));
	to += sizeof(c);
	hodo_pattern_pack(&f->patterns, to);
	hodo_pattern_pack(&f->loops, to + f->patterns.bytes);
}

void hodo_functions_see(const struct hodo_shm *shm, struct hodo_functions_seen *seen)
{
	uint32_t on = hodo_shm_load32(&shm->functions_on);

	seen->found = hodo_shm_load32(&shm->functions);
	/* Some may have been in a library closed by now. */
	if (on > seen->on)
		seen->on = on;
	seen->missed = hodo_shm_load64(&shm->func_missed);
	seen->deep = hodo_shm_load64(&shm->func_deep);
	seen->threads = hodo_shm_load64(&shm->func_threads);
	seen->profile_lost = hodo_shm_load64(&shm->profile_lost);
}

void hodo_functions_sum(struct hodo_functions_seen *sum, const struct hodo_functions_seen *seen)
{
	sum->found += seen->found;
	sum->on += seen->on;
	sum->missed += seen->missed;
	sum->deep += seen->deep;
	sum->threads += seen->threads;
	sum->profile_lost += seen->profile_lost;
}

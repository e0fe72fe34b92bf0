/* SPDX-License-Identifier: MIT */
/*
 * functions.c - what a recording asks of functions, and what processes report of them.
 */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "shm.h"

/* "0x1000-0x2000", the end behind the start. */
static bool is_range(const char *p, size_t len)
{
	char text[64], *end;
	unsigned long long start, stop;

	if (len >= sizeof(text))
		return false;
	memcpy(text, p, len);
	text[len] = 0;
	errno = 0;
	start = strtoull(text, &end, 16);
	if (errno || strncmp(end, "-0x", 3) != 0 || !strchr("0123456789abcdefABCDEF", end[3]) || !end[3])
		return false;
	stop = strtoull(end + 1, &end, 16);
	return !errno && !*end && start < stop;
}

static const char *name_flaw(const char *p, size_t len)
{
	size_t bang = len > 0 && p[0] == '!';

	if (len == bang)
		return "the name of a function is empty";
	if (len > HODO_FUNCTION_NAME_MAX)
		return "the name of a function is too long";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)p[i] < ' ' || (unsigned char)p[i] == 127)
			return "the name of a function holds no control characters";
	if (len - bang > 1 && p[bang] == '0' && p[bang + 1] == 'x' && !is_range(p + bang, len - bang))
		return "a range of addresses is 0xSTART-0xEND, the end excluded";
	return NULL;
}

static int add_one(struct hodo_function_names *list, const char *p, size_t len, char *error, size_t size)
{
	const char *flaw = name_flaw(p, len);

	if (!flaw && (list->n >= HODO_FUNCTION_NAMES_MAX || list->text.len + len + 1 > HODO_FUNCTIONS_MAX))
		flaw = "too many functions are named: use * to name several at once";
	if (flaw)
		return hodo_fail_text(error, size, p, len, flaw);
	hodo_text_bytes(&list->text, p, len);
	hodo_text_char(&list->text, 0);
	if (list->text.error)
		return hodo_fail_memory(error, size);
	list->n++;
	list->included += p[0] != '!';
	return 0;
}

const char *hodo_function_names_next(const struct hodo_function_names *list, const char *p)
{
	p = p ? p + strlen(p) + 1 : list->text.data;
	return p < list->text.data + list->text.len ? p : NULL;
}

int hodo_functions_add(struct hodo_function_names *list, const char *text, char *error, size_t size)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		int err = add_one(list, text, len, error, size);

		if (err || !text[len])
			return err;
		text += len + 1;
	}
}

void hodo_functions_free(struct hodo_functions *f)
{
	hodo_text_free(&f->patterns.text);
	hodo_text_free(&f->loops.text);
	memset(f, 0, sizeof(*f));
}

size_t hodo_functions_size(const struct hodo_functions *f)
{
	return f->tracers ? sizeof(struct hodo_functions_config) + f->patterns.text.len + f->loops.text.len : 0;
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
		.patterns = f->patterns.n, .patterns_len = (uint32_t)f->patterns.text.len,
		.loops = f->loops.n, .loops_len = (uint32_t)f->loops.text.len,
	};

	memcpy(to, &c, sizeof(c));
	to += sizeof(c);
	if (f->patterns.text.len)
		memcpy(to, f->patterns.text.data, f->patterns.text.len);
	if (f->loops.text.len)
		memcpy(to + f->patterns.text.len, f->loops.text.data, f->loops.text.len);
}

void hodo_functions_see(const struct hodo_shm *shm, struct hodo_functions_seen *seen)
{
	uint32_t on = hodo_shm_load32(&shm->functions_on);

	seen->found = hodo_shm_load32(&shm->functions);
	/* Some may have been in a library that is closed by now. */
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

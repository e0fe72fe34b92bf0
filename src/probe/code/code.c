/* SPDX-License-Identifier: MIT */
/* code.c - the bytes of an object's code, and the marks on them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <core/search.h>

#include "code_impl.h"

void hodo_probe_object_close(struct hodo_probe_object *o)
{
	for (uint32_t i = 0; i < o->nsegments; i++) {
		free(o->segments[i].bytes);
		free(o->segments[i].marks);
	}
	free(o->segments);
	free(o->functions);
	free(o->exits);
	free(o->slots);
	*o = (struct hodo_probe_object){ .enter_windows = o->enter_windows, .no_jumps = o->no_jumps,
					 .shadow_stacks = o->shadow_stacks };
}

/* ------------------------------------------------------------------------- code */

const struct hodo_probe_segment *hodo_probe_segment_at(const struct hodo_probe_object *o, uint64_t address)
{
	for (uint32_t i = 0; i < o->nsegments; i++)
		if (address >= o->segments[i].start && address < o->segments[i].end)
			return &o->segments[i];
	return NULL;
}

void hodo_probe_mark(const struct hodo_probe_object *o, uint64_t start, uint64_t end, uint8_t marks)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, start);

	for (uint64_t at = start; s && at < end && at < s->end; at++)
		s->marks[at - s->start] |= marks;
}

const struct hodo_probe_function *hodo_probe_function_at(const struct hodo_probe_object *o, uint64_t address)
{
	uint32_t i = hodo_search(k, o->nfunctions, o->functions[k].end > address);

	return i < o->nfunctions && o->functions[i].start <= address ? &o->functions[i] : NULL;
}

/* Adds a segment, whose bytes are filled in later. */
static struct hodo_probe_segment *add_segment(struct hodo_probe_object *o, uint64_t address, size_t len, int *err)
{
	struct hodo_probe_segment *s;
	uint64_t all = len, end;

	for (uint32_t i = 0; i < o->nsegments; i++)
		all += o->segments[i].end - o->segments[i].start;
	*err = -EFBIG;
	if (all > HODO_PROBE_CODE_MAX || o->nsegments == HODO_PROBE_SEGMENTS_MAX ||
	    __builtin_add_overflow(address, len, &end))
		return NULL;
	*err = -ENOMEM;
	s = hodo_vec_add(o->segments, o->nsegments);
	if (!s)
		return NULL;
	*s = (struct hodo_probe_segment){ .start = address, .end = end, .bytes = malloc(len ? len : 1),
					  .marks = calloc(1, len ? len : 1) };
	if (!s->bytes || !s->marks)
		return NULL;
	*err = 0;
	return s;
}

int hodo_probe_object_add_code(struct hodo_probe_object *o, uint64_t address, const uint8_t *bytes, size_t len)
{
	int err;
	struct hodo_probe_segment *s = add_segment(o, address, len, &err);

	if (s)
		memcpy(s->bytes, bytes, len);
	return err;
}

int hodo_probe_code_read(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	GElf_Phdr ph;
	int err = 0;

	for (size_t i = 0; !err && hodo_elf_segment(e->elf, &i, PT_LOAD, PF_X, &ph);) {
		struct hodo_probe_segment *s;

		if (!ph.p_filesz)
			continue;
		if (ph.p_filesz > HODO_PROBE_CODE_MAX)
			return -EFBIG;
		s = add_segment(o, ph.p_vaddr, ph.p_filesz, &err);
		if (s)
			err = hodo_elf_read_at(e, ph.p_vaddr, s->bytes, ph.p_filesz);
	}
	return err;
}

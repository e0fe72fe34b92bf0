/* SPDX-License-Identifier: MIT */
/*
 * otlp_ids.c - identifiers of traces and spans that have none of their own: made of what is in the recording, so that
 * a second export gives the same ones, and what receives both knows them for the same spans.
 *
 * They begin with the uuid of the process's folder, 16 random bytes, which makes them others on each host. base/hash.h
 * is no help: its hashes differ from run to run.
 */
#define _GNU_SOURCE
#include "otlp_impl.h"

/* A permutation of 64 bits in which each bit depends on all of them (Stafford's variant 13 of MurmurHash3's). */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

uint64_t otlp_id(const struct hodo_read_process *process, uint32_t tid, uint64_t begin, uint32_t same,
		 uint32_t which)
{
	uint64_t uuid[2], h;

	memcpy(uuid, process->uuid, sizeof(uuid));
	h = mix(uuid[0] + 0x9e3779b97f4a7c15ull * (which + 1));
	h = mix(h ^ uuid[1]);
	h = mix(h ^ ((uint64_t)same << 32 | tid));
	h = mix(h ^ begin);
	return h ? h : 1;
}

bool otlp_context(const struct hodo_read_event *event, struct otlp_ids *ids, uint64_t *parent)
{
	static const char *const names[OTLP_CONTEXT_FIELDS] = { "trace_hi", "trace_lo", "parent_id", "span_id" };
	const struct hodo_read_class *cls = event->cls;

	if (cls->kind != HODO_KIND_SPAN_BEGIN || cls->nfields < OTLP_CONTEXT_FIELDS)
		return false;
	for (uint32_t i = 0; i < OTLP_CONTEXT_FIELDS; i++)
		if (cls->fields[i].type != HODO_TYPE_PTR || strcmp(cls->fields[i].name, names[i]) != 0)
			return false;
	ids->trace[0] = event->values[0].u;
	ids->trace[1] = event->values[1].u;
	*parent = event->values[2].u;
	ids->span = event->values[3].u;
	/* An older libhodo gave none. */
	return ids->span && (ids->trace[0] | ids->trace[1]);
}

uint64_t otlp_fold(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t word;

	h = mix(h + 0x9e3779b97f4a7c15ull + len);
	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h ^ word) + word;
	}
	word = 0;
	memcpy(&word, p, len);
	return mix(h ^ word);
}

void otlp_id_bytes(uint8_t *to, uint64_t id)
{
	for (unsigned i = 0; i < 8; i++)
		to[i] = (uint8_t)(id >> (56 - 8 * i));
}

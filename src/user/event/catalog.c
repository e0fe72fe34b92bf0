/* SPDX-License-Identifier: MIT */
#include <core/fields.h>
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include "event.h"

#define TEXT_MAX 1024 /* bytes of one text in a record, including its NUL */
#define FIRST 8u      /* no valid record is at 0 */

static uint8_t *catalog; /* moves when it grows */
static uint64_t catalog_used, catalog_size;
struct hodo_catalog_build hodo_catalog_build;

/* ------------------------------------------------------------------ storing */

static void append_shared(const void *record, uint32_t size)
{
	struct hodo_shm *shm = hodo_shm();
	uint64_t used;

	if (!shm)
		return;
	used = hodo_load(&shm->catalog_used);
	if (used > HODO_CATALOG_SIZE || size > HODO_CATALOG_SIZE - used) {
		hodo_add(&shm->catalog_lost, 1);
		return;
	}
	__builtin_memcpy(hodo_recording.shm + HODO_SHM_CATALOG + used, record, size);
	/* The record before its publication, and both before any event that carries the id. */
	hodo_store_release(&shm->catalog_used, used + size);
}

/* From 256 KiB, doubled when full: room for 65,535 events would waste address space in most programs. */
static bool has_room(uint32_t size)
{
	uint64_t grown = catalog_size ? 2 * catalog_size : 256 << 10;
	void *p;

	if (catalog && catalog_used + size > HODO_CATALOG_SIZE - sizeof(struct hodo_record_context))
		return false;
	if (catalog && size <= catalog_size - catalog_used)
		return true;
	if (grown > HODO_CATALOG_SIZE)
		return false;
	if (catalog)
		p = (void *)hodo_sys4(SYS_mremap, catalog, catalog_size, grown, MREMAP_MAYMOVE);
	else
		p = hodo_mmap(grown, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (hodo_is_error(p))
		return false;
	catalog_used = catalog ? catalog_used : FIRST;
	catalog = p;
	catalog_size = grown;
	return true;
}

uint32_t hodo_catalog_append(void)
{
	struct hodo_record *record = (struct hodo_record *)hodo_catalog_build.bytes;
	uint32_t size = (hodo_catalog_build.used + 7) & ~7u, at;

	__builtin_memset(hodo_catalog_build.bytes + hodo_catalog_build.used, 0, size - hodo_catalog_build.used);
	if (!has_room(size)) {
		if (hodo_shm())
			hodo_add(&hodo_shm()->catalog_lost, 1);
		return 0;
	}
	record->size = size;
	at = (uint32_t)catalog_used;
	__builtin_memcpy(catalog + at, record, size);
	catalog_used += size;
	append_shared(record, size);
	return at;
}

const uint8_t *hodo_catalog_at(uint32_t place)
{
	return catalog + place;
}

const uint8_t *hodo_catalog_bytes(uint64_t *len)
{
	*len = catalog ? catalog_used - FIRST : 0;
	return catalog + FIRST;
}

/* First the context of events, since their sizes depend on it. */
void hodo_catalog_export(void)
{
	const struct hodo_msg_config *c = &hodo_recording.config;
	struct hodo_record_context record = { .head = { sizeof(record), HODO_RECORD_CONTEXT, 0 } };

	if (c->context_len == sizeof(record.config)) {
		__builtin_memcpy(&record.config, hodo_config_context(c), sizeof(record.config));
		append_shared(&record, sizeof(record));
	}
	if (catalog && catalog_used > FIRST)
		append_shared(catalog + FIRST, (uint32_t)(catalog_used - FIRST));
}

/* ----------------------------------------------------------------- building */

void hodo_catalog_begin(const void *head, size_t size)
{
	hodo_catalog_build.used = 0;
	hodo_catalog_put(head, size);
}

void hodo_catalog_put(const void *bytes, size_t size)
{
	struct hodo_catalog_build *b = &hodo_catalog_build;

	__builtin_memcpy(b->bytes + b->used, bytes, size);
	b->used += (uint32_t)size;
}

void hodo_catalog_text(const char *text)
{
	struct hodo_catalog_build *b = &hodo_catalog_build;
	size_t len = __builtin_strlen(text);

	if (len > TEXT_MAX - 1)
		len = TEXT_MAX - 1;
	if (len > sizeof(b->bytes) - 16 - b->used)
		len = sizeof(b->bytes) - 16 - b->used;
	hodo_catalog_put(text, len);
	hodo_catalog_put("", 1);
}

void hodo_catalog_names(const char *names, unsigned n)
{
	static char apart[HODO_FIELDS_NAMES_MAX]; /* under the control lock */
	const char *name_of[HODO_TRACE_FIELDS_MAX];

	hodo_fields_names(names, n, apart, sizeof(apart), name_of);
	for (unsigned i = 0; i < n; i++)
		hodo_catalog_text(name_of[i]);
}

void hodo_catalog_add(const struct hodo_record *record, size_t size, const char *text)
{
	hodo_catalog_begin(record, size);
	if (text)
		hodo_catalog_text(text);
	hodo_catalog_append();
}

/* Objects that are loaded again bring their warnings again. */
static bool warned(const char *text)
{
	const struct hodo_record *record;

	for (uint64_t at = FIRST; catalog && at < catalog_used; at += record->size) {
		record = (const struct hodo_record *)(catalog + at);
		if (record->type == HODO_RECORD_WARNING && __builtin_strcmp((const char *)(record + 1), text) == 0)
			return true;
	}
	return false;
}

void hodo_catalog_warning(const char *const *parts, unsigned n)
{
	const struct hodo_record record = { 0, HODO_RECORD_WARNING, 0 };
	char text[TEXT_MAX] = "";

	for (unsigned i = 0; i < n; i++)
		hodo_fixed_text_add(text, sizeof(text), parts[i]);
	if (!warned(text))
		hodo_catalog_add(&record, sizeof(record), text);
}

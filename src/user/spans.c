/* SPDX-License-Identifier: MIT */
/*
 * spans.c - when spans began, for filters and triggers that ask for $duration.
 *
 * A table of begins that waits for their ends: of a scope (HODO_SPAN) by its thread, of
 * HODO_BEGIN by its id. It exists only while a condition asks for $duration.
 *
 * A key has WINDOW slots. A begin takes a free one, or that of the oldest begin; an end takes
 * the latest begin of its key, which is its own since the scopes of a thread nest. So a begin
 * whose end never comes (a scope left by longjmp, a thread that ended) does no harm but to take a
 * slot for a while. With a begin that has to go, all of its key go: the end of an inner scope
 * must not find the begin of an outer one. Those have no duration then.
 *
 *                | begin              | end
 *   begin        | beside             | beside
 *   end          |                    | beside
 *
 * Also in signal handlers that interrupted any of it. A slot is claimed by a compare-and-swap of its
 * key to BUSY, and filled before its own key is stored: an end that saw the key first would take the
 * time of another begin. An end clears the key by a compare-and-swap: whoever succeeds has the time that it
 * read before, since a slot is not filled without having been cleared or claimed.
 */
#include <sys/mman.h>
#include <time.h>
#include "core/fields.h"
#include "sys.h"
#include "user.h"

#define SLOTS 8192u /* 2^n */
#define WINDOW 8u
enum { FREE = 0, BUSY = 1 };

struct slot {
	uint64_t key;
	int64_t begin_ns;
};
static struct slot *slots;

bool hodo_spans_prepare(void)
{
	if (!slots) {
		void *p = hodo_mmap(sizeof(*slots) * (SLOTS + WINDOW), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

		slots = hodo_is_error(p) ? 0 : p;
	} else {
		/* Nobody is inside. */
		__builtin_memset(slots, 0, sizeof(*slots) * (SLOTS + WINDOW));
	}
	return slots;
}

int64_t hodo_spans_now_ns(void)
{
	struct timespec now;

	hodo_sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t mixed(uint64_t v)
{
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
	return v ^ (v >> 31);
}

/* The first field, by which BEGIN and END are paired: a number as such, whatever its size; else its bytes. */
static uint64_t id_of(const struct hodo_event *event, const struct hodo_piece *pieces, size_t count)
{
	const uint8_t *p;
	uint64_t v = 0;
	unsigned size;

	if (event->nfields == 0 || count == 0)
		return 0;
	size = hodo_fields_fixed_size(event->types[0]);
	if (hodo_fields_element_size(event->types[0])) {
		size_t len = count > 1 ? pieces[1].len : 0;

		p = count > 1 ? pieces[1].data : 0;
		for (size_t i = 0; i < len; i++)
			v = (v ^ p[i]) * 1099511628211u;
		return v;
	}
	if (pieces[0].len < size)
		return 0;
	__builtin_memcpy(&v, pieces[0].data, size);
	switch (event->types[0]) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		return (uint64_t)(int8_t)v;
	case HODO_TYPE_I16:
		return (uint64_t)(int16_t)v;
	case HODO_TYPE_I32:
		return (uint64_t)(int32_t)v;
	}
	return v;
}

static uint64_t key_of(const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces, size_t count)
{
	bool scope = event->kind == HODO_KIND_SPAN_BEGIN || event->kind == HODO_KIND_SPAN_END;
	uint64_t key = mixed(span + mixed(scope ? hodo_gate_tid() : id_of(event, pieces, count)));

	return key > BUSY ? key : key + 2;
}

static void forget(uint64_t key)
{
	struct slot *first = &slots[key & (SLOTS - 1)];

	for (unsigned i = 0; i < WINDOW; i++) {
		uint64_t found = key;

		hodo_cas_seq(&first[i].key, &found, (uint64_t)FREE);
	}
}

void hodo_spans_begin(const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces, size_t count)
{
	uint64_t key = key_of(event, span, pieces, count);
	struct slot *first = &slots[key & (SLOTS - 1)], *oldest = 0;
	int64_t oldest_ns = INT64_MAX, now = hodo_spans_now_ns();

	for (unsigned tries = 0; tries < WINDOW; tries++) {
		uint64_t found = FREE;

		if (hodo_cas_seq(&first[tries].key, &found, (uint64_t)BUSY)) {
			oldest = &first[tries];
			goto claimed;
		}
		if (found != BUSY && hodo_load(&first[tries].begin_ns) < oldest_ns) {
			oldest_ns = hodo_load(&first[tries].begin_ns);
			oldest = &first[tries];
		}
	}
	for (uint64_t found = oldest ? hodo_load(&oldest->key) : BUSY; found != BUSY;) {
		uint64_t old = found;

		if (hodo_cas_seq(&oldest->key, &found, (uint64_t)BUSY)) {
			if (old != FREE)
				forget(old);
			goto claimed;
		}
	}
	forget(key);
	return;
claimed:
	hodo_store(&oldest->begin_ns, now);
	hodo_store_release(&oldest->key, key);
}

bool hodo_spans_end(const struct hodo_event *event, uint64_t span, const struct hodo_piece *pieces, size_t count,
		    int64_t *begin_ns)
{
	uint64_t key = key_of(event, span, pieces, count), found = key;
	struct slot *first = &slots[key & (SLOTS - 1)], *latest = 0;

	*begin_ns = INT64_MIN;
	for (unsigned i = 0; i < WINDOW; i++) {
		if (hodo_load_acquire(&first[i].key) == key && hodo_load(&first[i].begin_ns) > *begin_ns) {
			*begin_ns = hodo_load(&first[i].begin_ns);
			latest = &first[i];
		}
	}
	return latest && hodo_cas_seq(&latest->key, &found, (uint64_t)FREE);
}

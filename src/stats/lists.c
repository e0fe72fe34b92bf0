/* SPDX-License-Identifier: MIT */
/* lists.c - results of the tracers stack, loop, thread and latency. */
#include "lists.h"

#include <read/event/key.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 1000u /* entries of each list but slow */

void hodo_stats_lists_start(struct hodo_stats_lists *l, struct hodo_symbols *symbols, const struct hodo_select *select)
{
	*l = (struct hodo_stats_lists){ .symbols = symbols, .select = select,
				    .stacks = HODO_MAP_BYTES(struct hodo_stats_stack),
				    .held = HODO_MAP_BYTES(struct hodo_stats_held),
				    .wrong = HODO_MAP_BYTES(struct hodo_stats_wrong) };
}

void hodo_stats_lists_free(struct hodo_stats_lists *l)
{
	hodo_map_free(&l->stacks);
	hodo_map_free(&l->held);
	hodo_map_free(&l->wrong);
	hodo_text_free(&l->key);
}

static void take_chain(struct hodo_stats_lists *l, const struct hodo_read_event *e, const struct hodo_read_value *v,
		       struct hodo_stats_chain *chain)
{
	chain->n = 0;
	for (uint32_t i = 0; i < v->count && i < HODO_STATS_CHAIN_MAX; i++) {
		uint64_t address;

		memcpy(&address, (const uint8_t *)v->data + 8 * (size_t)i, sizeof(address));
		chain->name[chain->n++] = hodo_symbols_name_at(l->symbols, e, address);
	}
}

static void take_text(const struct hodo_read_value *v, char to[64])
{
	memset(to, 0, 64);
	if (!v->null)
		memcpy(to, v->data, v->count < 63 ? v->count : 63);
}

/* The entry of l->key, created if necessary; NULL: the list is full, or there is no memory. */
static void *entry_of(struct hodo_stats_lists *l, struct hodo_map *list, bool *is_new)
{
	void *entry = l->key.error ? NULL : hodo_map_find_bytes(list, l->key.data, l->key.len);

	*is_new = !entry;
	if (entry || list->n >= LIST_MAX)
		return entry;
	entry = l->key.error ? NULL : hodo_map_add_bytes(list, l->key.data, l->key.len, NULL);
	l->failed |= !entry;
	return entry;
}

static void add_stack(struct hodo_stats_lists *l, const struct hodo_read_event *e)
{
	struct hodo_stats_stack *s;
	bool is_new;

	hodo_key_start(&l->key);
	hodo_key_add_number(&l->key, (uintptr_t)e->process);
	hodo_key_add_number(&l->key, e->tid);
	s = entry_of(l, &l->stacks, &is_new);
	if (!s || (!is_new && s->bytes >= e->values[0].u))
		return;
	s->pid = e->process->pid;
	s->tid = e->tid;
	s->comm = e->comm;
	s->bytes = e->values[0].u;
	s->depth = (uint32_t)e->values[1].u;
	take_chain(l, e, &e->values[2], &s->chain);
}

static void add_held(struct hodo_stats_lists *l, const struct hodo_read_event *e)
{
	const char *callback = hodo_symbols_name_at(l->symbols, e, e->values[0].u);
	const char *loop = hodo_symbols_name_at(l->symbols, e, e->values[1].u);
	uint64_t ns = lists_ns(e->process, e->values[2].u);
	struct hodo_stats_held *held;
	bool is_new;

	hodo_key_start(&l->key);
	hodo_text_bytes(&l->key, callback, strlen(callback) + 1);
	hodo_text_bytes(&l->key, loop, strlen(loop));
	held = entry_of(l, &l->held, &is_new);
	if (!held)
		return;
	held->callback = callback;
	held->loop = loop;
	held->times++;
	held->total_ns += ns;
	held->max_ns = ns > held->max_ns ? ns : held->max_ns;
}

static void add_wrong(struct hodo_stats_lists *l, const struct hodo_read_event *e)
{
	struct hodo_stats_wrong new = { .name = hodo_symbols_name_at(l->symbols, e, e->values[0].u) }, *wrong;
	bool is_new;

	take_text(&e->values[1], new.wanted);
	take_text(&e->values[2], new.role);
	take_chain(l, e, &e->values[3], &new.chain);
	hodo_key_start(&l->key);
	hodo_text_bytes(&l->key, new.wanted, sizeof(new.wanted));
	hodo_text_bytes(&l->key, new.role, sizeof(new.role));
	hodo_text_bytes(&l->key, new.chain.name, new.chain.n * sizeof(new.chain.name[0]));
	hodo_text_bytes(&l->key, new.name, strlen(new.name));
	wrong = entry_of(l, &l->wrong, &is_new);
	if (wrong && is_new) {
		new.key = wrong->key;
		*wrong = new;
	}
	if (wrong)
		wrong->times++;
	l->last_wrong = wrong;
}

/* Before the func:call of the same frame. */
static void add_callee(struct hodo_stats_lists *l, const struct hodo_read_event *e)
{
	struct hodo_stats_slow *s = &l->next;

	if (l->next_frame != e->values[1].u || s->tid != e->tid)
		s->ncallees = 0;
	l->next_frame = (uint32_t)e->values[1].u;
	s->tid = e->tid;
	if (s->ncallees == HODO_STATS_CALLEES_MAX)
		return;
	s->callee[s->ncallees++] = (struct hodo_stats_callee){
		.name = e->values[0].u ? hodo_symbols_name_at(l->symbols, e, e->values[0].u) : NULL,
		.calls = e->values[2].u,
		.total_ns = lists_ns(e->process, e->values[3].u),
		.max_ns = lists_ns(e->process, e->values[4].u),
	};
}

static int by_time(const void *a, const void *b)
{
	const struct hodo_stats_callee *x = a, *y = b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

void lists_call(struct hodo_stats_lists *l, const struct hodo_read_call *call)
{
	struct hodo_stats_slow *s = &l->next;
	uint32_t at = l->nslow;
	struct hodo_place place;

	if (s->tid != call->tid)
		s->ncallees = 0;
	s->duration_ns = (uint64_t)(call->end_ns - call->entry_ns);
	while (at > 0 && l->slow[at - 1].duration_ns < s->duration_ns)
		at--;
	if (at < HODO_STATS_SLOW_MAX) {
		uint32_t behind = (l->nslow < HODO_STATS_SLOW_MAX ? l->nslow : HODO_STATS_SLOW_MAX - 1) - at;

		hodo_symbols_find(l->symbols, call->process, call->entry_ns, call->function, &place);
		s->name = place.name;
		s->comm = call->comm;
		s->tid = call->tid;
		s->open = call->flags & HODO_READ_CALL_OPEN;
		s->left = call->flags & HODO_READ_CALL_LEFT;
		s->entry_ns = call->entry_ns;
		qsort(s->callee, s->ncallees, sizeof(s->callee[0]), by_time);
		memmove(&l->slow[at + 1], &l->slow[at], behind * sizeof(*s));
		l->slow[at] = *s;
		l->nslow += l->nslow < HODO_STATS_SLOW_MAX;
	}
	s->ncallees = 0;
	s->tid = 0;
}

bool lists_class_is(const struct hodo_read_class *cls, const char *name, uint32_t nfields, const uint8_t *types)
{
	if (cls->nfields != nfields || strcmp(cls->name, name) != 0)
		return false;
	for (uint32_t i = 0; i < nfields; i++)
		if (cls->fields[i].type != types[i])
			return false;
	return true;
}

void hodo_stats_lists_event(struct hodo_stats_lists *l, const struct hodo_read_event *e)
{
	static const struct {
		const char *name;
		uint32_t nfields;
		uint8_t types[5];
		void (*add)(struct hodo_stats_lists *l, const struct hodo_read_event *e);
	} kinds[] = {
		{ "func:stack", 3, { HODO_TYPE_U64, HODO_TYPE_U32, HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_stack },
		{ "func:held", 3, { HODO_TYPE_PTR, HODO_TYPE_PTR, HODO_TYPE_U64 }, add_held },
		{ "func:wrong_thread", 4, { HODO_TYPE_PTR, HODO_TYPE_STR, HODO_TYPE_STR,
					    HODO_TYPE_PTR | HODO_TYPE_ARRAY }, add_wrong },
		{ "func:callee", 5, { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64 },
		  add_callee },
	};

	l->last_wrong = NULL;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!lists_class_is(e->cls, kinds[i].name, kinds[i].nfields, kinds[i].types))
			continue;
		if (hodo_select_whose(l->select, e))
			kinds[i].add(l, e);
		return;
	}
}

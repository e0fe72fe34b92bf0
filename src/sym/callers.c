/* SPDX-License-Identifier: MIT */
/* callers.c - names of code addresses with their offsets, and callers in saved stacks, for events' context. */
#include <stdlib.h>
#include "unwind.h"

#include "recording_symbols.h"

#define MODULES_MAX 4096u
#define PROCESSES_MAX 64u /* with open files at a time */

/* The objects of a process that were mapped for some time. */
struct mapped {
	const struct hodo_read_process *process; /* NULL: free */
	int64_t from_ns, until_ns;
	struct hodo_sym_unwinder *unwinder; /* NULL: not available */
};

struct hodo_callers {
	struct hodo_symbols *symbols;
	struct mapped mapped[PROCESSES_MAX];
	uint32_t last, next;
};

struct hodo_callers *hodo_callers_new(struct hodo_symbols *symbols)
{
	struct hodo_callers *c = calloc(1, sizeof(*c));

	if (c)
		c->symbols = symbols;
	return c;
}

void hodo_callers_free(struct hodo_callers *callers)
{
	if (!callers)
		return;
	for (uint32_t i = 0; i < PROCESSES_MAX; i++)
		hodo_sym_unwinder_free(callers->mapped[i].unwinder);
	free(callers);
}

static const char *name_of(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
			   uint64_t *offset)
{
	struct hodo_callers *c = data;
	struct hodo_place place;

	hodo_symbols_find(c->symbols, process, ts_ns, address - 1, &place);
	*offset = address - place.start;
	if (place.named)
		return place.name;
	*offset = 0;
	hodo_symbols_find(c->symbols, process, ts_ns, address, &place);
	return place.in_file ? place.name : NULL;
}

/* Makes the unwinder for what was mapped at that time. */
static void fill(struct mapped *m, const struct hodo_symbols *symbols, const struct hodo_read_process *process,
		 int64_t ts_ns)
{
	struct hodo_sym_module *modules = calloc(MODULES_MAX, sizeof(*modules));
	uint32_t n = 0;

	hodo_sym_unwinder_free(m->unwinder);
	*m = (struct mapped){ process, INT64_MIN, INT64_MAX, NULL };
	for (uint32_t i = 0; i < process->nobjects && modules; i++) {
		const struct hodo_read_object *o = &process->objects[i];

		hodo_object_changes(o, ts_ns, &m->from_ns, &m->until_ns);
		/* An object recorded late was already there before. */
		if (ts_ns < o->until_ns && n < MODULES_MAX)
			modules[n++] = (struct hodo_sym_module){ o->path, o->build_id, o->build_id_len, o->start,
								 o->end, process->owner };
	}
	if (modules)
		m->unwinder = hodo_sym_unwinder_new(modules, n, hodo_symbols_elsewhere(symbols));
	free(modules);
}

static bool holds(const struct mapped *m, const struct hodo_read_process *process, int64_t ts_ns)
{
	return m->process == process && m->from_ns <= ts_ns && ts_ns < m->until_ns;
}

static struct mapped *find(struct hodo_callers *c, const struct hodo_read_process *process, int64_t ts_ns)
{
	struct mapped *m = &c->mapped[c->last];

	if (holds(m, process, ts_ns))
		return m;
	for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
		if (holds(&c->mapped[i], process, ts_ns)) {
			c->last = i;
			return &c->mapped[i];
		}
	}
	c->last = c->next++ % PROCESSES_MAX;
	m = &c->mapped[c->last];
	fill(m, c->symbols, process, ts_ns);
	return m;
}

static uint32_t unwind(void *data, const struct hodo_read_process *process, int64_t ts_ns,
		       const struct hodo_read_stack *stack, uint64_t *addresses, uint32_t max)
{
	const struct hodo_sym_stack s = { stack->ip, stack->sp, stack->bp, stack->bytes, stack->nbytes };
	struct mapped *m = find(data, process, ts_ns);

	if (m->unwinder)
		return hodo_sym_unwind(m->unwinder, &s, addresses, max);
	if (max > 0)
		addresses[0] = stack->ip;
	return max > 0;
}

const struct hodo_read_code_ops hodo_callers_ops = {
	.size = sizeof(hodo_callers_ops), .name = name_of, .unwind = unwind,
};

/* SPDX-License-Identifier: MIT */
/* list_sdt.c - hodo list: the static probes of a file, which <sys/sdt.h> leaves as notes, with their arguments. */
#define _GNU_SOURCE
#include "list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <base/vec.h>
#include <probe/patch/window.h>

struct taking {
	struct hodo_list *list;
	const char *object;
};

static int take(void *arg, const struct hodo_elf_sdt *probe)
{
	struct taking *t = arg;
	struct hodo_listed_sdt *p = hodo_must(hodo_vec_add(t->list->sdt, t->list->nsdt));
	const char *at = probe->args;
	struct hodo_sdt_arg a;
	char *name;

	if (asprintf(&name, "sdt:%s:%s", probe->provider, probe->name) < 0)
		return -ENOMEM;
	*p = (struct hodo_listed_sdt){ .name = name, .object = t->object, .addr = probe->address,
				       .semaphore = probe->semaphore };
	while (p->nargs < HODO_SDT_ARGS_MAX && hodo_sdt_arg_next(&at, &a))
		*hodo_must(hodo_vec_add(p->args, p->nargs)) = a;
	return 0;
}

static void find_way(const struct hodo_probe_object *o, struct hodo_listed_sdt *p)
{
	static const char *const ways[] = { [HODO_PROBE_NONE] = "none", [HODO_PROBE_TRAP] = "trap",
					    [HODO_PROBE_JUMP] = "jump" };
	struct hodo_probe_window w;

	hodo_probe_window_at(o, p->addr, &w);
	p->way = w.reason == HODO_PROBE_SITE ? "site" : ways[w.kind];
	if (w.kind != HODO_PROBE_JUMP && w.reason != HODO_PROBE_SITE)
		p->reason = hodo_probe_reason_text(w.reason);
}

/* For those from index first on, all of one file. */
static int find_ways(struct hodo_list *l, uint32_t first, const struct hodo_elf *e)
{
	HODO_AUTO(hodo_probe_object_close) struct hodo_probe_object o = { 0 };
	enum hodo_probe_reason why = HODO_PROBE_FINE;
	int err = first < l->nsdt ? hodo_probe_object_open(&o, e, &why) : 0;

	for (uint32_t i = first; i < l->nsdt; i++) {
		if (!err) {
			find_way(&o, &l->sdt[i]);
			continue;
		}
		l->sdt[i].way = "none";
		l->sdt[i].reason = why ? hodo_probe_reason_text(why) : strerror(-err);
	}
	return err == -ENOMEM ? err : 0;
}

int hodo_list_add_sdt(struct hodo_list *l, struct hodo_list_file *file, const char *path, bool quiet)
{
	struct taking t = { l, file->object };
	uint32_t damaged = 0, first = l->nsdt;
	int err = hodo_elf_open(&file->sdt, path);

	if (!err)
		err = hodo_elf_sdt(&file->sdt, take, &t, &damaged);
	if (!err)
		err = find_ways(l, first, &file->sdt);
	if (damaged && !quiet)
		hodo_warning("%s: %" PRIu32 " note%s of static probes %s damaged, and not listed", file->object, damaged,
			     damaged == 1 ? "" : "s", damaged == 1 ? "is" : "are");
	return err;
}

void hodo_list_free_sdt(struct hodo_list *l)
{
	for (uint32_t i = 0; i < l->nsdt; i++) {
		free((char *)l->sdt[i].name);
		free(l->sdt[i].args);
	}
	free(l->sdt);
}

/* ------------------------------------------------------------------------ output */

/* "i32 %eax", "i32 = -1", "u64 at -80(%rbx)"; text that is not understood is shown unchanged. */
static void put_arg(struct hodo_text *to, const struct hodo_sdt_arg *a)
{
	char buf[HODO_SDT_NAME_SIZE];

	hodo_text_add(to, hodo_sdt_type_name(a, buf));
	hodo_text_add(to, a->form == HODO_SDT_CONSTANT ? " = " : a->form == HODO_SDT_MEMORY ? " at " : " ");
	if (a->form == HODO_SDT_CONSTANT && !a->symbol)
		hodo_text_printf(to, "%" PRId64, a->offset);
	else
		hodo_text_plain(to, a->text, a->text_len);
	if (a->form == HODO_SDT_UNKNOWN)
		hodo_text_add(to, " (not understood)");
}

static void put_args(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_listed_sdt *p = row;

	hodo_text_char(to, '(');
	for (uint32_t i = 0; i < p->nargs; i++) {
		hodo_text_printf(to, "%sarg%u:", i ? ", " : "", i + 1);
		put_arg(to, &p->args[i]);
	}
	hodo_text_char(to, ')');
	if (p->semaphore)
		hodo_text_printf(to, "  semaphore 0x%" PRIx64, p->semaphore);
	if (p->reason)
		hodo_text_printf(to, "  %s", p->reason);
}

static void put_register_json(struct hodo_json *j, const char *key, const struct hodo_sdt_register *r)
{
	char buf[HODO_SDT_NAME_SIZE];

	if (r->kind != HODO_SDT_NONE)
		hodo_json_string(j, key, hodo_sdt_register_name(r, buf) + 1);
}

static void put_arg_json(struct hodo_json *j, uint32_t number, const struct hodo_sdt_arg *a)
{
	static const char *const forms[] = { "unknown", "constant", "register", "memory" };
	char buf[HODO_SDT_NAME_SIZE], name[16];

	snprintf(name, sizeof(name), "arg%" PRIu32, number);
	hodo_json_object(j, NULL);
	hodo_json_string(j, "name", name);
	hodo_json_string(j, "type", hodo_sdt_type_name(a, buf));
	hodo_json_bytes(j, "operand", a->text, a->text_len);
	hodo_json_string(j, "form", forms[a->form]);
	put_register_json(j, "register", &a->reg);
	put_register_json(j, "segment", &a->segment);
	put_register_json(j, "base", &a->base);
	put_register_json(j, "index", &a->index);
	if (a->index.kind != HODO_SDT_NONE)
		hodo_json_u64(j, "scale", a->scale);
	if (a->symbol && a->form != HODO_SDT_UNKNOWN)
		hodo_json_bytes(j, "symbol", a->symbol, a->symbol_len);
	if (a->form == HODO_SDT_CONSTANT || a->form == HODO_SDT_MEMORY)
		hodo_json_i64(j, a->form == HODO_SDT_CONSTANT ? "value" : "offset", a->offset);
	hodo_json_end(j);
}

static void put_args_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const struct hodo_listed_sdt *p = row;

	hodo_json_array(j, key);
	for (uint32_t i = 0; i < p->nargs; i++)
		put_arg_json(j, i + 1, &p->args[i]);
	hodo_json_end(j);
}

static struct hodo_cell semaphore(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	uint64_t addr = ((const struct hodo_listed_sdt *)row)->semaphore;

	return addr ? hodo_cell_u64(addr) : (struct hodo_cell){ .type = HODO_CELL_ABSENT };
}

static struct hodo_cell reason(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_listed_sdt *p = row;

	return p->reason ? hodo_cell_string(p->reason) : (struct hodo_cell){ .type = HODO_CELL_ABSENT };
}

#define ROW(name) HODO_MEMBER(struct hodo_listed_sdt, name)
static const struct hodo_column columns[] = {
	{ "name", .most = 40, .style = HODO_NAME, ROW(name) },
	{ "object", ROW(object) },
	{ "addr", "ADDRESS", HODO_AS_HEX, 10, ROW(addr) },
	{ "way", ROW(way) },
	{ "args", .put = put_args, .put_json = put_args_json },
	{ "semaphore", .as = HODO_AS_HEX, .get = semaphore },
	{ "reason", .get = reason },
};
const struct hodo_columns hodo_sdt_columns = { "sdt", HODO_COLUMNS(columns), .headless = true,
					     .text = "name,addr,way,args" };

static int by_name(const void *a, const void *b)
{
	const struct hodo_listed_sdt *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	order = order ? order : strcmp(x->object, y->object);
	return order ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

struct hodo_table hodo_list_sdt(struct hodo_list *l)
{
	if (l->nsdt)
		qsort(l->sdt, l->nsdt, sizeof(*l->sdt), by_name);
	return (struct hodo_table){ .columns = &hodo_sdt_columns, .first = l->sdt, .n = l->nsdt,
				    .stride = sizeof(*l->sdt) };
}

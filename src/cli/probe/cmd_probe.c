/* SPDX-License-Identifier: MIT */
/* cmd_probe.c - hodo probe: shows the meaning of a probe's text in a file; add, list and remove are in
 * probe_live.c. */
#define _GNU_SOURCE
#include <cli/cli.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <base/vec.h>
#include <elf/demangle.h>
#include <probe/patch/whole_functions.h>
#include <probe/value/resolve.h>
#include <sym/sym.h>

#include "probe_live.h"
#include <cli/output/table.h>

/* A field of a probe, as it is shown. */
struct shown_field {
	const char *name, *type, *field, *from, *missing;
	bool may_fault;
};

/* A place of a probe: where it is, and how it would be set. */
struct shown {
	const char *spec, *object, *place, *inlined;
	char *function; /* as it can be named */
	char *file;
	uint64_t address, offset;
	uint32_t line;
	uint64_t jump, trap, none; /* for a return, counts of all its exits */
	const char *reason, *reason_text; /* NULL: all are by a jump */
	struct shown_field *fields;
	uint32_t nfields;
};

struct probing {
	const char *path;
	struct hodo_probe_image image;
	struct hodo_probe_object object;
	enum hodo_probe_reason refused; /* the object as a whole */
	struct hodo_sym *sym;           /* NULL: no lines are known */
	bool all;                       /* show variables instead of the values */
	struct hodo_spec *specs;        /* they own the shown texts */
	struct hodo_probe_points *points;
	uint32_t nspecs, npoints;
	struct shown *list;
	uint32_t n;
};

/* ---------------------------------------------------------------------- tables */

#define FIELD(name) HODO_MEMBER(struct shown_field, name)
static void put_name(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	hodo_text_add(to, "    ");
	hodo_add_plain(to, ((const struct shown_field *)row)->name);
}

static const struct hodo_column field_columns[] = {
	{ "name", .width = 18, .put = put_name, FIELD(name) },
	{ "type", .width = 16, FIELD(type) },
	{ "field", FIELD(field) },
	{ "from", FIELD(from) },
	{ "missing", FIELD(missing) },
	{ "may_fault", FIELD(may_fault), .as = HODO_AS_FLAG },
};
static const struct hodo_columns fields = { "values", HODO_COLUMNS(field_columns), .headless = true,
					  .text = "name,type,from" };

static void put_place(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct shown *s = row;

	hodo_add_plain(to, *s->function ? s->function : "?");
	if (s->offset)
		hodo_text_printf(to, "+0x%" PRIx64, s->offset);
	if (strcmp(s->place, "return") == 0)
		hodo_text_add(to, "%return");
	if (s->inlined) {
		hodo_text_add(to, ": ");
		hodo_add_plain(to, s->inlined);
		hodo_text_add(to, ", inlined");
	}
}

static void put_line(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct shown *s = row;
	const char *slash = s->file ? strrchr(s->file, '/') : NULL;

	if (!s->file)
		return;
	hodo_add_plain(to, slash ? slash + 1 : s->file);
	hodo_text_printf(to, ":%" PRIu32, s->line);
}

/* "by jump", "by trap: REASON", "2 exits by jump, 1 not: REASON" */
static void put_how(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	static const char *const ways[] = { "by jump", "by trap", "not" };
	const struct shown *s = row;
	const uint64_t n[] = { s->jump, s->trap, s->none };
	bool exits = strcmp(s->place, "return") == 0, any = false;

	for (unsigned i = 0; i < 3; i++) {
		if (!n[i])
			continue;
		hodo_text_add(to, any ? ", " : "");
		if (exits)
			hodo_text_printf(to, "%" PRIu64 "%s ", n[i], any ? "" : n[i] == 1 ? " exit" : " exits");
		hodo_text_add(to, ways[i]);
		any = true;
	}
	if (!any)
		hodo_text_add(to, exits ? "no exits" : "not");
	if (s->reason_text)
		hodo_text_printf(to, ": %s", s->reason_text);
}

#define SHOWN(name) HODO_MEMBER(struct shown, name)
static const struct hodo_column columns[] = {
	{ "probe", .style = HODO_NAME, SHOWN(spec) },
	{ "object", SHOWN(object) },
	{ "address", .as = HODO_AS_HEX, .width = 10, SHOWN(address) },
	{ "function", .width = 20, .put = put_place, SHOWN(function) },
	{ "offset", SHOWN(offset), .as = HODO_AS_ID },
	{ "place", SHOWN(place) },
	{ "inlined", SHOWN(inlined) },
	{ "file", .width = 14, .put = put_line, SHOWN(file) },
	{ "line", SHOWN(line), .as = HODO_AS_ID },
	{ "jump", SHOWN(jump), .as = HODO_AS_ID },
	{ "trap", SHOWN(trap), .as = HODO_AS_ID },
	{ "none", SHOWN(none), .as = HODO_AS_ID },
	{ "reason", SHOWN(reason) },
	{ "how", .put = put_how, .flags = HODO_TEXT_ONLY, SHOWN(reason_text) },
	{ "values", HODO_ARRAY(struct shown, fields, nfields, &fields) },
};

static void put_fields(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct shown *s = row;
	struct hodo_table inner = { .columns = &fields, .first = s->fields, .n = s->nfields,
				    .stride = sizeof(*s->fields) };

	if (s->nfields)
		hodo_table_put(to, &inner, false);
}

static const struct hodo_columns probes = { "probes", HODO_COLUMNS(columns), .headless = true,
					  .text = "address,function,file,how" };

/* ----------------------------------------------------------------------- places */

static void count(struct shown *s, const struct hodo_probe_window *w)
{
	s->jump += w->kind == HODO_PROBE_JUMP;
	s->trap += w->kind == HODO_PROBE_TRAP;
	s->none += w->kind == HODO_PROBE_NONE;
	if (w->kind != HODO_PROBE_JUMP && !s->reason) {
		s->reason = hodo_probe_reason_key(w->reason);
		s->reason_text = hodo_probe_reason_text(w->reason);
	}
}

static void plan(struct shown *s, const struct probing *p, const struct hodo_probe_point *at)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(&p->object, at->address);
	struct hodo_probe_window w = { .kind = HODO_PROBE_NONE, .reason = (uint8_t)p->refused };

	if (p->refused != HODO_PROBE_FINE) {
		count(s, &w);
		return;
	}
	for (uint32_t i = 0; at->result && f && i < f->nexits; i++) {
		hodo_probe_window_exit(&p->object, &p->object.exits[f->exit + i], &w);
		count(s, &w);
	}
	if (at->result)
		return;
	if (f && f->start == at->address && !f->part)
		hodo_probe_window_entry(&p->object, f, &w);
	else
		hodo_probe_window_at(&p->object, at->address, &w);
	count(s, &w);
}

static void show(struct probing *p, const char *text, const struct hodo_probe_point *at)
{
	struct shown *s = hodo_must(hodo_vec_add(p->list, p->n));
	const char *file;

	s->spec = text;
	s->object = p->path;
	s->address = at->address;
	s->function = hodo_must(hodo_elf_demangle_brief(at->function, true));
	s->offset = at->address > at->start ? at->address - at->start : 0;
	s->place = at->result ? "return" : at->entry ? "entry" : "code";
	s->inlined = at->inlined;
	if (p->sym && hodo_sym_line(p->sym, at->address, &file, &s->line))
		s->file = hodo_must(strdup(file));
	plan(s, p, at);
	for (uint32_t i = 0; i < at->nfields; i++) {
		const struct hodo_probe_field *f = &at->fields[i];
		struct shown_field *to = hodo_must(hodo_vec_add(s->fields, s->nfields));

		to->name = f->name;
		to->type = f->type_name;
		to->from = f->from;
		to->missing = f->missing ? hodo_missing_key(f->missing) : NULL;
		to->field = f->missing ? NULL : hodo_probe_field_type(f);
		to->may_fault = f->may_fault;
		for (unsigned k = 0; k < f->fetch.n; k++)
			to->may_fault |= f->fetch.step[k].may_fault;
	}
}

static int take(struct probing *p, const char *text)
{
	struct hodo_spec *s = hodo_must(hodo_vec_add(p->specs, p->nspecs));
	struct hodo_probe_points *points;
	struct hodo_why why;
	int err = hodo_spec_parse(s, text, &why);

	if (err)
		return err == -ENOMEM ? hodo_no_memory() : hodo_error("%s: %s", text, why.text);
	if (!hodo_spec_is_of(s, p->path, hodo_elf_soname(p->image.elf.elf)))
		return hodo_error("%s: %s is not the file %s: give that one", text, s->object, p->path);
	points = hodo_must(hodo_vec_add(p->points, p->npoints));
	err = p->all ? hodo_probe_resolve_all(points, &p->image, s, &why) :
		       hodo_probe_resolve(points, &p->image, s, &why);
	if (err)
		return err == -ENOMEM ? hodo_no_memory() : hodo_error("%s: %s", text, why.text);
	for (uint32_t i = 0; i < points->n; i++)
		show(p, text, &points->list[i]);
	if (points->inlined)
		hodo_warning("%s: %" PRIu32 " inlined cop%s of it %s no return", text, points->inlined,
			     points->inlined == 1 ? "y" : "ies", points->inlined == 1 ? "has" : "have");
	return 0;
}

/* -------------------------------------------------------------------------- verb */

static int open_file(struct probing *p, const char *path)
{
	struct hodo_sym_source source = { .path = path };
	int err;

	p->path = path;
	err = hodo_probe_image_open(&p->image, path, NULL);
	if (err == -ENOEXEC)
		return hodo_error("%s: is not a program or library: give one", path);
	if (!err)
		err = hodo_probe_object_open(&p->object, &p->image.elf, &p->refused);
	if (err && err != -EOPNOTSUPP)
		return hodo_cannot_read(path, err);
	p->image.code = err ? NULL : &p->object;
	source.owner = getuid();
	if (hodo_sym_open(&p->sym, &source) < 0)
		p->sym = NULL;
	return 0;
}

static void close_file(struct probing *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		free(p->list[i].file);
		free(p->list[i].function);
		free(p->list[i].fields);
	}
	for (uint32_t i = 0; i < p->npoints; i++)
		hodo_probe_points_free(&p->points[i]);
	for (uint32_t i = 0; i < p->nspecs; i++)
		hodo_spec_free(&p->specs[i]);
	free(p->list);
	free(p->points);
	free(p->specs);
	hodo_sym_close(p->sym);
	hodo_probe_object_close(&p->object);
	hodo_probe_image_close(&p->image);
}

static const char *const live_actions[] = { "add", "list", "remove", NULL };

static bool is_one(const char *word, const char *const *of)
{
	while (*of && strcmp(word, *of) != 0)
		of++;
	return *of;
}

/* The program that a process runs, unless there is a file of that name. It may have another root directory. */
static const char *file_of(const char *word, char path[PATH_MAX])
{
	uint64_t pid;

	if (hodo_parse_number(word, INT_MAX, &pid) == 0 && pid > 0 && access(word, F_OK) != 0) {
		snprintf(path, PATH_MAX, "/proc/%d/exe", (int)pid);
		if (access(path, F_OK) == 0)
			return path;
	}
	return hodo_find_program(word, path);
}

static int run(void *args)
{
	const struct hodo_args *a = args;
	HODO_AUTO(close_file) struct probing p = { .image.elf = HODO_ELF_CLOSED };
	struct hodo_table t = { .columns = &probes, .stride = sizeof(*p.list), .below = put_fields };
	struct hodo_page page;
	char path[PATH_MAX];
	int status;

	if (a->n && is_one(a->words[0], live_actions))
		return hodo_probe_live(a);
	if (!a->n || (strcmp(a->words[0], "show") != 0 && strcmp(a->words[0], "vars") != 0))
		return hodo_usage("probe", "give 'show', 'vars', 'add', 'list' or 'remove' first");
	if (a->n < 3)
		return hodo_usage("probe", "'%s' takes a program or library, and probes such as 'main(argc)'", a->words[0]);
	p.all = strcmp(a->words[0], "vars") == 0;
	status = open_file(&p, file_of(a->words[1], path));
	for (int i = 2; i < a->n && !status; i++)
		status = *a->words[i] ? take(&p, a->words[i]) : hodo_usage("probe",
									   "a probe cannot be empty");
	if (status)
		return status;
	t.first = p.list;
	t.n = p.n;
	hodo_page_begin(&page, a);
	if (a->look.json)
		hodo_table_put_json(&page.json, "probes", &t);
	else
		hodo_table_put(&page.text, &t, a->look.color);
	return hodo_page_end(&page);
}

static const struct hodo_option options[] = {
	HODO_OPTION_JSON("one JSON object"),
	HODO_OPTION_QUIET("do not report what was set or removed"),
	{ 0 },
};

static const struct hodo_args defaults = { .no_pager = true };
static const char *const actions[] = { "show", "vars", "add", "list", "remove", NULL };

const struct hodo_verb hodo_verb_probe = {
	.name = "probe", .does = "show, set and remove probes in unprepared code",
	.usage = "show|vars [--json] FILE|PID PROBE...\nadd|remove [-q] PID|PROGRAM PROBE...\n"
		 "list [--json] PID|PROGRAM",
	.about = "'show' shows what probes in a program or library FILE would be: at which\n"
		 "addresses, how they would be set, and where their values are; 'vars' lists the\n"
		 "variables that you can name. 'add' sets probes in a running recording, 'remove'\n"
		 "removes them, and 'list' lists them. PID is a recorded process or its recorder,\n"
		 "for 'show' and 'vars' any process, for the program that it runs;\n"
		 "PROGRAM means all recorded processes that run it.\n"
		 "PROBE is FUNCTION, FUNCTION%return, FUNCTION+OFFSET, SOURCE:LINE or 0xADDRESS,\n"
		 "followed by values in parentheses: 'get(key, len, node->next->n)'; also\n"
		 "sdt:PROVIDER:NAME for 'add' and 'remove'.\n",
	.options = options, .column = 16, .aligned = true, .choices = actions, .words = HODO_WORD_FILE | HODO_WORD_PID,
	.args_bytes = sizeof(struct hodo_args), .defaults = &defaults, .run = run,
};

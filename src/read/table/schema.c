/* SPDX-License-Identifier: MIT */
/*
 * schema.c - tables with columns for fields: one for each name of a class, with the columns of all classes of that
 * name, or one of all classes. A column has one type: where two classes have a field of one name with different types,
 * the second is named after its type too.
 */
#include "schema.h"
#include "tables.h"

#include <base/escape.h>
#include <base/intern.h>
#include <base/map.h>
#include <base/vec.h>
#include <read/event/select.h>
#include <read/file/reader.h>
#include <read/file/trace.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NONE UINT32_MAX
#define NAME_MAX_BYTES 255u /* more is cut off */

struct class_table {
	struct hodo_rows_table table;
	struct hodo_rows_column *columns; /* table.columns */
	uint32_t room, max;
	uint32_t nfixed; /* columns that are no field's */
};

struct hodo_rows_schema {
	struct hodo_strings names;  /* of tables and columns */
	struct hodo_strings folded; /* names of tables in small letters: those that are always there, then classes' */
	struct hodo_strings classes; /* names of event classes: table HODO_ROWS_FIXED + the number */
	struct class_table **tables;
	uint32_t ntables;
	struct class_table fields; /* members of HODO_ROWS_FIELDS */
	struct class_table flat; /* instead of all of these, if it has columns */
	uint64_t omitted;
};

static void fold(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name + 'a' - 'A');
}

/* ---------------------------------------------------------------------- columns */

/* Appends a name that a program gave, as UTF-8. */
static void add_name(struct hodo_text *t, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	char *o = hodo_text_room(t, 2 * len + 1);

	if (o)
		t->len += (size_t)(hodo_escape_utf8(o, name, len, 0) - o);
}

/*
 * The again-th name that a field's column can have, from 1 on, if others have those before: NAME, NAME_TYPE, NAME_2, …
 * behind a prefix, or of its labels NAME_label, NAME_label_str, NAME_label_2, …
 */
static const char *column_name(struct hodo_text *t, const char *prefix, const struct hodo_read_field *field, bool label,
			       unsigned again)
{
	uint32_t type = label ? HODO_TYPE_STR : field->type;

	t->len = 0;
	hodo_text_add(t, prefix);
	add_name(t, field->name);
	hodo_text_add(t, label ? "_label" : "");
	if (again == 2)
		hodo_text_printf(t, "_%s%s", hodo_read_type_name(type & ~(uint32_t)HODO_TYPE_ARRAY),
				 type & HODO_TYPE_ARRAY ? "s" : "");
	else if (again > 2)
		hodo_text_printf(t, "_%u", again - 1);
	return hodo_text_string(t);
}

static uint32_t find_column(const struct class_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->table.ncolumns; i++)
		if (strcasecmp(t->columns[i].name, name) == 0)
			return i;
	return NONE;
}

/* Whether a name is one that the table has beside fields; those of every class's are no field's in any. */
static bool is_fixed(const struct class_table *t, const char *name)
{
	return t->nfixed && (find_column(t, name) < t->nfixed || strcasecmp(name, "text") == 0 ||
			     strcasecmp(name, "function") == 0);
}

static uint32_t new_column(struct hodo_rows_schema *s, struct class_table *t, const char *name, uint32_t type)
{
	uint32_t kept = hodo_strings_add(&s->names, name);

	if (kept == HODO_STRINGS_NONE || hodo_vec_reserve(t->columns, t->room, t->table.ncolumns + 1) < 0)
		return NONE;
	t->columns[t->table.ncolumns] = (struct hodo_rows_column){ hodo_strings_at(&s->names, kept), type };
	t->table.columns = t->columns;
	return t->table.ncolumns++;
}

/* The columns that a table begins with. 0 or -ENOMEM. */
static int add_fixed(struct hodo_rows_schema *s, struct class_table *t, const struct hodo_rows_column *columns,
		     uint32_t n)
{
	for (; t->nfixed < n; t->nfixed++)
		if (new_column(s, t, columns[t->nfixed].name, columns[t->nfixed].type) == NONE)
			return -ENOMEM;
	return 0;
}

/* Where the fields of a class go in its table, or in the struct of all: their columns are found, or made with add. */
struct placing {
	struct hodo_rows_schema *s; /* unchanged without add */
	struct class_table *t;
	bool add;
	uint64_t taken[HODO_ROWS_COLUMNS_MAX / 64 + 1];
	struct hodo_text scratch;
};

/*
 * The column of a field, or of its labels: the first of its names that has its type and is not another one of the
 * class, or is not there yet. Which that is does not change when others are added, so that it is found again.
 */
static uint32_t column_of(struct placing *p, const char *prefix, const struct hodo_read_field *f, bool label)
{
	uint32_t type = label ? HODO_ROWS_NAME : f->type;

	for (unsigned again = 1; again < HODO_ROWS_COLUMNS_MAX; again++) {
		const char *name = column_name(&p->scratch, prefix, f, label, again);
		uint32_t column = p->scratch.error ? NONE : find_column(p->t, name);

		if (column == NONE && p->add && !p->scratch.error && p->t->table.ncolumns < p->t->max) {
			column = new_column(p->s, p->t, name, type);
			if (column == NONE)
				p->scratch.error = -ENOMEM;
		}
		if (column == NONE)
			return NONE;
		if (column >= p->t->nfixed && p->t->columns[column].type == type &&
		    !(p->taken[column / 64] >> column % 64 & 1)) {
			p->taken[column / 64] |= 1ull << column % 64;
			return column;
		}
	}
	return NONE;
}

static void place_field(struct placing *p, const struct hodo_read_field *f, bool context, uint32_t *column,
			uint32_t *label)
{
	const char *prefix = context ? "context_" : is_fixed(p->t, f->name) ? "field_" : "";

	*column = column_of(p, prefix, f, false);
	*label = f->labels && *column != NONE ? column_of(p, prefix, f, true) : NONE;
	if (p->add)
		p->s->omitted += *column == NONE;
}

/* t: NULL: the class has no table. 0 or -ENOMEM. */
static int place_fields(struct hodo_rows_schema *s, struct class_table *t, const struct hodo_read_class *cls,
			struct hodo_rows_place *places, bool add)
{
	struct placing own = { .s = s, .t = t, .add = add }, all = { .s = s, .t = &s->fields, .add = add };
	int err;

	for (uint32_t i = 0; i < cls->ncontext + cls->nfields; i++) {
		const struct hodo_read_field *f = hodo_class_field(cls, i);
		struct hodo_rows_place place = { NONE, NONE, NONE, NONE };

		if (t)
			place_field(&own, f, i < cls->ncontext, &place.column, &place.label);
		if (t != &s->flat)
			place_field(&all, f, i < cls->ncontext, &place.member, &place.member_label);
		if (places)
			places[i] = place;
	}
	err = own.scratch.error ? own.scratch.error : all.scratch.error;
	hodo_text_free(&own.scratch);
	hodo_text_free(&all.scratch);
	return err;
}

/* ----------------------------------------------------------------------- tables */

/* A name that no other table has. */
static const char *table_name(struct hodo_rows_schema *s, const char *class_name)
{
	struct hodo_text folded = { 0 };
	const char *name = NULL;

	for (unsigned again = 1; !name; again++) {
		char suffix[16] = "";
		uint32_t n = s->folded.map.n, at, kept;

		if (again > 1)
			snprintf(suffix, sizeof(suffix), "_%u", again);
		folded.len = 0;
		add_name(&folded, class_name);
		hodo_text_add(&folded, suffix);
		kept = hodo_strings_add(&s->names, hodo_text_string(&folded));
		if (folded.error || kept == HODO_STRINGS_NONE)
			break;
		fold(folded.data);
		at = hodo_strings_add(&s->folded, hodo_text_string(&folded));
		if (at == HODO_STRINGS_NONE)
			break;
		if (at == n)
			name = hodo_strings_at(&s->names, kept);
	}
	hodo_text_free(&folded);
	return name;
}

static struct class_table *new_table(struct hodo_rows_schema *s, const char *class_name)
{
	struct class_table *t = calloc(1, sizeof(*t));

	if (!t || hodo_vec_push(s->tables, s->ntables, t) < 0) {
		free(t);
		return NULL;
	}
	t->max = HODO_ROWS_COLUMNS_MAX;
	t->table.class_name = class_name;
	t->table.name = table_name(s, class_name);
	return t->table.name && add_fixed(s, t, hodo_rows_head, HODO_ROWS_OWN) == 0 ? t : NULL;
}

static struct class_table *find_table(const struct hodo_rows_schema *s, const char *class_name, uint32_t *number)
{
	const void *found = hodo_map_find_bytes(&s->classes.map, class_name, strlen(class_name));

	*number = found ? hodo_map_index(&s->classes.map, found) : NONE;
	return found ? s->tables[*number] : NULL;
}

static int add_class(struct hodo_rows_schema *s, const struct hodo_read_class *cls)
{
	uint32_t number;
	struct class_table *t = find_table(s, cls->name, &number);

	if (!t && s->ntables == HODO_ROWS_CLASSES_MAX) {
		s->omitted++;
		return place_fields(s, NULL, cls, NULL, true);
	}
	if (!t) {
		number = hodo_strings_add(&s->classes, cls->name);
		if (number == HODO_STRINGS_NONE)
			return -ENOMEM;
		t = new_table(s, hodo_strings_at(&s->classes, number));
	}
	return t ? place_fields(s, t, cls, NULL, true) : -ENOMEM;
}

int hodo_rows_schema_add(struct hodo_rows_schema *s, const struct hodo_read *reader)
{
	int err = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);

		for (uint32_t k = 0; k < p->nclasses && !err; k++)
			err = add_class(s, p->classes[k]);
	}
	return err;
}

uint32_t hodo_rows_places(const struct hodo_rows_schema *s, const struct hodo_read_class *cls,
			  struct hodo_rows_place *places)
{
	struct hodo_rows_schema *same = (struct hodo_rows_schema *)s; /* nothing is added */
	struct class_table *t;
	uint32_t number;

	if (s->flat.nfixed) {
		place_fields(same, &same->flat, cls, places, false);
		return NONE;
	}
	t = find_table(s, cls->name, &number);
	place_fields(same, t, cls, places, false);
	return t ? HODO_ROWS_FIXED + number : NONE;
}

uint32_t hodo_rows_nmembers(const struct hodo_rows_schema *s)
{
	return s->fields.table.ncolumns;
}

const struct hodo_rows_column *hodo_rows_members(const struct hodo_rows_schema *s)
{
	return s->fields.columns;
}

struct hodo_rows_schema *hodo_rows_schema_new(void)
{
	struct hodo_rows_schema *s = calloc(1, sizeof(*s));
	bool failed = !s || hodo_strings_add(&s->folded, HODO_ROWS_OF_TABLES) == HODO_STRINGS_NONE;

	for (unsigned i = 0; !failed && i < HODO_ROWS_FIXED; i++)
		failed = hodo_strings_add(&s->folded, hodo_rows_fixed[i].name) == HODO_STRINGS_NONE;
	if (failed) {
		hodo_rows_schema_free(s);
		return NULL;
	}
	s->fields.max = HODO_ROWS_MEMBERS_MAX;
	return s;
}

/* Whether the table has columns for the fields of a class. */
static bool is_in(const struct hodo_read *r, uint32_t number, const struct hodo_read_class *cls)
{
	bool begins = cls->role == HODO_READ_ROLE_SPAN_BEGIN || cls->role == HODO_READ_ROLE_BEGIN ||
		      cls->role == HODO_READ_ROLE_SYSCALL_BEGIN;

	return (number == HODO_ROWS_EVENTS || (number == HODO_ROWS_SPANS && begins)) &&
	       hodo_select_has_class(r->select, cls);
}

/* Adds the fields of all classes, or only finds out whether there are marks. 0 or -ENOMEM. */
static int add_classes(struct hodo_rows_schema *s, const struct hodo_read *r, uint32_t number, bool *marks)
{
	int err = 0;

	for (uint32_t i = 0; i < r->ntraces; i++) {
		const struct hodo_read_process *p = &r->traces[i]->pub;

		for (uint32_t k = 0; k < p->nclasses && !err; k++) {
			if (!is_in(r, number, p->classes[k]))
				continue;
			if (marks)
				*marks |= p->classes[k]->kind == HODO_KIND_MARK;
			else
				err = place_fields(s, &s->flat, p->classes[k], NULL, true);
		}
	}
	return err;
}

struct hodo_rows_schema *hodo_rows_schema_flat(const struct hodo_read *reader, uint32_t number)
{
	const struct hodo_rows_table *of = &hodo_rows_fixed[number];
	struct hodo_rows_schema *s = calloc(1, sizeof(*s));
	struct class_table *t = s ? &s->flat : NULL;
	bool marks = false;

	if (!s || add_fixed(s, t, of->columns, of->ncolumns - (number != HODO_ROWS_CALLS)) < 0) {
		hodo_rows_schema_free(s);
		return NULL;
	}
	t->max = HODO_ROWS_COLUMNS_MAX;
	add_classes(s, reader, number, &marks);
	if (number == HODO_ROWS_EVENTS) {
		t->columns[HODO_ROWS_TEXT].type = marks ? HODO_TYPE_STR : HODO_TYPE_NONE;
		t->columns[EVENTS_JSON].type = HODO_TYPE_STR;
		t->max += marks ? 1 : 2; /* that are not among them */
	} else if (number == HODO_ROWS_CALLS) {
		t->columns[CALLS_ADDRESS] = (struct hodo_rows_column){ "address", HODO_TYPE_PTR };
	}
	if (add_classes(s, reader, number, NULL) < 0) {
		hodo_rows_schema_free(s);
		return NULL;
	}
	return s;
}

void hodo_rows_schema_free(struct hodo_rows_schema *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->ntables; i++) {
		free(s->tables[i]->columns);
		free(s->tables[i]);
	}
	free(s->tables);
	free(s->fields.columns);
	free(s->flat.columns);
	hodo_strings_free(&s->names);
	hodo_strings_free(&s->folded);
	hodo_strings_free(&s->classes);
	free(s);
}

uint64_t hodo_rows_schema_omitted(const struct hodo_rows_schema *s)
{
	return s->omitted;
}

uint32_t hodo_rows_ntables(const struct hodo_rows_schema *s)
{
	return HODO_ROWS_FIXED + s->ntables;
}

const struct hodo_rows_table *hodo_rows_table(const struct hodo_rows_schema *s, uint32_t number)
{
	if (s->flat.nfixed)
		return &s->flat.table;
	return number < HODO_ROWS_FIXED ? &hodo_rows_fixed[number] : &s->tables[number - HODO_ROWS_FIXED]->table;
}

uint32_t hodo_rows_find(const struct hodo_rows_schema *s, const char *name)
{
	for (uint32_t i = 0; i < hodo_rows_ntables(s); i++)
		if (strcasecmp(hodo_rows_table(s, i)->name, name) == 0)
			return i;
	return NONE;
}

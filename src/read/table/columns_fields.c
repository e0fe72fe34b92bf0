/* SPDX-License-Identifier: MIT */
/*
 * columns_fields.c - which fields of event classes have which columns. A column has one type: where two classes
 * have a field of one name with different types, the second one is called after its type, too.
 */
#include "column_names.h"
#include "columns_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

/* Whether a name is one that the table has beside fields; those of every table are no field's in any. */
static bool is_fixed(const struct hodo_read_columns *c, const char *name)
{
	if (strcasecmp(name, "text") == 0 || strcasecmp(name, "function") == 0)
		return true;
	for (uint32_t i = 0; i < c->nfixed; i++)
		if (strcasecmp(name, c->columns[i]->pub.name) == 0)
			return true;
	return false;
}

static struct column *find_column(const struct hodo_read_columns *c, const char *name, uint32_t *index)
{
	for (*index = 0; *index < c->ncolumns; ++*index)
		if (strcasecmp(c->columns[*index]->pub.name, name) == 0)
			return c->columns[*index];
	return NULL;
}

/*
 * The column of a field, or of its labels: the first of its names that has its type and is not another one of the
 * class, or that is not there yet; so it is found again when others have been added. taken: a bit for each column that
 * is the class's. NULL: there is none, or c->scratch.error is set.
 */
static struct column *column_of(struct hodo_read_columns *c, const char *prefix, const struct hodo_read_field *f,
				bool label, uint64_t *taken, bool add)
{
	uint32_t type = label ? HODO_TYPE_STR : f->type, index;

	for (unsigned again = 1; again < HODO_READ_COLUMNS_MAX; again++) {
		const char *name = hodo_column_name(&c->scratch, prefix, f, label, again);
		struct column *column = find_column(c, name, &index);

		if (!column && add && c->ncolumns < HODO_READ_COLUMNS_MAX && !c->scratch.error) {
			column = columns_add(c, name, type, label, false);
			if (!column)
				c->scratch.error = -ENOMEM;
			else
				column->pub.label = label;
		}
		if (!column)
			return NULL;
		if (column->pub.type == type && column->pub.label == label && index >= c->nfixed &&
		    !(taken[index / 64] >> index % 64 & 1)) {
			taken[index / 64] |= 1ull << index % 64;
			return column;
		}
	}
	return NULL;
}

/* Calls each for the fields of a class, with their columns, which are added or found. 0 or -ENOMEM. */
static int place_fields(struct hodo_read_columns *c, const struct hodo_read_class *cls, bool add,
			struct columns_plan *plan)
{
	uint64_t taken[HODO_READ_COLUMNS_MAX / 64] = { 0 };

	for (uint32_t i = 0; i < cls->ncontext + cls->nfields; i++) {
		const struct hodo_read_field *f = hodo_class_field(cls, i);
		const char *prefix = i < cls->ncontext ? "context_" : is_fixed(c, f->name) ? "field_" : "";
		struct columns_place place = { .value = i, .labels = f->labels };

		place.column = column_of(c, prefix, f, false, taken, add);
		if (place.column && f->labels)
			place.label = column_of(c, prefix, f, true, taken, add);
		if (c->scratch.error)
			return -ENOMEM;
		if (place.column && !place.column->valid)
			place.column = NULL;
		if (place.label && !place.label->valid)
			place.label = NULL;
		if (plan && (place.column || place.label))
			plan->places[plan->nplaces++] = place;
	}
	return 0;
}

int columns_add_fields(struct hodo_read_columns *c, const struct hodo_read_class *cls)
{
	return place_fields(c, cls, true, NULL);
}

const struct columns_plan *columns_make_plan(struct hodo_read_columns *c, const struct hodo_read_class *cls)
{
	uint32_t n = cls->ncontext + cls->nfields;
	const void *found = hodo_map_find_u64(&c->plans, (uintptr_t)cls);
	struct columns_plan *plan = hodo_map_kept(&c->plans, found);

	if (plan)
		return plan;
	plan = hodo_map_keep_u64(&c->plans, (uintptr_t)cls, sizeof(*plan) + n * sizeof(*plan->places));
	return plan && place_fields(c, cls, false, plan) == 0 ? plan : NULL;
}

int columns_put_fields(struct hodo_read_columns *c, const struct columns_plan *plan, const struct hodo_read_class *cls,
		       const struct hodo_read_value *context, const struct hodo_read_value *values)
{
	for (uint32_t i = 0; i < plan->nplaces; i++) {
		const struct columns_place *p = &plan->places[i];
		const struct hodo_read_value *v = p->value < cls->ncontext ? &context[p->value] :
									      &values[p->value - cls->ncontext];
		int err = p->column ? columns_put_value(c, p->column, v) : 0;

		if (!err && p->label)
			err = columns_put_text(c, p->label, v->type < HODO_TYPE_STR ?
						hodo_read_label(p->labels, v->i) : NULL);
		if (err)
			return err;
	}
	return 0;
}

int columns_put_head(struct hodo_read_columns *c, const struct hodo_read_process *p, uint32_t pid, const char *comm,
		     uint32_t tid)
{
	int err = columns_put_text(c, c->columns[COLUMN_HOST], p->hostname && *p->hostname ? p->hostname : NULL);

	if (!err)
		err = columns_put_text(c, c->columns[COLUMN_PROCESS], p->comm);
	if (!err)
		err = columns_put_text(c, c->columns[COLUMN_THREAD], comm);
	columns_put_u32(c, c->columns[COLUMN_PID], pid);
	columns_put_u32(c, c->columns[COLUMN_TID], tid);
	return err;
}

/* SPDX-License-Identifier: MIT */
/* live.c - classes of a process that runs: as much of a trace as role.c needs, without the texts for printing. */
#include "live.h"

#include <base/intern.h>
#include <base/map.h>
#include <base/vec.h>
#include <read/event/role.h>
#include <read/file/class.h>
#include <read/file/layout.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hodo_live {
	struct hodo_read_process process;
	struct hodo_strings bases;
	struct hodo_shorts shorts;
	struct hodo_class **by_id;
	uint32_t ids; /* by_id has entries for those below */
	uint32_t classes;
};

struct hodo_live *hodo_live_new(bool kernel)
{
	struct hodo_live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	hodo_hash_seed();
	l->process.kernel = kernel ? "" : NULL;
	return l;
}

void hodo_live_free(struct hodo_live *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->ids; i++)
		free(l->by_id[i]);
	free(l->by_id);
	hodo_live_forget_shorts(l);
	hodo_strings_free(&l->bases);
	free(l);
}

static int make_room(struct hodo_live *l, uint32_t id)
{
	uint32_t ids = l->ids;

	if (id < ids)
		return 0;
	if (hodo_vec_reserve(l->by_id, ids, id + 1) < 0)
		return -ENOMEM;
	memset(l->by_id + l->ids, 0, (ids - l->ids) * sizeof(*l->by_id));
	l->ids = ids;
	return 0;
}

/* An instant has nothing to pair or measure; a late call has no start event. */
static bool is_kept(const struct hodo_class *c)
{
	return c->pub.role == HODO_READ_ROLE_COUNTER || c->pairing != HODO_PAIRING_NONE;
}

static int settle(struct hodo_live *l, struct hodo_class *c)
{
	int err = hodo_read_role_settle(&l->bases, &l->process, c);

	/* The catalogue's texts may be freed before us. */
	c->pub.name = c->pub.base;
	for (uint32_t i = 0; i < c->pub.nfields; i++)
		c->fields[i].name = "";
	return err;
}

int hodo_live_add(struct hodo_live *l, const struct hodo_live_class *class)
{
	struct hodo_class *c;
	int err;

	if (class->id >= HODO_EVENTS_MAX || class->nfields > HODO_FIELDS_MAX)
		return -EINVAL;
	if (hodo_live_class(l, class->id))
		return -EEXIST;
	if (l->classes == HODO_LIVE_CLASSES_MAX)
		return -ENOSPC;
	if (make_room(l, class->id) < 0)
		return -ENOMEM;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->pub = (struct hodo_read_class){ .size = sizeof(c->pub), .id = class->id, .kind = class->kind,
					   .name = class->name, .nfields = class->nfields, .fields = c->fields };
	for (uint32_t i = 0; i < class->nfields; i++) {
		c->types[i] = class->types[i];
		c->fields[i] = (struct hodo_read_field){ .name = class->fields[i], .type = class->types[i] };
	}
	err = settle(l, c);
	if (err || !is_kept(c)) {
		free(c);
		return err;
	}
	l->by_id[class->id] = c;
	l->classes++;
	return 0;
}

const struct hodo_read_class *hodo_live_class(const struct hodo_live *l, uint32_t id)
{
	return id < l->ids && l->by_id[id] ? &l->by_id[id]->pub : NULL;
}

void hodo_live_values(const struct hodo_read_class *c, const uint8_t *payload, struct hodo_read_value *values)
{
	hodo_read_class_values((const struct hodo_class *)(const void *)c, payload, values);
}

/* -------------------------------------------------------------------------- calls */

int hodo_live_short(struct hodo_live *l, uint64_t start, uint64_t end)
{
	struct hodo_short o = { .start = start, .end = end, .until = UINT64_MAX };

	return start < end ? hodo_vec_push(l->shorts.object, l->shorts.n, o) : 0;
}

void hodo_live_forget_shorts(struct hodo_live *l)
{
	free(l->shorts.object);
	memset(&l->shorts, 0, sizeof(l->shorts));
}

uint64_t hodo_live_address(struct hodo_live *l, uint64_t bits)
{
	return hodo_read_shorts_address(&l->shorts, bits, 0);
}

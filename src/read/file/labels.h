/* SPDX-License-Identifier: MIT */
/* labels.h - names for values, by provider or event, and field. */
#pragma once

#include <base/arena.h>
#include <base/map.h>
#include <hodo/read.h>

/* All zero: none. */
struct hodo_labels {
	struct hodo_map by_field;
	struct hodo_arena memory;
};

/* All are added first, a list of names and as many values, which need not be aligned; then looked up
 * for each class. Provider and field are copied; names are split in place and must stay. 0; -EINVAL: not as
 * many; -ENOMEM. */
int hodo_read_labels_add(struct hodo_labels *l, const char *provider, const char *field, char *names,
			 const void *values, uint32_t n);
int hodo_read_labels_attach(const struct hodo_labels *l, const char *event, struct hodo_read_field *fields,
			    uint32_t nfields);
void hodo_read_labels_free(struct hodo_labels *l);

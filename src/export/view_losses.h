/* SPDX-License-Identifier: MIT */
/* view_losses.h - where events were lost, for the page. */
#ifndef HODO_EXPORT_VIEW_LOSSES_H
#define HODO_EXPORT_VIEW_LOSSES_H

#include "view_rows.h"

#include <hodo/read.h>

struct hodo_view_loss {
	const struct hodo_read_process *process;
	const struct hodo_read_stream *stream;
	int64_t from_ns, until_ns; /* since the epoch */
	uint64_t count;
	uint32_t kind;
	uint32_t cause; /* name */
};

struct hodo_view_losses {
	struct hodo_view_loss *all; /* in order of from_ns, at last */
	uint32_t n, room;
	int64_t since_ns, until_ns; /* others are left out */
};

/* Finds all; many of one stream and cause become fewer that last longer. Rewinds the reader. 0, or a negative errno. */
int hodo_view_losses(struct hodo_view_losses *losses, struct hodo_read *reader, struct hodo_view_names *names);
void hodo_view_losses_free(struct hodo_view_losses *losses);

#endif

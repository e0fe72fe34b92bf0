/* SPDX-License-Identifier: MIT */
/* follow_impl.h - what following a recording (follow.h) needs of the rest of the library, and that of it. */
#ifndef HODO_READ_FILE_FOLLOW_IMPL_H
#define HODO_READ_FILE_FOLLOW_IMPL_H

#include "follow.h"
#include <read/read_impl.h>

/* open.c: the reader of a folder, without a look into it. */
int hodo_read_open_empty(struct hodo_read **reader, const char *path, const struct hodo_read_options *options);
/* order.c: after streams were added to the heap. */
void hodo_read_heap_settle(struct hodo_read *r);
/* stream.c: at the present end of what is still being written, frees what the rest of the walk does not need. */
void hodo_read_stream_rest(struct hodo_stream *s);
/* folder.c: takes the lines of a later metadata that are not in the earlier one. The text changes, has a byte after
 * its end, and stays. 0 or a negative errno. */
int hodo_read_trace_more(struct hodo_trace *t, char *text, size_t len);

#endif

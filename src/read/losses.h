/* SPDX-License-Identifier: MIT */
/*
 * losses.h - when events were lost, and so what is not certain: a thread that is seen to leave a CPU before and to come
 * to one after it may have been on others meanwhile; a begin before and an end after it may be those of two spans.
 */
#ifndef HODO_READ_LOSSES_H
#define HODO_READ_LOSSES_H

#include <hodo/read.h>

struct hodo_losses;

/* Of a whole recording; reads all events and rewinds. 0; -EIO, -ENOMEM. */
int hodo_losses_read(struct hodo_losses **losses, struct hodo_read *reader);
void hodo_losses_free(struct hodo_losses *losses); /* NULL is allowed */

#define HODO_LOSSES_ANY_CPU INT32_MAX

/* Whether events of the process may be missing between two times, both included: on that CPU or in the fallback
 * stream, or anywhere. Where there are too many losses for a table, so it is from the first that is left out on. */
bool hodo_losses_between(const struct hodo_losses *losses, const struct hodo_read_process *process, int32_t cpu,
			 int64_t from_ns, int64_t until_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* late.c - searches a recording of flip.c for events of sites that were off: late DIR ROUNDS. */
#include <hodo/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const struct hodo_read_event *e;
	struct hodo_read *reader;
	struct hodo_read_lost lost;
	uint64_t offs = 0, ons = 0, events = 0, late = 0, last = 0;
	int off = 0;

	if (argc != 3 || hodo_read_open(&reader, argv[1], NULL) < 0)
		return 2;
	while (hodo_read_next(reader, &e) > 0) {
		if (strcmp(e->cls->name, "quiet:off") == 0) {
			off = 1, offs++;
		} else if (strcmp(e->cls->name, "quiet:on") == 0) {
			off = 0, ons++;
		} else if (strcmp(e->cls->name, "flip:last") == 0) {
			last = last * 10 + (uint64_t)e->values[0].i;
		} else {
			events++;
			late += (unsigned)off;
		}
	}
	lost = hodo_read_lost(reader, NULL);
	printf("%" PRIu64 " rounds, %" PRIu64 " events, %" PRIu64 " late, %" PRIu64 " lost, last %" PRIu64 "\n", offs,
	       events, late, lost.full + lost.busy + lost.overwritten, last);
	hodo_read_close(reader);
	/* Missing marks show losses; some of the other events may be lost on the fallback path. */
	return offs == strtoull(argv[2], NULL, 10) && ons == offs && events && !late && last == 1 ? 0 : 1;
}

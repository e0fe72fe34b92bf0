/* SPDX-License-Identifier: MIT */
/* wall.c - see wall.h. */
#include "wall.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include <base/file.h>

#include <record/clock.h>

#define NS_PER_US 1000
#define PPM_UNITS 65536 /* of timex.freq in a millionth */

/*
 * How far CLOCK_MONOTONIC is ahead of the host's here, time_namespaces(7): all recordings of one boot say when they
 * were made by one clock. The file has the offsets of children's namespace, which is usually this process's, too.
 */
static int64_t namespace_ahead_ns(void)
{
	char own[64] = "", of_children[64] = "", line[128];
	long long seconds, ns;

	if (readlink("/proc/self/ns/time", own, sizeof(own) - 1) < 0 ||
	    readlink("/proc/self/ns/time_for_children", of_children, sizeof(of_children) - 1) < 0 ||
	    strcmp(own, of_children) != 0 ||
	    hodo_file_line(AT_FDCWD, "/proc/self/timens_offsets", line, sizeof(line)) <= 0 ||
	    sscanf(line, "monotonic %lld %lld", &seconds, &ns) != 2)
		return 0;
	return (int64_t)seconds * 1000000000 + ns;
}

void hodo_wall_sample(const struct hodo_clock_sample *sample, struct hodo_wall *wall)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);

	*wall = (struct hodo_wall){ .known = state >= 0, .mono_ns = sample->mono_ns - namespace_ahead_ns(),
				    .real_ns = sample->real_ns };
	if (!wall->known)
		return;
	wall->synchronised = state != TIME_ERROR && !(t.status & STA_UNSYNC);
	wall->error_ns = (int64_t)t.esterror * NS_PER_US;
	wall->max_error_ns = (int64_t)t.maxerror * NS_PER_US;
	wall->drift_ppb = (int64_t)t.freq * 1000 / PPM_UNITS;
	wall->tai_s = t.tai;
}

void hodo_wall_text(const struct hodo_wall *w, const char *at, struct hodo_text *t)
{
	if (!w->known)
		return;
	hodo_text_printf(t, "/*@wall at=%s mono=%" PRId64 " real=%" PRId64 " synchronised=%d error=%" PRId64
			 " max_error=%" PRId64 " drift=%" PRId64 " tai=%" PRId64 "*/\n",
			 at, w->mono_ns, w->real_ns, w->synchronised, w->error_ns, w->max_error_ns, w->drift_ppb,
			 w->tai_s);
}

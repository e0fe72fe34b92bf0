/* SPDX-License-Identifier: MIT */
/* record_snapshots.c - when hodo record writes a flight recorder's buffers, and what it tells of that. */
#define _GNU_SOURCE
#include "record_snapshots.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"

#define VERB "record"

int hodo_snapshot_options_set(struct hodo_snapshots *o, enum hodo_snapshot_option option)
{
	if (option == HODO_SNAPSHOT_ON_CRASH)
		o->on_crash = true;
	else
		o->on_exit = true;
	return 0;
}

int hodo_snapshot_options_check(struct hodo_snapshots *o, bool overwrite, bool triggers)
{
	if (!overwrite && (o->on_crash || o->on_exit))
		return hodo_usage(VERB, "%s says when a flight recorder's buffers are written: add --overwrite",
				  o->on_crash ? "--on-crash" : "--on-exit");
	if (!overwrite && triggers)
		return hodo_usage(VERB, "a trigger for snapshots needs a flight recorder: add --overwrite");
	o->only = o->on_crash || o->on_exit || triggers;
	return 0;
}

bool hodo_snapshots_wrote_all(const struct hodo_session_stats *s)
{
	return s->processes == 0 || s->unwritten < s->processes;
}

void hodo_snapshots_tell(const struct hodo_snapshots *o, const struct hodo_session_stats *s, const char *recording,
			 bool quiet)
{
	char events[32], bytes[32];

	if (s->snapshots && !quiet)
		hodo_error("%u snapshot%s, %s event%s, %s in %s/snapshot-%s%04u", s->snapshots,
			   s->snapshots == 1 ? "" : "s", hodo_grouped(s->snapshot_events, events),
			   s->snapshot_events == 1 ? "" : "s", hodo_human_bytes(s->snapshot_bytes, bytes), recording,
			   s->snapshots == 1 ? "" : "0001 to -", s->snapshots);
	if (s->snapshots || hodo_snapshots_wrote_all(s))
		return;
	/* An empty directory would look like a recording in which nothing happened. */
	if (rmdir(recording) < 0)
		return;
	if (!quiet)
		hodo_error("nothing was written: %s: there is no %s for 'hodo print' to read",
			   o->on_crash ? "no process died of a signal, nor was a snapshot asked for" :
					 "no snapshot was asked for", recording);
}

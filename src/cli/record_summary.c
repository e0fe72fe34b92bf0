/* SPDX-License-Identifier: MIT */
/* record_summary.c - what hodo record says at its end: what was written, and what was lost. */
#include "record_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

/* For messages. */
static const char *program(const struct hodo_record_options *o)
{
	return o->command[0] ? o->command[0] : o->kernel ? "the kernel" : "what is recorded";
}

bool hodo_record_wrote_all(const struct hodo_session_stats *s)
{
	return s->processes == 0 || s->unwritten < s->processes;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_parts(const struct hodo_session_stats *s)
{
	uint32_t removed = s->parts - s->parts_kept;

	if (removed)
		hodo_error("%" PRIu32 " part%s, %" PRIu32 " removed with %" PRIu64 " event%s, as --keep asks", s->parts,
			   plural(s->parts), removed, s->removed_events, plural(s->removed_events));
	else if (s->parts)
		hodo_error("%" PRIu32 " part%s", s->parts, plural(s->parts));
}

static void put_triggers(const struct hodo_conditions *conditions, const struct hodo_session_stats *stats, bool quiet)
{
	for (uint32_t i = 0; i < conditions->n && !quiet; i++) {
		const struct hodo_condition_asked *a = &conditions->asked[i];

		if (a->kind == HODO_CONDITION_RATE)
			continue;
		if (stats->met[i] == 0)
			hodo_error("trigger '%s' was never met", a->text);
		else
			hodo_error("trigger '%s' was met %" PRIu64 " time%s", a->text, stats->met[i],
				   plural(stats->met[i]));
	}
	if (stats->limited)
		hodo_error("%" PRIu64 " event%s not recorded: over the rate, as --rate asks for", stats->limited,
			   plural(stats->limited));
}

/* What was written besides, or that nothing was: the directory is removed then. */
static void put_snapshots(const struct hodo_snapshots *o, const struct hodo_session_stats *s, const char *recording,
			  bool quiet)
{
	char events[32], bytes[32];

	if (s->snapshots && !quiet)
		hodo_error("%u snapshot%s, %s event%s, %s in %s/snapshot-%s%04u", s->snapshots, plural(s->snapshots),
			   hodo_grouped(s->snapshot_events, events), plural(s->snapshot_events),
			   hodo_human_bytes(s->snapshot_bytes, bytes), recording, s->snapshots == 1 ? "" : "0001 to -",
			   s->snapshots);
	if (s->snapshots || hodo_record_wrote_all(s))
		return;
	/* An empty directory would look like a recording in which nothing happened. */
	if (rmdir(recording) < 0)
		return;
	if (!quiet)
		hodo_error("nothing was written: %s: there is no %s for 'hodo print' to read",
			   o->on_crash ? "no process died of a signal, nor was a snapshot asked for" :
					 "no snapshot was asked for", recording);
}

static void put_losses(const struct hodo_record_options *o, const struct hodo_session_stats *s, bool overview)
{
	const struct hodo_lost *l = &s->lost;
	char larger[128], size[32];
	const struct {
		uint64_t n;
		const char *how, *hint;
	} causes[] = {
		{ l->full, "the buffer was full", larger },
		{ l->too_large, "larger than a packet", larger },
		{ s->kernel ? l->busy : 0, "they came while others were being written, on several CPUs",
		  "record fewer events with -e" },
		{ s->kernel ? 0 : l->busy, "threads without restartable sequences were in each other's way",
		  "'hodo doctor' says how to have them" },
		{ l->overwritten, "overwritten by newer ones, as --overwrite asks for", larger },
		{ s->full ? l->unwritten : 0, "in the buffers when --max-size was reached", "a larger one keeps them" },
		{ s->full ? 0 : l->unwritten, "the output could not be written",
		  "make room, or choose another disk with -o" },
		{ l->damaged, "the program damaged its buffers", "look for stray writes in it" },
	};

	if (overview)
		snprintf(larger, sizeof(larger), "'hodo record -m 16M %.60s' keeps more of them", o->command[0]);
	else
		snprintf(larger, sizeof(larger), "a larger -m (it was %s) keeps them",
			 hodo_human_bytes(o->ring_size, size));
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].n)
			hodo_error("%" PRIu64 " event%s lost: %s: %s", causes[i].n, plural(causes[i].n), causes[i].how,
				   causes[i].hint);
}

void hodo_record_summary(const struct hodo_record_options *o, const struct hodo_session_stats *s, bool stopped,
			 bool overview)
{
	char bytes[32], who[48];

	if (!o->args.quiet && hodo_record_wrote_all(s))
		hodo_error("%" PRIu64 " event%s of %s, %s in %s", s->events, plural(s->events),
			   hodo_whom(s->kernel, s->processes, who), hodo_human_bytes(s->bytes, bytes), o->out);
	/* Beside the kernel it may be any program. */
	if (o->command[0] && !s->command && !s->kernel && !stopped && !o->args.quiet)
		hodo_error("%s itself was not recorded: it never loaded libhodo: is it static, set-user-id or"
			   " of another architecture?", o->command[0]);
	put_snapshots(&o->snapshots, s, o->out, o->args.quiet);
	if (!o->args.quiet)
		put_parts(s);
	put_triggers(&o->conditions, s, o->args.quiet);
	put_losses(o, s, overview);
	if (o->functions.functions.tracers && s->processes > 0)
		hodo_function_options_report(o, &s->functions, program(o));
}

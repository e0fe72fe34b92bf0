/* SPDX-License-Identifier: MIT */
/* recording.c - opening a recording, and what it lost. */
#include "recording.h"
#include "say.h"
#include "selection.h"
#include <cli/output/out.h>

#include <sym/recording_symbols.h>
#include <sym/symbols_dir.h>
#include <errno.h>
#include <string.h>
#include <sym/debuginfod.h>
#include <time.h>
#include <unistd.h>

#define UNENDED "the recording was interrupted, or has not ended: the last events, and the number of lost " \
		"ones, are missing"
#define UNENDED_SHOWN 20u

static void warn(void *data, const char *text)
{
	hodo_warning("%s", text);
}

struct hodo_read_options hodo_read_options(struct hodo_why *why, bool quiet)
{
	return (struct hodo_read_options){ .size = sizeof(struct hodo_read_options), .error = why->text,
					   .error_bytes = sizeof(why->text), .warn = quiet ? NULL : warn };
}

static struct hodo_read *open_with(const char *path, const struct hodo_read_options *o)
{
	struct hodo_read *r = NULL;

	if (hodo_read_open(&r, path, o) == 0)
		return r;
	hodo_error("%s", o->error);
	return NULL;
}

struct hodo_read *hodo_open(const char *path, bool quiet)
{
	struct hodo_why why = { "" };
	struct hodo_read_options o = hodo_read_options(&why, quiet);

	return open_with(path, &o);
}

int hodo_open_selected(struct hodo_read **r, struct hodo_args *a)
{
	struct hodo_why why = { "" };
	struct hodo_read_options o = hodo_read_options(&why, a->quiet);

	if (a->warn) {
		o.warn = a->warn;
		o.data = a->warn_data;
	}
	*r = open_with(a->dir, &o);
	return *r ? hodo_selection_apply(a, *r) : HODO_EXIT_FAILURE;
}

uint64_t hodo_lost_discarded(const struct hodo_read_lost *l)
{
	return l->full + l->too_large + l->busy + l->unwritten + l->unknown + l->damaged;
}

uint64_t hodo_lost_all(const struct hodo_read_lost *l)
{
	return hodo_lost_discarded(l) + l->overwritten;
}

#define ROOM_WAITS (256ull << 20) /* of a ring: beyond that, suggest waiting instead */
#define ROOM_MAX   (1ull << 30)   /* a larger ring is not the solution */

const char *hodo_room_hint(uint64_t room, bool may_wait, char hint[HODO_HINT])
{
	char size[32];

	hodo_size_text(room, size);
	if (room > ROOM_WAITS && may_wait)
		snprintf(hint, HODO_HINT, "--wait keeps them, at the recorder's pace");
	else if (room == 0 || room > ROOM_MAX)
		snprintf(hint, HODO_HINT, "a larger -m keeps more");
	else
		snprintf(hint, HODO_HINT, "-m %s keeps them", size);
	return hint;
}

/* How to keep the events of a process whose rings were too small. */
static const char *room_hint(const struct hodo_read_process *p, char hint[HODO_HINT])
{
	uint64_t room = 0;

	/* The buffer was perf's, which has a fixed size. */
	if (p->kernel && p->nclasses && strcmp(p->classes[0]->name, "sched:watched") == 0) {
		snprintf(hint, HODO_HINT, "the recorder came too late: --realtime helps");
		return hint;
	}
	for (uint32_t i = 0; i < p->nstreams; i++)
		if (p->streams[i]->room > room)
			room = p->streams[i]->room;
	return hodo_room_hint(room, p->mode == HODO_MODE_DISCARD && !p->kernel, hint);
}

static void put_cause(struct hodo_text *to, const struct hodo_read_process *p, uint64_t n, const char *cause,
		      const char *why, const char *hint)
{
	char buf[32];

	if (!n)
		return;
	hodo_text_printf(to, "  %15s  %-11s  ", hodo_grouped(n, buf), cause);
	hodo_add_plain(to, p->comm);
	hodo_text_printf(to, "[%u]: %s", p->pid, why);
	if (*hint)
		hodo_text_printf(to, " (%s)", hint);
	hodo_text_char(to, '\n');
}

void hodo_put_lost(struct hodo_text *to, const struct hodo_read *reader, bool color)
{
	struct hodo_read_lost all = hodo_read_lost(reader, NULL);
	char buf[32];

	hodo_text_printf(to, "%s%s event%s lost:%s\n", hodo_style(color, HODO_ALERT),
			 hodo_grouped(hodo_lost_all(&all), buf), hodo_lost_all(&all) == 1 ? " was" : "s were",
			 hodo_style(color, HODO_PLAIN));
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);
		struct hodo_read_lost l = hodo_read_lost(reader, p);
		char hint[HODO_HINT];

		put_cause(to, p, l.full, "full", "the ring was full", room_hint(p, hint));
		put_cause(to, p, l.too_large, "too large", "longer than a packet, or with a string over "
			  "65,535 bytes",
			  p->packet_bytes < HODO_PACKET_MAX ? "--packet-size takes up to 4M" : "");
		if (p->kernel)
			put_cause(to, p, l.busy, "busy", "other events were being written, on several CPUs",
				  "");
		else
			put_cause(to, p, l.busy, "busy", "too many threads without restartable sequences at once",
				  "'hodo doctor' says why they have none");
		put_cause(to, p, l.overwritten, "overwritten", "newer events overwrote them",
			  room_hint(p, hint));
		put_cause(to, p, l.unwritten, "unwritten", "the output could not be written, or had reached its --max-size",
			  "use -o DIR on a disk with room, or a larger size");
		put_cause(to, p, l.unknown, "unknown", "the recording ended before the cause was written",
			  "most often the ring was full: -m");
		put_cause(to, p, l.damaged, "damaged", "its buffers or its files are damaged, or cut short", "");
	}
}

void hodo_put_unrecorded(struct hodo_text *to, const struct hodo_read *reader, bool color)
{
	const struct hodo_read_unrecorded *u;
	char buf[32];

	for (uint32_t i = 0; (u = hodo_read_unrecorded(reader, i)); i++) {
		hodo_text_printf(to, "%s%s process image%s not recorded:%s ", hodo_style(color, HODO_ALERT),
				 hodo_grouped(u->images, buf), u->images == 1 ? " was" : "s were",
				 hodo_style(color, HODO_PLAIN));
		hodo_add_plain(to, u->why);
		hodo_text_char(to, '\n');
	}
}

void hodo_put_json_unrecorded(struct hodo_json *j, const struct hodo_read *reader)
{
	const struct hodo_read_unrecorded *u = hodo_read_unrecorded(reader, 0);

	if (!u)
		return;
	hodo_json_array(j, "unrecorded");
	for (uint32_t i = 0; (u = hodo_read_unrecorded(reader, i)); i++) {
		hodo_json_object(j, NULL);
		hodo_json_u64(j, "images", u->images);
		hodo_json_string(j, "why", u->why);
		hodo_json_end(j);
	}
	hodo_json_end(j);
}

void hodo_put_when(struct hodo_text *to, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	char text[64] = "?", zone[16] = "";
	struct tm tm;

	if (ns >= 0 && localtime_r(&s, &tm)) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
		strftime(zone, sizeof(zone), " %z", &tm);
	}
	hodo_text_printf(to, "%s.%09lld%s\n", text, ns >= 0 ? (long long)(ns % 1000000000) : 0ll, zone);
}

static uint32_t count_unended(const struct hodo_read *reader)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++)
		n += !hodo_read_process(reader, i)->complete;
	return n;
}

/* Until when a process is known, by its packets. */
static void put_unended(struct hodo_text *to, const struct hodo_read_process *p)
{
	int64_t end_ns = INT64_MIN;

	for (uint32_t i = 0; i < p->nstreams; i++)
		if (p->streams[i]->packets && p->streams[i]->end_ns > end_ns)
			end_ns = p->streams[i]->end_ns;
	hodo_text_printf(to, "  %15s  %-11s  ", "?", "unknown");
	hodo_add_plain(to, p->comm);
	hodo_text_printf(to, "[%u]: ", p->pid);
	if (end_ns == INT64_MIN) {
		hodo_text_add(to, "none of its events is on disk\n");
	} else if (p->mode == HODO_MODE_OVERWRITE) {
		hodo_text_add(to, "some of its buffers are missing on disk\n");
	} else {
		hodo_text_add(to, "its events from about a second before ");
		hodo_put_when(to, end_ns);
	}
}

bool hodo_put_unended(struct hodo_text *to, const struct hodo_read *reader, bool color)
{
	uint32_t n = count_unended(reader), shown = 0;

	if (n)
		hodo_text_printf(to, "%s" UNENDED ":%s\n", hodo_style(color, HODO_ALERT),
				 hodo_style(color, HODO_PLAIN));
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader) && shown < UNENDED_SHOWN; i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);

		if (p->complete)
			continue;
		put_unended(to, p);
		shown++;
	}
	if (n > shown)
		hodo_text_printf(to, "  %15s  %-11s  %u more processes\n", "?", "unknown", n - shown);
	return n;
}

static uint64_t count_unrecorded(const struct hodo_read *reader)
{
	const struct hodo_read_unrecorded *u;
	uint64_t images = 0;

	for (uint32_t i = 0; (u = hodo_read_unrecorded(reader, i)); i++)
		images += u->images;
	return images;
}

bool hodo_has_lost(const struct hodo_read *reader)
{
	struct hodo_read_lost l = hodo_read_lost(reader, NULL);

	return count_unended(reader) || count_unrecorded(reader) || hodo_lost_all(&l);
}

void hodo_tell_lost_of(const char *path, const struct hodo_read *reader)
{
	struct hodo_read_lost l = hodo_read_lost(reader, NULL);
	uint64_t images = count_unrecorded(reader);
	const char *colon = path ? ": " : "";
	char all[32], over[32];

	path = path ? path : "";
	if (count_unended(reader))
		hodo_warning("%s%s" UNENDED ": 'hodo stat' says of what", path, colon);
	if (images)
		hodo_warning("%s%s%s process image%s not recorded: 'hodo stat' says why", path, colon,
			     hodo_grouped(images, all), images == 1 ? " was" : "s were");
	if (hodo_lost_all(&l) == 1)
		hodo_warning("%s%s1 event was %s: 'hodo stat' says why and how to keep it", path, colon,
			     l.overwritten ? "overwritten" : "lost");
	else if (hodo_lost_all(&l))
		hodo_warning("%s%s%s events were lost, %s of them overwritten: 'hodo stat' says why and how to keep them",
			     path, colon, hodo_grouped(hodo_lost_all(&l), all), hodo_grouped(l.overwritten, over));
}

void hodo_tell_lost(const struct hodo_read *reader)
{
	hodo_tell_lost_of(NULL, reader);
}

static void tell_unnamed(const struct hodo_unnamed *u)
{
	const char *plural = u->n == 1 ? " is" : "s are";
	char n[32];

	if (strcmp(u->path, HODO_KERNEL_OBJECT) == 0)
		hodo_warning("the kernel: %s function%s shown by address, because /proc/kallsyms did not "
			     "name them: set "
			     "kernel.kptr_restrict to 0 or 1 and record again as root", hodo_grouped(u->n, n), plural);
	else
		hodo_warning("%s: %s function%s shown by address, because the file %s: %sinstall its debug "
			     "symbols (Debian: the -dbgsym package) and record again, or record a build "
			     "that is not stripped", u->path,
			     hodo_grouped(u->n, n), plural,
			     u->has_symbols ? "names only what it exports" : access(u->path, R_OK) == 0 ?
			     "has no symbols, or is another build" : "is not here",
			     u->has_build_id ? "get its symbols with 'hodo symbols pull', or " : "");
}

bool hodo_shortens_names(const struct hodo_args *a)
{
	return !a->full_names && !a->look.json;
}

static void warn_debuginfod(const char *text)
{
	hodo_warning("%s", text);
}

void hodo_ask_debuginfod(const struct hodo_args *a, struct hodo_symbols *symbols)
{
	const char *always = getenv("HODO_DEBUGINFOD");
	struct hodo_debuginfod *client;
	int err;

	if (!a->debuginfod && (!always || strcmp(always, "1") != 0))
		return;
	err = hodo_debuginfod_new(&client, a->quiet ? NULL : warn_debuginfod);
	if (err == -ENODATA)
		exit(hodo_error("debuginfod: DEBUGINFOD_URLS names no server: set it to the address of one"));
	if (err == -ENOENT)
		exit(hodo_error("debuginfod: " HODO_DEBUGINFOD_LIBRARY " cannot be loaded: install it (Debian: the "
				"libdebuginfod1 package)"));
	if (err)
		exit(hodo_no_memory());
	hodo_symbols_fetch(symbols, client);
}

struct hodo_symbols *hodo_open_symbols(const struct hodo_args *a, const char *recording)
{
	struct hodo_symbols *symbols = hodo_must(hodo_symbols_new(recording));

	if (hodo_shortens_names(a))
		hodo_symbols_shorten(symbols);
	hodo_ask_debuginfod(a, symbols);
	return symbols;
}

void hodo_tell_unkept(const char *recording, const char *object, int err)
{
	static const char what[] = "names of functions could not all be kept in";

	if (err == -ENODATA && *object)
		hodo_error("%s %s: %s has no symbols: keep its debug files to have them", what, recording, object);
	else
		hodo_error("%s %s: %s%s%s: keep the program's files to have them", what, recording, object,
			   *object ? ": " : "", strerror(-err));
}

void hodo_tell_unnamed(const struct hodo_symbols *symbols)
{
	struct hodo_unnamed u;

	for (uint32_t i = 0; hodo_symbols_unnamed(symbols, i, &u); i++)
		if (u.n)
			tell_unnamed(&u);
}

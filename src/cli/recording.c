/* SPDX-License-Identifier: MIT */
/* recording.c - opening a recording, and telling what it lost. */
#include "cli.h"

#include <fnmatch.h>
#include <string.h>

#define EPOCH_MIN_NS 1000000000000000000ll /* 2001; no recording lasts for 31 years */

static void warn(void *data, const char *text)
{
	(void)data;
	hodo_warning("%s", text);
}

struct hodo_read *hodo_open(const char *path, bool quiet)
{
	char error[512] = "";
	struct hodo_read_options o = { .size = sizeof(o), .error = error, .error_bytes = sizeof(error) };
	struct hodo_read *r;

	if (!quiet)
		o.warn = warn;
	if (hodo_read_open(&r, path, &o) < 0) {
		hodo_error("%s", error);
		return NULL;
	}
	return r;
}

static int parse_time(const char *text, int64_t begin_ns, int64_t *ns)
{
	if (hodo_parse_seconds(text, ns) < 0)
		return -1;
	if (*ns < EPOCH_MIN_NS && __builtin_add_overflow(*ns, begin_ns, ns))
		return -1;
	return 0;
}

int hodo_parse_range(const struct hodo_read *reader, const char *since, const char *until, const char *verb,
		     int64_t *since_ns, int64_t *until_ns)
{
	int64_t begin = hodo_read_begin_ns(reader);

	*since_ns = INT64_MIN;
	*until_ns = INT64_MAX;
	if (since && parse_time(since, begin, since_ns) < 0)
		return hodo_usage(verb, "--since '%s' is no time in seconds", since);
	if (until && parse_time(until, begin, until_ns) < 0)
		return hodo_usage(verb, "--until '%s' is no time in seconds", until);
	return 0;
}

bool hodo_thread_is(const char *wanted, uint32_t tid, const char *comm)
{
	uint64_t number;

	if (!wanted)
		return true;
	if (hodo_parse_number(wanted, UINT32_MAX, &number) == 0)
		return number == tid;
	return fnmatch(wanted, comm, 0) == 0;
}

uint64_t hodo_lost_discarded(const struct hodo_read_lost *l)
{
	return l->full + l->too_large + l->busy + l->unwritten + l->unknown;
}

uint64_t hodo_lost_all(const struct hodo_read_lost *l)
{
	return hodo_lost_discarded(l) + l->overwritten;
}

/* A ring size worth trying: four times the one that was too small. */
static const char *more(const struct hodo_read_process *p, char buf[32])
{
	static const char units[] = "KMGT";
	uint64_t n =
		p->ring_bytes >= 1024 && p->ring_bytes < 1ull << 40 ? p->ring_bytes / 1024 * 4 : 16 * 1024;
	unsigned i = 0;

	for (; n >= 1024 && n % 1024 == 0 && i < 3; i++)
		n /= 1024;
	snprintf(buf, 32, "%llu%c", (unsigned long long)n, units[i]);
	return buf;
}

static void put_cause(FILE *f, const struct hodo_read_process *p, uint64_t n, const char *cause,
		      const char *why, const char *flag)
{
	char buf[32], size[32];

	if (!n)
		return;
	fprintf(f, "  %15s  %-11s  ", hodo_grouped(n, buf), cause);
	hodo_put_plain(f, p->comm);
	fprintf(f, "[%u]: %s", p->pid, why);
	if (strcmp(flag, "-m") == 0)
		fprintf(f, " (-m %s keeps more)", more(p, size));
	else if (*flag)
		fprintf(f, " (%s)", flag);
	fputc('\n', f);
}

void hodo_put_lost(FILE *f, const struct hodo_read *reader)
{
	for (uint32_t i = 0; i < hodo_read_nprocesses(reader); i++) {
		const struct hodo_read_process *p = hodo_read_process(reader, i);
		struct hodo_read_lost l = hodo_read_lost(reader, p);

		put_cause(f, p, l.full, "full", "the ring was full", "-m");
		put_cause(f, p, l.too_large, "too large", "an event did not fit in a packet", "-m");
		if (p->kernel)
			put_cause(f, p, l.busy, "busy", "others were being written, on several CPUs", "");
		else
			put_cause(f, p, l.busy, "busy", "too many threads without restartable sequences at once",
				  "'hodo doctor' tells why they have none");
		put_cause(f, p, l.overwritten, "overwritten", "newer events took their place", "-m");
		put_cause(f, p, l.unwritten, "unwritten", "the output could not be written",
			  "-o DIR on a disk with room");
		put_cause(f, p, l.unknown, "unknown", "the recording ended before the cause was written",
			  "most often the ring was full: -m");
	}
}

void hodo_tell_lost(const struct hodo_read *reader)
{
	struct hodo_read_lost l = hodo_read_lost(reader, NULL);
	char all[32], over[32];

	if (!hodo_lost_all(&l))
		return;
	hodo_warning(
		"%s events were lost, %s of them overwritten: 'hodo stat' tells why and how to keep them",
		hodo_grouped(hodo_lost_all(&l), all), hodo_grouped(l.overwritten, over));
}

void hodo_put_lost_json(FILE *f, const struct hodo_read_lost *l)
{
	fprintf(f,
		"{\"full\":%llu,\"too_large\":%llu,\"busy\":%llu,\"overwritten\":%llu,\"unwritten\":%llu,"
		"\"unknown\":%llu}",
		(unsigned long long)l->full, (unsigned long long)l->too_large, (unsigned long long)l->busy,
		(unsigned long long)l->overwritten, (unsigned long long)l->unwritten,
		(unsigned long long)l->unknown);
}

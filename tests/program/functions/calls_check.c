/* SPDX-License-Identifier: MIT */
/*
 * calls_check.c - calls_check TRACE SYMBOLS: what func: events say of each function, computed here independently,
 * and what hodo_read_calls makes of the same events.
 *
 * SYMBOLS has lines "PATH ADDRESS SIZE NAME" of functions in files. For each function of a process, it prints
 * "PID ENTRIES EXITS MATCHED AGAIN NAME" (matched: exits whose frame was entered by the same function and
 * not left since; again: entries at a frame that had not been left through an exit), for each process
 * "PID inherited N" (exits of frames never entered), and at the end "calls CALLS RETURNED LEFT OPEN ORPHANS",
 * "lost N", "unknown N" (addresses that no symbol has).
 */
#include <hodo/read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	char *path, *name;
	uint64_t start, end;
};

struct tally {
	uint32_t pid;
	const char *name;
	uint64_t entries, exits, matched, again;
};

struct frame {
	const struct hodo_read_process *process;
	uint32_t at;
	const char *name; /* NULL: the call is over */
	uint32_t used;
};

static struct symbol *symbols;
static size_t nsymbols;
static struct tally *tallies; /* a hash table, as frames is */
static struct frame *frames;
static size_t frame_room = 1u << 16, frame_used;
#define TALLIES (1u << 16)

static void *need(void *memory)
{
	if (!memory) {
		perror("calls_check");
		exit(2);
	}
	return memory;
}

static void read_symbols(const char *path)
{
	FILE *file = need(fopen(path, "r"));
	char where[1024], name[4096];
	struct symbol s;

	while (fscanf(file, "%1023s %" SCNx64 " %" SCNx64 " %4095[^\n]", where, &s.start, &s.end, name) == 4) {
		if (!(nsymbols & (nsymbols - 1)))
			symbols = need(realloc(symbols, (nsymbols ? nsymbols * 2 : 1) * sizeof(s)));
		s.end += s.start;
		/* One copy of each name and path suffices: names and paths are compared by address below. */
		s.path = nsymbols && !strcmp(symbols[nsymbols - 1].path, where) ? symbols[nsymbols - 1].path
										: need(strdup(where));
		s.name = need(strdup(name));
		symbols[nsymbols++] = s;
	}
	fclose(file);
}

static const char *find_symbol(const char *path, uint64_t address)
{
	const struct symbol *best = NULL;
	size_t low = 0, high = nsymbols;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(symbols[mid].path, path);

		if (order < 0 || (order == 0 && symbols[mid].start <= address)) {
			best = &symbols[mid];
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (!best || strcmp(best->path, path) != 0) /* not in SYMBOLS: inlined elsewhere from a system library */
		return high < nsymbols && !strcmp(symbols[high].path, path) ? NULL : "elsewhere";
	/* The address of an exit is after its call, which may be the function's last instruction but one. */
	return address <= best->end ? best->name : NULL;
}

static const char *name_of(const struct hodo_read_process *process, uint64_t address)
{
	for (uint32_t i = 0; i < process->nobjects; i++) {
		const struct hodo_read_object *o = &process->objects[i];

		if (address >= o->start && address < o->end)
			return find_symbol(o->path, address - o->base);
	}
	return NULL;
}

static struct tally *tally_of(uint32_t pid, const char *name)
{
	uint64_t hash = pid;

	for (const char *c = name; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	for (size_t i = hash % TALLIES;; i = (i + 1) % TALLIES) {
		if (!tallies[i].name)
			tallies[i] = (struct tally){.pid = pid, .name = name};
		if (tallies[i].pid == pid && !strcmp(tallies[i].name, name))
			return &tallies[i];
	}
}

static struct frame *frame_of(const struct hodo_read_process *process, uint32_t at)
{
	if (frame_used * 2 > frame_room) {
		struct frame *old = frames;
		size_t n = frame_room;

		frame_room *= 4, frame_used = 0;
		frames = need(calloc(frame_room, sizeof(*frames)));
		for (size_t i = 0; i < n; i++) {
			if (old[i].used)
				*frame_of(old[i].process, old[i].at) = old[i];
		}
		free(old);
	}
	for (size_t i = ((uintptr_t)process / 64 + at) * 0x9e3779b97f4a7c15ull % frame_room;;
	     i = (i + 1) % frame_room) {
		if (!frames[i].used) {
			frames[i] = (struct frame){.process = process, .at = at, .used = 1};
			frame_used++;
		}
		if (frames[i].process == process && frames[i].at == at)
			return &frames[i];
	}
}

static uint64_t unknown;

static void take(const struct hodo_read_event *e)
{
	const char *kind = e->cls->name + strlen("func:");
	int entry = !strncmp(kind, "entry", 5), exact = !strchr(kind, '_');
	const char *name;
	struct tally *tally;
	struct frame *frame;

	if (!entry && strncmp(kind, "exit", 4) != 0)
		return;
	name = name_of(e->process, e->values[0].u);
	if (!name) {
		unknown++;
		name = "?";
	}
	tally = tally_of(e->pid, name);
	*(entry ? &tally->entries : &tally->exits) += 1;
	if (!exact)
		return;
	frame = frame_of(e->process, (uint32_t)e->values[1].u);
	if (entry) {
		tally->again += frame->name != NULL;
		frame->name = name;
	} else if (frame->name) {
		tally->matched += !strcmp(frame->name, name);
		frame->name = NULL;
	} else {
		tally_of(e->pid, "inherited")->exits++;
	}
}

static void print(struct hodo_read *reader, struct hodo_read_calls *calls)
{
	struct hodo_read_calls_totals totals = {.size = sizeof(totals)};
	struct hodo_read_lost lost = hodo_read_lost(reader, NULL);

	for (size_t i = 0; i < TALLIES; i++) {
		const struct tally *t = &tallies[i];

		if (t->name)
			printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", t->pid, t->entries,
			       t->exits, t->matched, t->again, t->name);
	}
	hodo_read_calls_totals(calls, &totals);
	printf("calls %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", totals.calls, totals.returned,
	       totals.left, totals.open, totals.orphans);
	printf("lost %" PRIu64 "\nunknown %" PRIu64 "\n",
	       lost.full + lost.busy + lost.overwritten + lost.too_large + lost.unwritten + lost.unknown +
		       lost.damaged,
	       unknown);
}

int main(int argc, char **argv)
{
	struct hodo_read_calls_ops ops = {.size = sizeof(ops)};
	const struct hodo_read_event *e;
	struct hodo_read_calls *calls;
	struct hodo_read *reader;
	int64_t last = 0;
	int r;

	if (argc != 3)
		return 2;
	r = hodo_read_open(&reader, argv[1], NULL);
	if (r < 0) {
		fprintf(stderr, "calls_check: %s: %s\n", argv[1], strerror(-r));
		return 2;
	}
	read_symbols(argv[2]);
	tallies = need(calloc(TALLIES, sizeof(*tallies)));
	frames = need(calloc(frame_room, sizeof(*frames)));
	calls = need(hodo_read_calls_new(&ops, NULL));
	while ((r = hodo_read_next(reader, &e)) > 0) {
		last = e->ts_ns;
		if (hodo_read_calls_event(calls, e) < 0)
			return 2;
		if (!strncmp(e->cls->name, "func:", 5))
			take(e);
	}
	if (r < 0 || hodo_read_calls_end(calls, last) < 0)
		return 2;
	print(reader, calls);
	hodo_read_calls_free(calls);
	hodo_read_close(reader);
	return 0;
}

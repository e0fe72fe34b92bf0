/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - writes the contents of a memory in overwrite mode at one moment.
 */
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/map.h>
#include <base/scope.h>

#include <record/catalog.h>
#include "out_dir.h"
#include <record/ring/ring_copy.h>
#include <record/ring/shm.h>
#include "stream.h"

#define SEEN_MAX (1u << 17) /* threads */

struct seen_thread {
	uint32_t tid;
	bool named;
};

struct snapshot {
	const struct hodo_snapshot_source *source;
	struct hodo_snapshot_result *result;
	struct hodo_ring_copies images;
	struct hodo_catalog catalog;
	struct hodo_ctf_thread *thread; /* ours, if the source has none */
	uint32_t threads;
	struct hodo_map seen; /* of struct seen_thread: threads that have events */
	struct hodo_walk_tally *tally; /* of all ids */
	struct hodo_text lost; /* metadata lines about losses */
	int64_t real_ns;
	int dirfd;
	struct hodo_stream_file stream; /* the stream being written */
	int err;                   /* why it could not be written */
};

/* --------------------------------------------------------------------- streams */

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct snapshot *)arg)->catalog.walk;
}

static void see_thread(void *arg, uint32_t tid, uint32_t events, uint32_t bytes)
{
	struct snapshot *s = arg;

	(void)events;
	(void)bytes;
	/* 0: each CPU's idle thread, in the kernel */
	if (tid != 0 && s->seen.n < SEEN_MAX && !hodo_map_add(&s->seen, &tid, NULL))
		s->err = -ENOMEM;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct snapshot *s = arg;
	struct hodo_walk_counter counter = { s->tally, HODO_EVENTS_MAX, see_thread, s, { 0 } };
	uint32_t len = (uint32_t)(h->content_size / 8) - (uint32_t)sizeof(*h);

	if (!s->err)
		s->err = hodo_stream_file_write(&s->stream, s->dirfd, h, body);
	if (!s->err)
		hodo_walk_count(&s->catalog.walk, body, len, &counter);
}

static int write_stream(struct snapshot *s, struct hodo_ring_copy *image)
{
	const struct hodo_ring_sink sink = { sink_packet, sink_table, s };
	const struct hodo_snapshot_source *src = s->source;
	/* A memory written long ago, perhaps elsewhere, does not use our clock. */
	uint64_t ts = src->why && !src->taken_real_ns ? hodo_clock_ticks((enum hodo_clock)src->flight->clock) : 0;
	struct hodo_stream_file *stream = &s->stream;
	struct hodo_ring_reader r;

	hodo_stream_file_init(stream, src->flight->uuid, image->number, s->images.layout.rings - 1);
	stream->compressor = src->compressor;
	hodo_ring_copy_reader(&s->images, image, &r);
	hodo_ring_finish(&r, &sink, false);
	if (!s->err)
		s->err = hodo_stream_file_settle(stream, s->dirfd, r.discarded, ts > r.ts_end ? ts : r.ts_end);
	hodo_stream_file_end(stream);
	s->result->events += stream->events;
	s->result->bytes += stream->bytes;
	s->result->damaged_rings += r.broken || r.damage > 0;
	hodo_lost_add(&s->result->lost, &r.lost);
	hodo_ctf_add_lost(&s->lost, stream->name, &r.lost,
			  hodo_ring_size_hint_bytes(&r.size_hint, r.ring_size, r.packet_size));
	return s->err;
}

static int write_streams(struct snapshot *s)
{
	int err = 0;

	for (uint32_t i = 0; i < s->images.n && !err; i++)
		err = write_stream(s, &s->images.image[i]);
	return err;
}

/* -------------------------------------------------------------------- metadata */

/* Their names at their first events. */
static int read_threads(struct snapshot *s)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)s->source->shm;
	const struct hodo_thread *table = (const struct hodo_thread *)(s->source->shm + HODO_SHM_THREADS);
	/* The kernel's may be anywhere in the table. */
	uint32_t n = s->source->kernel ? HODO_THREADS_MAX : hodo_shm_load32(&shm->threads);
	struct hodo_thread name;

	if (n > HODO_THREADS_MAX)
		n = HODO_THREADS_MAX;
	s->thread = calloc(n + 1, sizeof(*s->thread));
	if (!s->thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_ctf_thread *t = &s->thread[s->threads];

		if (!hodo_shm_thread(&table[i], &name))
			continue;
		t->tid = name.tid;
		memcpy(t->comm, name.comm, sizeof(t->comm));
		t->pid = s->source->kernel ? name.reserved : 0;
		s->threads++;
	}
	return 0;
}

/* How many threads have events but no name. */
static uint32_t count_nameless(struct snapshot *s, const struct hodo_ctf_thread *thread, uint32_t threads)
{
	uint32_t nameless = s->seen.n;

	for (uint32_t i = 0; i < threads; i++) {
		struct seen_thread *seen = hodo_map_find(&s->seen, &thread[i].tid);

		if (seen && !seen->named) {
			seen->named = true;
			nameless--;
		}
	}
	return nameless;
}

static int write_metadata(struct snapshot *s, bool ended)
{
	const struct hodo_snapshot_source *src = s->source;
	struct hodo_functions_seen functions = { 0 };
	struct hodo_ctf_metadata m = {
		.flight = src->flight, .pid = src->pid, .kernel = src->kernel, .clock = src->clock,
		.catalog = &s->catalog,
		.thread = src->thread ? src->thread : s->thread, .threads = src->thread ? src->threads : s->threads,
		.lost = &s->lost, .functions = src->functions ? &functions : NULL, .ended = ended,
		.real_ns = s->real_ns, .why = src->why, .number = src->number,
	};
	struct hodo_text text = { 0 };
	int err;

	if (ended)
		m.nameless = count_nameless(s, m.thread, m.threads);
	hodo_functions_see((const struct hodo_shm *)src->shm, &functions);
	hodo_ctf_metadata_text(&m, &text);
	err = hodo_ctf_metadata_write(s->dirfd, &text, geteuid());
	hodo_text_free(&text);
	return err;
}

/* ---------------------------------------------------------------------- folder */

static int make_dir(struct snapshot *s, int out_fd)
{
	const struct hodo_snapshot_source *src = s->source;
	char name[sizeof(s->result->dir)];

	hodo_out_dir_folder(name, sizeof(name), src->flight->comm, src->pid, src->kernel != NULL);
	s->dirfd = hodo_out_dir_add(out_fd, name, s->result->dir, sizeof(s->result->dir));
	return s->dirfd < 0 ? s->dirfd : 0;
}

/* The time is that of the copies. The catalogue, read afterwards, has all events in them. */
static int take(struct snapshot *s)
{
	const struct hodo_snapshot_source *src = s->source;
	const struct hodo_shm *shm = (const struct hodo_shm *)src->shm;
	int err;

	s->real_ns = src->taken_real_ns ? src->taken_real_ns : hodo_clock_ns(CLOCK_REALTIME);
	err = hodo_ring_copies_take(&s->images, src->shm, &src->layout, src->fd, (enum hodo_clock)src->flight->clock,
				    hodo_shm_load32(&shm->flags) & HODO_SHM_SNAPSHOT);
	if (!err)
		err = hodo_catalog_read(&s->catalog, src->shm + HODO_SHM_CATALOG, hodo_shm_load64(&shm->catalog_used));
	/* A damaged catalogue has events up to the damage. */
	if (err >= 0 || err == -EBADMSG)
		err = src->thread ? 0 : read_threads(s);
	return err;
}

static int write_all(struct snapshot *s, int out_fd)
{
	int err = make_dir(s, out_fd);

	if (!err)
		err = write_metadata(s, false);
	if (!err)
		err = write_streams(s);
	if (!err)
		err = write_metadata(s, true);
	if (err && s->dirfd >= 0)
		hodo_out_dir_drop(out_fd, s->result->dir);
	hodo_close(s->dirfd);
	return err;
}

int hodo_snapshot_write(const struct hodo_snapshot_source *source, int out_fd, struct hodo_snapshot_result *result,
			struct hodo_why *why)
{
	struct snapshot s = { .source = source, .result = result, .dirfd = -1,
			      .seen = HODO_MAP(struct seen_thread, tid),
			      .tally = calloc(HODO_EVENTS_MAX, sizeof(*s.tally)) };
	int err;

	memset(result, 0, sizeof(*result));
	err = s.tally ? take(&s) : -ENOMEM;
	if (err == -ENOMEM) {
		hodo_why(why, err, "no snapshot can be made: %s: it needs as much memory as the buffers have: free "
			 "some", strerror(ENOMEM));
	} else if (err) {
		hodo_why_errno(why, err, "no snapshot can be made");
	} else {
		err = write_all(&s, out_fd);
		if (err)
			hodo_why_errno(why, err, "the snapshot cannot be written");
	}
	hodo_ring_copies_free(&s.images);
	hodo_catalog_free(&s.catalog);
	free(s.thread);
	free(s.tally);
	hodo_map_free(&s.seen);
	hodo_text_free(&s.lost);
	return err;
}

/* ------------------------------------------------------------ what a memory says */

static bool power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

int hodo_snapshot_layout(struct hodo_flight *f, uint32_t rings, uint64_t bytes, struct hodo_layout *layout)
{
	struct hodo_layout plain;

	f->comm[sizeof(f->comm) - 1] = f->exe[sizeof(f->exe) - 1] = 0;
	f->hostname[sizeof(f->hostname) - 1] = f->boot_id[sizeof(f->boot_id) - 1] = 0;
	if (f->size < sizeof(*f) || !power_of_two(f->ring_size) || f->mode != HODO_MODE_OVERWRITE ||
	    (f->clock != HODO_CLOCK_TSC && f->clock != HODO_CLOCK_MONOTONIC) || f->latest > 1 ||
	    hodo_layout_init(layout, rings, f->packet_size, f->ring_size) < 0)
		return -EPROTO;
	plain = *layout;
	for (unsigned i = 1; layout->total != bytes && i < 4; i++) {
		*layout = plain;
		if (i & 2)
			hodo_layout_add_profile(layout);
		if (i & 1)
			hodo_layout_add_open(layout);
	}
	return layout->total == bytes ? 0 : -EPROTO;
}

void hodo_boot_id(char *to, size_t size)
{
	hodo_file_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", to, size);
}

bool hodo_snapshot_this_boot(const struct hodo_flight *f)
{
	char now[sizeof(f->boot_id)];

	hodo_boot_id(now, sizeof(now));
	return now[0] && strncmp(now, f->boot_id, sizeof(now)) == 0;
}

#define TSC_HZ_MIN 200000000ull
#define TSC_HZ_MAX 100000000000ull
#define FIT_MAX_NS 1000000000ll /* of one wait */

/* A damaged clock could overflow readers' nanoseconds. */
static bool is_plausible(const struct hodo_flight *f, const struct hodo_read_clock *map)
{
	return f->clock != HODO_CLOCK_TSC || (map->freq_hz >= TSC_HZ_MIN && map->freq_hz <= TSC_HZ_MAX);
}

static bool is_later(const struct hodo_clock_sample *last, const struct hodo_clock_sample *first)
{
	return last->ticks > first->ticks && last->mono_ns > first->mono_ns;
}

/*
 * On a busy machine, or in a slow virtual one, either sample may be off by milliseconds: the more time between them,
 * the less that matters. Waits for it, at most a second or so in all.
 */
static void fit_now(const struct hodo_flight *f, const struct hodo_clock_sample *first, struct hodo_clock_sample *last,
		    struct hodo_read_clock *map)
{
	for (int64_t wait_ns = HODO_CLOCK_FIT_NS;; wait_ns *= 4) {
		bool enough = last->mono_ns - first->mono_ns >= HODO_CLOCK_FIT_NS;

		hodo_clock_fit((enum hodo_clock)f->clock, first, last, map);
		if ((enough && is_later(last, first) && is_plausible(f, map)) || wait_ns > FIT_MAX_NS)
			return;
		hodo_sleep_ns(wait_ns);
		hodo_clock_sample((enum hodo_clock)f->clock, last);
	}
}

int hodo_snapshot_clock(const struct hodo_flight *f, struct hodo_read_clock *map)
{
	const struct hodo_moment *m = &f->last[f->latest & 1];
	struct hodo_clock_sample first = { f->first.ticks, f->first.mono_ns, f->first.real_ns }, last = first;
	bool here = hodo_snapshot_this_boot(f);

	/* Even from a hostile memory, this must be a valid clock. */
	if (first.mono_ns < 0)
		return -ENODATA;
	if (here)
		hodo_clock_sample((enum hodo_clock)f->clock, &last);
	else if (m->real_ns)
		last = (struct hodo_clock_sample){ m->ticks, m->mono_ns, m->real_ns };
	else if (f->clock == HODO_CLOCK_TSC)
		return -ENODATA;
	if (here && f->clock == HODO_CLOCK_TSC)
		fit_now(f, &first, &last, map);
	if (!is_later(&last, &first) || first.real_ns < 0) {
		if (f->clock == HODO_CLOCK_TSC)
			return -ENODATA;
		last = first;
	}
	hodo_clock_fit((enum hodo_clock)f->clock, &first, &last, map);
	return first.real_ns > HODO_SNAPSHOT_REAL_NS_MAX || !is_plausible(f, map) ? -ENODATA : 0;
}

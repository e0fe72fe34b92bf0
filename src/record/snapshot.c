/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - writes what a memory in overwrite mode holds at one time.
 */
#define _GNU_SOURCE
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "catalog.h"
#include "message.h"
#include "ring_image.h"
#include "shm.h"
#include "stream.h"
#include "names.h"

#define DIR_NUMBER_MAX 1000000u
#define GATHERED_MAX 512 /* pieces of one write */
#define HEADER ((uint32_t)sizeof(struct hodo_packet))

/* A stream file being written. The packets lie in the image of their ring, and are written from there. */
struct out_stream {
	char name[16];
	uint32_t cpu_id;
	int fd;
	uint64_t written;   /* bytes */
	uint64_t packets, events, bytes; /* given, written or not */
	uint64_t discarded; /* events_discarded of the last packet */
	int err;
	unsigned int gathered;
	struct iovec piece[GATHERED_MAX];
	struct hodo_packet extra[2]; /* the empty packets at the beginning and the end */
};

struct snapshot {
	const struct hodo_snapshot_source *source;
	struct hodo_snapshot_result *result;
	struct hodo_ring_images images;
	struct hodo_catalog catalog;
	struct hodo_ctf_thread *thread; /* ours, if the source has none */
	uint32_t threads;
	struct hodo_ctf_lost *lost; /* room for one a ring */
	char (*name)[16];           /* of streams, for lost and for taking them away again */
	uint32_t losts, streams;
	int64_t real_ns;
	int dirfd;
	struct out_stream *out; /* the one being written */
};

/* --------------------------------------------------------------------- streams */

static void flush(struct out_stream *o)
{
	struct iovec *at = o->piece;
	unsigned int n = o->gathered;

	o->gathered = 0;
	while (n > 0 && !o->err) {
		ssize_t done = pwritev(o->fd, at, (int)n, (off_t)o->written);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			o->err = done < 0 ? -errno : -EIO;
			return;
		}
		o->written += (uint64_t)done;
		while (n > 0 && (size_t)done >= at->iov_len) {
			done -= (ssize_t)at->iov_len;
			at++;
			n--;
		}
		if (n > 0) {
			at->iov_base = (char *)at->iov_base + done;
			at->iov_len -= (size_t)done;
		}
	}
}

static void gather(struct out_stream *o, void *data, size_t bytes)
{
	struct iovec *last = o->gathered ? &o->piece[o->gathered - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == data) {
		last->iov_len += bytes;
		return;
	}
	if (o->gathered == GATHERED_MAX)
		flush(o);
	o->piece[o->gathered++] = (struct iovec){ data, bytes };
}

/* Takes a packet that is complete but for what the file knows. */
static void add_packet(struct snapshot *s, struct hodo_packet *h)
{
	struct out_stream *o = s->out;

	memcpy(h->uuid, s->source->flight->uuid, sizeof(h->uuid));
	h->magic = HODO_CTF_MAGIC;
	h->stream_id = 0;
	h->cpu_id = o->cpu_id;
	h->packet_seq_num = o->packets++;
	o->events += h->events;
	o->bytes += h->content_size / 8;
	o->discarded = h->events_discarded;
	gather(o, h, h->content_size / 8);
}

static void add_empty(struct snapshot *s, struct hodo_packet *h, uint64_t ts, uint64_t discarded, uint64_t before)
{
	memset(h, 0, sizeof(*h));
	h->timestamp_begin = h->timestamp_end = ts;
	h->content_size = h->packet_size = 8ull * HEADER;
	h->events_discarded = discarded;
	h->events_before = before;
	add_packet(s, h);
}

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct snapshot *)arg)->catalog.walk;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct snapshot *s = arg;
	/* In the image there is room for the header in front of the body, and nobody looks at the old one any more. */
	struct hodo_packet *place = (struct hodo_packet *)(void *)(body - HEADER);

	(void)r;
	if (s->out->err)
		return;
	/* What is missing counts by the difference of two packets: there must be one before. */
	if (s->out->packets == 0 && h->events_discarded > 0)
		add_empty(s, &s->out->extra[0], h->timestamp_begin, 0, 0);
	memcpy(place, h, sizeof(*place));
	add_packet(s, place);
}

static void add_lost(struct snapshot *s, const char *name, const struct hodo_ring_lost *l)
{
	struct hodo_ring_lost *sum = &s->result->lost;

	sum->full += l->full;
	sum->too_large += l->too_large;
	sum->busy += l->busy;
	sum->overwritten += l->overwritten;
	sum->damaged += l->damaged;
	if (l->full | l->too_large | l->busy | l->overwritten | l->damaged)
		s->lost[s->losts++] = (struct hodo_ctf_lost){ name, l->full, l->too_large, l->busy, l->overwritten, 0,
							      l->damaged };
}

static int write_stream(struct snapshot *s, struct hodo_ring_image *image)
{
	const struct hodo_ring_sink sink = { sink_packet, sink_table, s };
	struct out_stream *o = s->out;
	struct hodo_ring_reader r;
	struct hodo_stream named;
	/* The clock of a memory that was written long ago, perhaps elsewhere, is not ours. */
	bool now = s->source->why && !s->source->taken_real_ns;
	uint64_t ts = now ? hodo_clock_now((enum hodo_clock)s->source->flight->clock) : 0;

	hodo_stream_init(&named, s->source->flight->uuid, image->number, s->images.layout.rings - 1);
	memset(o, 0, sizeof(*o));
	memcpy(o->name, named.name, sizeof(o->name));
	memcpy(s->name[s->streams], o->name, sizeof(o->name));
	o->cpu_id = named.cpu_id;
	o->fd = openat(s->dirfd, o->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (o->fd < 0)
		return -errno;
	s->streams++;
	hodo_ring_image_reader(&s->images, image, &r);
	hodo_ring_finish(&r, &sink, false);
	if (ts < r.ts_end)
		ts = r.ts_end;
	if (r.discarded > o->discarded && o->packets == 0)
		add_empty(s, &o->extra[0], ts, 0, 0);
	if (r.discarded > o->discarded)
		add_empty(s, &o->extra[1], ts, r.discarded, r.expect);
	flush(o);
	if (close(o->fd) < 0 && !o->err)
		o->err = -errno;
	if (!o->err && o->packets == 0) {
		unlinkat(s->dirfd, o->name, 0);
		s->streams--;
	}
	s->result->events += o->events;
	s->result->bytes += o->bytes;
	s->result->damaged_rings += r.broken || r.damage > 0;
	add_lost(s, s->name[s->streams - (o->packets > 0 || o->err)], &r.lost);
	return o->err;
}

static int write_streams(struct snapshot *s)
{
	int err = 0;

	s->out = malloc(sizeof(*s->out));
	s->lost = calloc(s->images.n + 1, sizeof(*s->lost));
	s->name = calloc(s->images.n + 1, sizeof(*s->name));
	if (!s->out || !s->lost || !s->name)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->images.n && !err; i++)
		err = write_stream(s, &s->images.image[i]);
	return err;
}

/* -------------------------------------------------------------------- metadata */

/* As they were called at their first events. */
static int read_threads(struct snapshot *s)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)s->source->shm;
	const struct hodo_thread *table = (const struct hodo_thread *)(s->source->shm + HODO_SHM_THREADS);
	uint32_t n = hodo_shm_load32(&shm->threads);

	if (n > HODO_THREADS_MAX)
		n = HODO_THREADS_MAX;
	s->thread = calloc(n + 1, sizeof(*s->thread));
	if (!s->thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct hodo_ctf_thread *t = &s->thread[s->threads];

		t->tid = hodo_shm_load32(&table[i].tid); /* stored last: then the name is there */
		if (t->tid == 0)
			continue;
		hodo_shm_copy(t->comm, table[i].comm, sizeof(t->comm));
		t->comm[sizeof(t->comm) - 1] = 0;
		t->pid = s->source->kernel ? hodo_shm_load32(&table[i].reserved) : 0;
		s->threads++;
	}
	return 0;
}

static int write_metadata(struct snapshot *s, bool ended)
{
	const struct hodo_snapshot_source *src = s->source;
	const struct hodo_flight *f = src->flight;
	struct hodo_functions_seen functions = { 0 };
	struct hodo_ctf_snapshot taken = { src->number, s->real_ns, src->why };
	struct hodo_ctf_metadata m = {
		.pid = src->pid, .ppid = f->ppid, .uid = f->uid, .comm = f->comm, .exe = f->exe,
		.kernel = src->kernel,
		.hostname = f->hostname, .start = (enum hodo_start)f->start, .mode = HODO_MODE_OVERWRITE,
		.ring_size = src->layout.ring_size, .packet_size = src->layout.packet_size,
		.clock = src->clock, .catalog = &s->catalog,
		.thread = src->thread ? src->thread : s->thread, .threads = src->thread ? src->threads : s->threads,
		.lost = s->lost, .losts = ended ? s->losts : 0, .functions = src->functions ? &functions : NULL,
		.ended = ended, .end_real_ns = s->real_ns, .snapshot = src->why ? &taken : NULL,
	};
	struct hodo_text text = { 0 };
	int err;

	memcpy(m.uuid, f->uuid, sizeof(m.uuid));
	hodo_functions_see((const struct hodo_shm *)src->shm, &functions);
	hodo_ctf_metadata_text(&m, &text);
	err = hodo_ctf_metadata_write(s->dirfd, &text);
	hodo_text_free(&text);
	return err;
}

/* ---------------------------------------------------------------------- folder */

static int make_dir(struct snapshot *s, int out_fd)
{
	char comm[32], *dir = s->result->dir;
	size_t size = sizeof(s->result->dir);

	hodo_name_file(comm, sizeof(comm), s->source->flight->comm);
	for (unsigned int n = 1; n < DIR_NUMBER_MAX; n++) {
		hodo_ctf_folder(dir, size, comm, s->source->pid, n, s->source->kernel != NULL);
		if (mkdirat(out_fd, dir, 0777) == 0) {
			s->dirfd = openat(out_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			return s->dirfd < 0 ? -errno : 0;
		}
		if (errno != EEXIST)
			break;
	}
	dir[0] = 0;
	return -errno;
}

static void remove_dir(struct snapshot *s, int out_fd)
{
	for (uint32_t i = 0; i < s->streams; i++)
		unlinkat(s->dirfd, s->name[i], 0);
	if (s->dirfd >= 0)
		unlinkat(s->dirfd, "metadata", 0);
	if (s->result->dir[0])
		unlinkat(out_fd, s->result->dir, AT_REMOVEDIR);
}

/* The time is that of the copies. What is read of the catalogue afterwards has all events that are in them. */
static int take(struct snapshot *s)
{
	const struct hodo_snapshot_source *src = s->source;
	const struct hodo_shm *shm = (const struct hodo_shm *)src->shm;
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	s->real_ns = src->taken_real_ns ? src->taken_real_ns : (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	err = hodo_ring_images_take(&s->images, src->shm, &src->layout, src->fd, (enum hodo_clock)src->flight->clock,
				    hodo_shm_load32(&shm->flags) & HODO_SHM_SNAPSHOT);
	if (!err)
		err = hodo_catalog_read(&s->catalog, src->shm + HODO_SHM_CATALOG, hodo_shm_load64(&shm->catalog_used));
	/* One that is damaged has events up to there. */
	if (err >= 0 || err == -EBADMSG)
		err = src->thread ? 0 : read_threads(s);
	return err;
}

static void free_snapshot(struct snapshot *s)
{
	if (s->dirfd >= 0)
		close(s->dirfd);
	hodo_ring_images_free(&s->images);
	hodo_catalog_free(&s->catalog);
	free(s->thread);
	free(s->lost);
	free(s->name);
	free(s->out);
}

int hodo_snapshot_write(const struct hodo_snapshot_source *source, int out_fd, struct hodo_snapshot_result *result,
			char *error, size_t error_size)
{
	struct snapshot s = { .source = source, .result = result, .dirfd = -1 };
	int err;

	memset(result, 0, sizeof(*result));
	err = take(&s);
	if (err) {
		snprintf(error, error_size, "no snapshot can be made: %s: %s", strerror(-err), err == -ENOMEM ?
			 "it needs as much memory again as the buffers have: make some free" : hodo_remedy(err));
		free_snapshot(&s);
		return err;
	}
	err = make_dir(&s, out_fd);
	if (!err)
		err = write_metadata(&s, false);
	if (!err)
		err = write_streams(&s);
	if (!err)
		err = write_metadata(&s, true);
	if (err) {
		snprintf(error, error_size, "the snapshot cannot be written: %s: %s", strerror(-err), hodo_remedy(err));
		remove_dir(&s, out_fd);
	}
	free_snapshot(&s);
	return err;
}

/* ------------------------------------------------------------ what a memory says */

static bool power_of_two(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

int hodo_snapshot_layout(struct hodo_flight *f, uint32_t rings, uint64_t bytes, struct hodo_layout *layout)
{
	f->comm[sizeof(f->comm) - 1] = f->exe[sizeof(f->exe) - 1] = 0;
	f->hostname[sizeof(f->hostname) - 1] = f->boot_id[sizeof(f->boot_id) - 1] = 0;
	if (f->size < sizeof(*f) || !power_of_two(f->ring_size) || f->mode != HODO_MODE_OVERWRITE ||
	    (f->clock != HODO_CLOCK_TSC && f->clock != HODO_CLOCK_MONOTONIC) || f->latest > 1 ||
	    hodo_layout_init(layout, rings, f->packet_size, f->ring_size) < 0)
		return -EPROTO;
	if (layout->total != bytes)
		hodo_layout_add_profile(layout);
	return layout->total == bytes ? 0 : -EPROTO;
}

void hodo_boot_id(char *to, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n > 0 ? n : 0] = 0;
	to[strcspn(to, "\n")] = 0;
}

bool hodo_snapshot_this_boot(const struct hodo_flight *f)
{
	char now[sizeof(f->boot_id)];

	hodo_boot_id(now, sizeof(now));
	return now[0] && strncmp(now, f->boot_id, sizeof(now)) == 0;
}

#define TSC_HZ_MIN 200000000ull
#define TSC_HZ_MAX 100000000000ull

int hodo_snapshot_clock(const struct hodo_flight *f, struct hodo_clock_map *map)
{
	const struct hodo_moment *m = &f->last[f->latest & 1];
	struct hodo_clock_sample first = { f->first.ticks, f->first.mono_ns, f->first.real_ns }, last = first;

	if (hodo_snapshot_this_boot(f))
		hodo_clock_sample((enum hodo_clock)f->clock, &last);
	else if (m->real_ns)
		last = (struct hodo_clock_sample){ m->ticks, m->mono_ns, m->real_ns };
	else if (f->clock == HODO_CLOCK_TSC)
		return -ENODATA;
	/* What a hostile memory says is at least a clock. */
	if (last.ticks <= first.ticks || last.mono_ns <= first.mono_ns || first.real_ns < 0) {
		if (f->clock == HODO_CLOCK_TSC)
			return -ENODATA;
		last = first;
	}
	if (last.mono_ns - first.mono_ns < HODO_CLOCK_FIT_NS && hodo_snapshot_this_boot(f)) {
		struct timespec wait = { 0, HODO_CLOCK_FIT_NS };

		nanosleep(&wait, NULL);
		hodo_clock_sample((enum hodo_clock)f->clock, &last);
	}
	hodo_clock_fit((enum hodo_clock)f->clock, &first, &last, map);
	/* Damage makes clocks that would take readers' nanoseconds beyond what these can hold. */
	if (first.real_ns > HODO_SNAPSHOT_REAL_NS_MAX ||
	    (f->clock == HODO_CLOCK_TSC && (map->freq_hz < TSC_HZ_MIN || map->freq_hz > TSC_HZ_MAX)))
		return -ENODATA;
	return 0;
}

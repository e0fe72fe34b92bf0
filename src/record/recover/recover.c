/* SPDX-License-Identifier: MIT */
/* recover.c - makes recordings of what processes' own flight recorders left. */
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <base/arena.h>
#include <base/clock.h>
#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <pack/tree.h>

#include "flight_memory.h"
#include <record/write/snapshot.h>

#define FILES_MAX 65536u
#define MEASURE_NS 200000000 /* to measure the clock to some parts in ten million */
#define SPAN_SHORT_NS 50000000 /* two closer moments say little about the clock */

/* ----------------------------------------------------------------------- clock */

static bool is_this_host(const struct hodo_flight *f)
{
	char name[sizeof(f->hostname) + 1] = "";

	return gethostname(name, sizeof(name) - 1) == 0 && strncmp(name, f->hostname, sizeof(f->hostname) - 1) == 0;
}

/* Measures this machine's TSC now. It ticks as it did before the reboot. */
static bool measure(const struct hodo_flight *f, struct hodo_read_clock *map)
{
	struct hodo_clock_sample a, b, first = { f->first.ticks, f->first.mono_ns, f->first.real_ns };
	struct hodo_read_clock now;

	if (f->clock != HODO_CLOCK_TSC || !is_this_host(f) || !hodo_clock_tsc_usable() || f->first.real_ns <= 0 ||
	    f->first.real_ns > HODO_SNAPSHOT_REAL_NS_MAX)
		return false;
	hodo_clock_sample(HODO_CLOCK_TSC, &a);
	hodo_sleep_ns(MEASURE_NS);
	hodo_clock_sample(HODO_CLOCK_TSC, &b);
	hodo_clock_fit(HODO_CLOCK_TSC, &a, &b, &now);
	if (first.ticks > UINT64_MAX - now.freq_hz)
		return false;
	hodo_clock_through(HODO_CLOCK_TSC, &first, now.freq_hz, map);
	return true;
}

static void find_clock(struct hodo_recover *r, const char *name, const struct hodo_flight *f,
		       struct hodo_read_clock *map)
{
	int err = hodo_snapshot_clock(f, map);
	int64_t span = f->last[f->latest & 1].mono_ns - f->first.mono_ns;
	struct hodo_read_clock measured;

	if (!err && (f->clock != HODO_CLOCK_TSC || span >= SPAN_SHORT_NS || hodo_snapshot_this_boot(f)))
		return;
	if (measure(f, &measured)) {
		/* Another machine with the same name would tick at another rate. */
		if (err || llabs((long long)(measured.freq_hz - map->freq_hz)) < (long long)(map->freq_hz / 50))
			*map = measured;
		return;
	}
	if (err)
		*map = (struct hodo_read_clock){ .kind = (enum hodo_clock)f->clock, .freq_hz = 1000000000 };
	hodo_report(&r->reporter, "%s: %s", name, err ? "its clock is unknown: times have no relation to "
		    "the time of day" :
			    "its clock was measured for a few microseconds only: times are approximate");
}

/* ------------------------------------------------------------------------ file */

/* When it ended, as far as the file shows. */
static int64_t last_moment(const struct hodo_flight_memory *m)
{
	const struct hodo_moment *last = &m->flight.last[m->flight.latest & 1];
	int64_t ns = last->real_ns > m->flight.first.real_ns ? last->real_ns : m->flight.first.real_ns;

	return m->alive || ns < 0 ? 0 : ns;
}

static int write_memory(struct hodo_recover *r, const char *name, const struct hodo_flight_memory *m,
			struct hodo_why *why)
{
	struct hodo_read_clock clock;
	struct hodo_snapshot_result result;
	struct hodo_snapshot_source source = {
		.shm = m->shm, .layout = m->layout, .fd = -1, .flight = &m->flight, .pid = m->pid, .clock = &clock,
		.number = m->number, .why = m->number ? m->why : m->alive ? "hodo recover" : NULL,
		.taken_real_ns = last_moment(m),
	};
	int err;

	find_clock(r, name, &m->flight, &clock);
	err = hodo_snapshot_write(&source, r->out_fd, &result, why);
	if (err)
		return err;
	r->processes++;
	r->running += m->alive;
	r->events += result.events;
	r->bytes += result.bytes;
	hodo_lost_add(&r->lost, &result.lost);
	if (m->alive)
		hodo_report(&r->reporter, "%s: process %u is still running: this is what it held at this "
			    "moment", name, m->pid);
	if (m->cut)
		hodo_report(&r->reporter, "%s: the file is truncated: the missing part is lost", name);
	if (result.damaged_rings || m->repaired)
		hodo_report(&r->reporter, "%s: damaged: the readable part is recovered", name);
	return 0;
}

static int add_file(struct hodo_recover *r, int dirfd, const char *file, const char *name, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = openat(dirfd, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct hodo_flight_memory m;
	struct stat st;
	int err;

	if (fd < 0)
		return hodo_why_system(why, -errno);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return hodo_why(why, -EINVAL, "not a regular file: give one that HODO_FLIGHT made, or its directory");
	err = hodo_flight_memory_read(&m, fd, why);
	if (!err)
		err = write_memory(r, name, &m, why);
	hodo_flight_memory_free(&m);
	return err;
}

/* ------------------------------------------------------------------- directory */

static bool has_end(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n > len && strcmp(name + n - len, end) == 0;
}

struct names {
	struct hodo_arena memory;
	char **name;
	uint32_t n, snapshots;
};

static void free_names(struct names *f)
{
	hodo_arena_free(&f->memory);
	free(f->name);
}

static int list_files(int fd, struct names *f)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	int err = d ? 0 : -errno;

	memset(f, 0, sizeof(*f));
	for (const char *file; !err && f->n < FILES_MAX && (file = hodo_dir_next(d));) {
		char *name;

		f->snapshots += has_end(file, ".snapshot");
		if (!has_end(file, ".flight"))
			continue;
		name = hodo_arena_copy(&f->memory, file, strlen(file));
		err = name ? hodo_vec_push(f->name, f->n, name) : -ENOMEM;
	}
	hodo_order_sort(f->name, f->n, hodo_order_text);
	return err;
}

static int add_files(struct hodo_recover *r, int fd, const char *path, struct hodo_why *why)
{
	struct names f;
	int err = list_files(fd, &f);

	for (uint32_t i = 0; i < f.n && !err; i++) {
		struct hodo_why flaw;
		char name[512];

		snprintf(name, sizeof(name), "%.250s/%.250s", path, f.name[i]);
		if (add_file(r, fd, f.name[i], name, &flaw) < 0) {
			r->failed++;
			hodo_report(&r->reporter, "%s: %s", name, flaw.text);
		}
	}
	if (!err && f.snapshots)
		hodo_report(&r->reporter, "%s: %u snapshot%s there too: name the file to read one", path, f.snapshots,
				    f.snapshots == 1 ? " is" : "s are");
	free_names(&f);
	return err ? hodo_why_system(why, err) : 0;
}

int hodo_recover_kind(const char *path, enum hodo_recover_kind *kind, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct hodo_tree *packed;
	struct names f;
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) < 0)
		return hodo_why_system(why, -errno);
	if (S_ISREG(st.st_mode)) {
		if (hodo_tree_open(&packed, path) == 0) {
			hodo_tree_close(packed);
			return hodo_why(why, -EINVAL, "packed: 'hodo unpack' it first, then recover the directory");
		}
		*kind = HODO_RECOVER_FILE;
		return 0;
	}
	if (!S_ISDIR(st.st_mode))
		return hodo_why(why, -EINVAL, "neither a directory nor a flight recorder's file: give one of these");
	err = list_files(fd, &f);
	free_names(&f);
	if (err)
		return hodo_why_system(why, err);
	*kind = f.n ? HODO_RECOVER_FLIGHTS : HODO_RECOVER_RECORDING;
	if (f.n || hodo_recover_is_recording(fd))
		return 0;
	return hodo_why(why, -ENODATA, "%s", f.snapshots ? "it has only snapshots: name the file to read one" :
			"it has neither flight recorder files nor a recording: if it should, run 'hodo doctor'");
}

int hodo_recover_add(struct hodo_recover *r, const char *path, enum hodo_recover_kind kind, struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = -1;
	int err;

	if (kind == HODO_RECOVER_FILE) {
		err = add_file(r, AT_FDCWD, path, path, why);
		r->failed += err < 0;
		return err;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return hodo_why_system(why, -errno);
	return kind == HODO_RECOVER_FLIGHTS ? add_files(r, fd, path, why) :
					      hodo_recover_recording(r, fd, path, why);
}

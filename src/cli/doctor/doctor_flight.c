/* SPDX-License-Identifier: MIT */
/*
 * doctor_flight.c - in-process flight recorders (HODO_FLIGHT): whether a program started now can have one,
 * and why a running one has none. The program itself prints nothing, since that would change its behaviour.
 */
#define _GNU_SOURCE
#include <cli/cli.h>
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <proc/maps.h>
#include <record/record.h>

#define PACKET_MAX_BYTES 65536u /* as in src/user/flight/flight.c */
#define PACKETS_A_RING 16u

/* Why it is not possible, by errno; bytes: of the file, 0: not known. */
static void refused(struct doctor_finding *f, const char *dir, int err, uint64_t bytes)
{
	char room[32] = "its size";

	if (bytes)
		hodo_human_bytes(bytes, room);
	if (err == -ENOSPC || err == -EDQUOT)
		doctor_found(f, DOCTOR_WARN, "make room, or set HODO_FLIGHT_SIZE to less", "%s: no room for a file of %s", dir,
			     room);
	else if (err == -EFBIG)
		doctor_found(f, DOCTOR_WARN, "raise it, or set HODO_FLIGHT_SIZE to less",
			     "ulimit -f is too low for a file of %s in %s", room, dir);
	else if (err == -ENOMEM)
		doctor_found(f, DOCTOR_WARN, "raise ulimit -v, or set HODO_FLIGHT_SIZE to less",
			     "no memory to map a file of %s in %s", room, dir);
	else if (err == -ENOENT)
		doctor_found(f, DOCTOR_WARN, "create it, since programs do not",
			     "%s: there is no such directory", dir);
	else if (err == -EINVAL)
		doctor_found(f, DOCTOR_WARN, "give events as for -e, separated by commas",
			     "HODO_FLIGHT_EVENTS is not a list of events");
	else
		doctor_found(f, DOCTOR_WARN, "set HODO_FLIGHT to a directory that exists and is writable",
			     "%s: %s", dir,
			     strerror(-err));
}

/* ------------------------------------------------------------- a program to come */

/* Size of a file with that many bytes per CPU. */
static uint64_t file_bytes(uint64_t cpu_bytes)
{
	uint64_t ring = HODO_PAGE, packet;
	struct hodo_layout layout = { 0 };

	while (ring < cpu_bytes)
		ring *= 2;
	packet = ring / PACKETS_A_RING;
	packet = packet < HODO_PACKET_MIN ? HODO_PACKET_MIN : packet > PACKET_MAX_BYTES ? PACKET_MAX_BYTES : packet;
	hodo_layout_init(&layout, (uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1, (uint32_t)packet, ring);
	return layout.total;
}

/* Tries to allocate and map a file as a process would. 0 or negative errno. */
static int try_file(const char *dir, uint64_t bytes)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	HODO_AUTO_CLOSE int fd = -1;
	char path[PATH_MAX];
	void *map;
	int err;

	if (snprintf(path, sizeof(path), "%s/.hodo-doctor-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	getrlimit(RLIMIT_FSIZE, &limit);
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	unlink(path);
	err = limit.rlim_cur < bytes ? -EFBIG : -posix_fallocate(fd, 0, (off_t)bytes);
	if (err)
		return err;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	munmap(map, bytes);
	return 0;
}

void doctor_check_flight(struct doctor_finding *f)
{
	const char *dir = getenv(HODO_FLIGHT_ENV), *size = getenv(HODO_FLIGHT_SIZE_ENV);
	const char *events = getenv(HODO_FLIGHT_EVENTS_ENV);
	HODO_AUTO(hodo_pattern_free) struct hodo_pattern_list patterns = { 0 };
	uint64_t cpu_bytes = 1 << 20, bytes;
	struct hodo_why why;
	char room[32];
	int err;

	if (!dir || !*dir) {
		doctor_found(f, DOCTOR_OK, NULL, "HODO_FLIGHT is not set");
		return;
	}
	if (events && *events && hodo_pattern_add(&patterns, events, &why) < 0) {
		doctor_found(f, DOCTOR_WARN, "give events as for -e, separated by commas",
			     "HODO_FLIGHT_EVENTS: %s", why.text);
		return;
	}
	if (size && (hodo_parse_size(size, &cpu_bytes) < 0 || cpu_bytes < HODO_PAGE || cpu_bytes > HODO_RING_MAX)) {
		doctor_found(f, DOCTOR_WARN, "a size from 4K on, such as 4M", "HODO_FLIGHT_SIZE is not a "
			     "size: 1M is used");
		return;
	}
	bytes = file_bytes(cpu_bytes);
	err = try_file(dir, bytes);
	if (err)
		refused(f, dir, err, bytes);
	else
		doctor_found(f, DOCTOR_OK, NULL, "files of %s in %s", hodo_human_bytes(bytes, room), dir);
}

/* -------------------------------------------------------------- one that runs */

/* What a process has mapped. */
struct mapped {
	char library[PATH_MAX]; /* libhodo; "" if none */
	char file[PATH_MAX];    /* its flight recorder's */
	bool buffers;           /* a recorder's */
	int error;              /* its reason for having no flight recorder; 0: none given */
};

/* The name of a mapping, which the process may have forged. */
static void look_at(struct mapped *m, const char *path)
{
	size_t len = strlen(path);
	int n;

	if (path[0] != '/' || len >= PATH_MAX)
		return;
	if (sscanf(path, "/memfd:" HODO_FLIGHT_ERROR "%d", &n) == 1)
		m->error = n > 0 && n < 4096 ? -n : 0;
	else if (strncmp(path, "/memfd:hodo (", 13) == 0)
		m->buffers = true;
	else if (strstr(path, "/libhodo.so"))
		snprintf(m->library, sizeof(m->library), "%s", path);
	else if (len > 7 && strncmp(path + len - 7, ".flight", 7) == 0)
		snprintf(m->file, sizeof(m->file), "%s", path);
}

/* False: it cannot be read; f has the reason. */
static bool look(struct doctor_finding *f, struct mapped *m)
{
	HODO_AUTO(hodo_proc_maps_close) struct hodo_proc_maps maps;
	struct hodo_proc_map map;
	bool any = false;

	memset(m, 0, sizeof(*m));
	/* An ended process has none. */
	for (hodo_proc_maps_open(&maps, f->pid); hodo_proc_maps_next(&maps, &map); any = true)
		look_at(m, map.name);
	if (any)
		return true;
	doctor_found(f, DOCTOR_BAD, "give a process of yours that runs, or run hodo as root",
		     "process %d cannot be inspected", (int)f->pid);
	return false;
}

static void check_library(struct doctor_finding *f)
{
	struct mapped m;

	if (!look(f, &m))
		return;
	if (m.library[0])
		doctor_found(f, DOCTOR_OK, NULL, "%s", m.library);
	else
		doctor_found(f, DOCTOR_WARN, "'hodo record -p', LD_PRELOAD or -lhodo load it",
			     "it has not loaded libhodo.so (a statically linked one cannot be seen)");
}

static void check_recorder(struct doctor_finding *f)
{
	struct mapped m;

	if (look(f, &m))
		doctor_found(f, DOCTOR_OK, NULL, m.buffers ? "it is recorded, or was until its recorder ended" :
							     "it is not being recorded");
}

static void check_its_flight(struct doctor_finding *f)
{
	char dir[PATH_MAX] = "";
	struct mapped m;

	if (!look(f, &m))
		return;
	if (m.file[0]) {
		doctor_found(f, DOCTOR_OK, NULL, "%s", m.file);
		return;
	}
	if (!hodo_proc_environment(f->pid, HODO_FLIGHT_ENV, dir, sizeof(dir)) || !dir[0]) {
		doctor_found(f, DOCTOR_OK, NULL, "HODO_FLIGHT was not set when it was started");
		return;
	}
	if (m.error) {
		refused(f, dir, m.error, 0);
		f->state = DOCTOR_BAD;
		return;
	}
	doctor_found(f, DOCTOR_WARN, m.buffers ? "'hodo detach' ends the recording" : !m.library[0] ? "see libhodo" :
			     "it begins one when it opens a library with events",
		     m.buffers ? "a recorder has the process, so there is no file in %s" :
				 "no file in %s: it has no events, ended its recording, or is a child that "
				 "cannot have one",
		     dir);
}

const struct doctor_check doctor_process_checks[] = {
	{ "libhodo", check_library }, { "recorder", check_recorder }, { "flight", check_its_flight }, { 0 },
};

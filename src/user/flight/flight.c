/* SPDX-License-Identifier: MIT */
/*
 * flight.c - a flight recorder without a recorder process: the recording's memory is a file, which outlives
 * the process. Under the control lock.
 */
#include <fcntl.h>
#include <hodo/control.h>
#include <stddef.h>
#include "flight.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include <user/ring/rings.h>
#include <user/talk/talk.h>

#define PACKET_BYTES_MAX 65536u
#define PACKETS_A_RING 16u
#define AGE_TICKS (1ull << 43) /* an hour, in ticks of either clock; time stamps are unambiguous for a day */

static char file[HODO_FLIGHT_PATH_MAX]; /* of the present recording; "" if there is none */

/* --------------------------------------------------------------------- begin */

/* The TSC if the kernel itself, or HODO_CLOCK, trusts it; otherwise, CPUs may disagree. */
static uint32_t choose_clock(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char text[32];

	if (hodo_flight_want.clock && hodo_have_tsc())
		return hodo_flight_want.clock;
	if (!hodo_have_tsc() || hodo_sys_file_line(AT_FDCWD, path, text, sizeof(text)) < 3 ||
	    __builtin_memcmp(text, "tsc", 4) != 0)
		return HODO_CLOCK_MONOTONIC;
	return HODO_CLOCK_TSC;
}

static void make_config(struct hodo_msg_config *c)
{
	uint64_t packet = hodo_flight_want.bytes / PACKETS_A_RING;

	c->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	if (hodo_sys3(SYS_getrandom, c->uuid, sizeof(c->uuid), 0) != sizeof(c->uuid)) {
		uint64_t now[2] = { (uint64_t)hodo_clock_ns(CLOCK_REALTIME), (uint64_t)hodo_sys0(SYS_getpid) };

		__builtin_memcpy(c->uuid, now, sizeof(c->uuid));
	}
	c->uuid[6] = (uint8_t)((c->uuid[6] & 15) | 64); /* RFC 4122, version 4 */
	c->uuid[8] = (uint8_t)((c->uuid[8] & 63) | 128);
	c->rings = hodo_possible_cpus() + 1;
	c->packet_size = (uint32_t)(packet < HODO_PACKET_MIN ? HODO_PACKET_MIN :
				    packet > PACKET_BYTES_MAX ? PACKET_BYTES_MAX : packet);
	c->ring_size = hodo_flight_want.bytes;
	c->mode = HODO_MODE_OVERWRITE;
	c->clock = choose_clock();
	c->packet_age_ticks = AGE_TICKS;
	c->patterns = hodo_flight_want.patterns;
	c->patterns_len = hodo_flight_want.patterns_len;
	__builtin_memcpy(c->text, hodo_flight_want.text, hodo_flight_want.patterns_len);
}

static void fill_flight(struct hodo_flight *f, const struct hodo_msg_config *c, enum hodo_start start)
{
	char uts[6 * 65];

	f->packet_size = c->packet_size;
	f->ring_size = c->ring_size;
	f->mode = c->mode;
	f->clock = c->clock;
	__builtin_memcpy(f->uuid, c->uuid, sizeof(f->uuid));
	f->ppid = (uint32_t)hodo_sys0(SYS_getppid);
	f->uid = (uint32_t)hodo_sys0(SYS_getuid);
	f->start = start;
	hodo_process_name(f->comm);
	hodo_process_exe(f->exe, sizeof(f->exe));
	if (hodo_sys1(SYS_uname, uts) == 0) /* sysname, nodename … of 65 bytes each */
		__builtin_memcpy(f->hostname, uts + 65, sizeof(f->hostname) - 1);
	hodo_sys_file_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", f->boot_id, sizeof(f->boot_id));
	hodo_flight_clocks_begin(f);
	f->size = sizeof(*f);
}

/* Maps the file; no descriptor stays open. 0 or negative errno. */
static int make_memory(const struct hodo_msg_config *c, enum hodo_start start, struct hodo_recording_memory *memory)
{
	struct hodo_shm *head;
	bool locked = false;
	int fd, error;

	if (hodo_layout_init(&memory->layout, c->rings, c->packet_size, c->ring_size) != 0)
		return -EINVAL;
	hodo_flight_file_prune(hodo_flight_want.dir, hodo_flight_want.keep);
	fd = hodo_flight_file_make(file, hodo_flight_want.dir, memory->layout.total, &locked);
	if (fd < 0)
		return fd;
	error = hodo_recording_map(memory, fd);
	hodo_sys1(SYS_close, fd);
	if (error) {
		hodo_sys_file_remove(file);
		return error;
	}
	head = (struct hodo_shm *)memory->shm;
	head->flags = HODO_SHM_FLIGHT | (locked ? HODO_SHM_LOCKED : 0);
	fill_flight(hodo_flight_of(memory->shm), c, start);
	HODO_INJECT(HODO_INJECT_FLIGHT);
	/* Last: it makes everything above valid. */
	hodo_compiler_barrier();
	__builtin_memcpy(head->magic, HODO_SHM_MAGIC, sizeof(head->magic));
	return 0;
}

static int begin(enum hodo_start start)
{
	static struct hodo_msg_config config; /* under the control lock, which makes it safe */
	struct hodo_recording_memory memory = { .by = HODO_BY_FLIGHT };
	int error;

	make_config(&config);
	error = make_memory(&config, start, &memory);
	if (!error) {
		error = hodo_recording_take(&config, &memory);
		if (error) {
			hodo_recording_drop();
			hodo_sys_file_remove(file);
		}
	}
	if (error) {
		file[0] = 0;
		return error;
	}
	error = hodo_recording_begin();
	/* Some time after the first one: a rough measure of the clock if there is no later one. */
	hodo_flight_note_clocks(hodo_flight_of(memory.shm));
	return error;
}

/*
 * The name of a mapping tells hodo doctor why there is no file: a message to the user would be in the
 * program's output. Not in a fork child, which a sandbox may end for a call that it has not made before: it
 * keeps its parent's.
 */
static int note(int error, enum hodo_start start)
{
	static void *mapping;
	char name[32] = HODO_FLIGHT_ERROR;
	long fd;

	if (start == HODO_START_FORK)
		return error;
	if (mapping)
		hodo_sys2(SYS_munmap, mapping, HODO_PAGE);
	mapping = 0;
	if (!error)
		return 0;
	hodo_fixed_text_number(name, sizeof(name), (uint64_t)-error);
	fd = hodo_sys2(SYS_memfd_create, name, MFD_CLOEXEC);
	if (fd < 0)
		return error;
	mapping = hodo_mmap(HODO_PAGE, PROT_NONE, MAP_PRIVATE, (int)fd); /* of an empty file; never touched */
	mapping = hodo_is_error(mapping) ? 0 : mapping;
	hodo_sys1(SYS_close, fd);
	return error;
}

static bool has_events(void)
{
	return hodo_nevents > 0 || hodo_objects_refused;
}

int hodo_flight_begin(enum hodo_start start)
{
	int error = hodo_recording_possible();

	hodo_flight_want.waiting = false;
	file[0] = 0;
	if (!hodo_flight_wanted)
		return -ENOTCONN;
	if (error)
		return error;
	/*
	 * A program without events leaves no file: those of a shell and what it starts would displace useful
	 * ones. If it later opens a library with events, the recording begins then. Refused events count: the
	 * file says why they are missing.
	 */
	if (!has_events() && hodo_flight_want.lazy) {
		hodo_flight_want.waiting = true;
		return -ENOTCONN;
	}
	return note(hodo_flight_want.bad ? hodo_flight_want.bad : begin(start), start);
}

void hodo_flight_objects(void)
{
	if (hodo_flight_want.waiting && has_events())
		hodo_flight_begin(HODO_START_EXEC);
}

/* ----------------------------------------------------------------------- end */

const char *hodo_flight_path(void)
{
	return hodo_recording.by == HODO_BY_FLIGHT ? file : "";
}

/* exit(): what other libraries' destructors trace is still recorded. */
static __attribute__((destructor(101))) void at_exit(void)
{
	uint64_t mask;

	/* A child that no fork handler has set up does not begin a recording at its end. */
	if (hodo_recording.by != HODO_BY_FLIGHT || hodo_process_forked())
		return;
	mask = hodo_control_lock();
	/* A vfork child that calls exit() is not the process. */
	if (hodo_recording.on && hodo_recording.by == HODO_BY_FLIGHT &&
	    hodo_shm()->pid == (uint32_t)hodo_sys0(SYS_getpid))
		hodo_flight_note_end();
	hodo_control_unlock(mask);
}

/* --------------------------------------------------------------------- public */

static int check_options(const struct hodo_flight_options *o)
{
	const uint8_t *bytes = (const uint8_t *)o;

	if (!o || o->size < sizeof(*o) || o->size > HODO_PAGE)
		return -EINVAL;
	for (size_t i = sizeof(*o); i < o->size; i++) {
		if (bytes[i]) /* a newer program wants something that this library does not know */
			return -EINVAL;
	}
	if (o->buffer_bytes && (o->buffer_bytes < HODO_PAGE || o->buffer_bytes > HODO_RING_MAX))
		return -EINVAL;
	return o->directory ? (*o->directory ? 0 : -EINVAL) : hodo_flight_want.env[0] ? 0 : -EINVAL;
}

static int start(const struct hodo_flight_options *o)
{
	int error = hodo_recording_possible();

	if (!error)
		error = check_options(o);
	if (!error)
		error = hodo_flight_want_start(o);
	if (error)
		return error;
	error = begin(HODO_START_ATTACH);
	hodo_flight_wanted = error == 0;
	return error;
}

HODO_PUBLIC int hodo_flight_start(const struct hodo_flight_options *options)
{
	uint64_t mask = hodo_control_lock();
	int error = start(options);

	hodo_control_unlock(mask);
	return error;
}

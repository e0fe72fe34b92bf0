/* SPDX-License-Identifier: MIT */
/*
 * flight.c - a flight recorder without anybody else: the recording's memory is a file, which outlives the process.
 *
 *               | begin, end, copy | clocks
 *   begin …     | excluded         | begin: before; end: not behind (sections); copy: beside
 *   clocks      |                  | excluded: who comes second leaves it
 *
 * All but hodo_flight_clocks() run under the control lock.
 */
#include <fcntl.h>
#include <hodo/control.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include "flight.h"
#include "sys.h"

#define BYTES_DEFAULT (1u << 20)
#define KEEP_DEFAULT 64u
#define KEEP_MAX 1000000u
#define PACKET_BYTES_MAX 65536u
#define PACKETS_A_RING 16u
#define BUFFER_MAX (64ull << 20) /* larger rings do not come round while they are written */
#define COPY_TRIES 8
#define PATTERN_MAX (2 * HODO_NAME_MAX)
#define PATTERNS_MAX 1024u

/* In ticks of whichever clock: a TSC's of some GHz, or nanoseconds. */
#define CLOCKS_TICKS (1ull << 28)       /* 0.1 s: between two readings of the clocks that are noted */
#define AGE_LOOK_TICKS (1ull << 40)     /* minutes: between two looks at the packets' ages */
#define AGE_TICKS (1ull << 43)          /* an hour; their time stamps are unambiguous for a day */

/* What is wanted: by the environment, or by hodo_flight_start(). */
static struct {
	bool on;        /* begin in this process and its fork children */
	bool waiting;   /* for the first event that the program has */
	bool lazy;      /* not before the program has events */
	bool bad;       /* what it says of events is no patterns */
	uint32_t keep;
	uint64_t bytes; /* a CPU, 2^n */
	uint32_t patterns, patterns_len;
	uint8_t text[HODO_CONFIG_TEXT_MAX];
	struct hodo_flight_path dir, env; /* env: what the environment says, "" if nothing */
} want;

static struct hodo_flight_path file; /* of the present recording; "" if there is none */
static uint32_t clocks_busy;
static uint64_t clocks_ticks, age_ticks; /* when the last one was noted, and ages were looked at */
static bool age_set;

static struct hodo_flight *flight_of(uint8_t *shm) { return (struct hodo_flight *)(shm + HODO_SHM_FLIGHT_HEAD); }

/* ------------------------------------------------------------ what is wanted */

static uint64_t round_up(uint64_t bytes)
{
	uint64_t n = HODO_PAGE;

	while (n < bytes)
		n *= 2;
	return n;
}

/* Bytes with K, M, G; 0 if it is not that. */
static uint64_t parse_bytes(const char *text)
{
	uint64_t n = 0, unit = 1;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (n > HODO_RING_MAX)
			return 0;
		n = n * 10 + (uint64_t)(*text - '0');
	}
	if (*text) {
		const char c = *text | 32;

		unit = c == 'k' ? 1u << 10 : c == 'm' ? 1u << 20 : c == 'g' ? 1u << 30 : 0;
		text++;
	}
	if (*text || !unit || n > HODO_RING_MAX / unit || n * unit < HODO_PAGE)
		return 0;
	return n * unit;
}

static bool add_pattern(const char *p, size_t len)
{
	size_t bang = len > 0 && p[0] == '!';
	const char *colon = len > bang ? memchr(p + bang, ':', len - bang) : 0;
	size_t n = want.patterns_len;

	if (len == bang || len > PATTERN_MAX || (colon && (colon == p + bang || colon == p + len - 1)))
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)p[i] <= ' ' || p[i] == 127)
			return false;
	}
	if (want.patterns >= PATTERNS_MAX || n + len + 3 > sizeof(want.text))
		return false;
	__builtin_memcpy(want.text + n, p, len);
	n += len;
	if (!colon) { /* "kv" is "kv:*" */
		want.text[n++] = ':';
		want.text[n++] = '*';
	}
	want.text[n++] = 0;
	want.patterns++;
	want.patterns_len = (uint32_t)n;
	return true;
}

/* Patterns between commas, as record/pattern.c has them. NULL or empty: none. */
static bool set_patterns(const char *text)
{
	want.patterns = want.patterns_len = 0;
	if (!text || !*text)
		return true;
	for (;;) {
		size_t n = 0;

		while (text[n] && text[n] != ',')
			n++;
		if (!add_pattern(text, n))
			return false;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

void hodo_flight_init(char *const *envp)
{
	const char *dir = hodo_environment(envp, HODO_FLIGHT_ENV), *size, *keep;

	if (!dir || !*dir || hodo_flight_path_dir(&want.env, dir) != 0) {
		want.env.s[0] = 0;
		return;
	}
	size = hodo_environment(envp, HODO_FLIGHT_SIZE_ENV);
	keep = hodo_environment(envp, HODO_FLIGHT_KEEP_ENV);
	want.dir = want.env;
	want.lazy = want.on = true;
	want.bytes = size ? round_up(parse_bytes(size)) : 0;
	if (!size || !parse_bytes(size))
		want.bytes = BYTES_DEFAULT;
	want.keep = keep && *keep ? 0 : KEEP_DEFAULT;
	for (; keep && *keep; keep++) {
		if (*keep < '0' || *keep > '9' || want.keep > KEEP_MAX) {
			want.keep = KEEP_DEFAULT;
			break;
		}
		want.keep = want.keep * 10 + (uint32_t)(*keep - '0');
	}
	want.bad = !set_patterns(hodo_environment(envp, HODO_FLIGHT_EVENTS_ENV));
}

/* -------------------------------------------------------------------- clocks */

static int64_t clock_ns(clockid_t id)
{
	struct timespec t = { 0 };

	hodo_sys2(SYS_clock_gettime, id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t ticks_now(uint32_t clock)
{
#ifdef __x86_64__
	if (clock == HODO_CLOCK_TSC) {
		_mm_lfence();
		return __rdtsc();
	}
#endif
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* The tightest of some tries: an interrupt between two readings would move the whole time line. */
static void read_clocks(struct hodo_moment *m, uint32_t clock, int tries)
{
	uint64_t best = UINT64_MAX;

	for (; tries > 0; tries--) {
		uint64_t before = ticks_now(clock);
		int64_t mono = clock_ns(CLOCK_MONOTONIC);
		uint64_t after = ticks_now(clock);
		int64_t real = clock_ns(CLOCK_REALTIME);
		uint64_t end = ticks_now(clock);

		if (end - before >= best)
			continue;
		best = end - before;
		m->mono_ns = mono;
		m->real_ns = real;
		m->ticks = clock == HODO_CLOCK_MONOTONIC ? (uint64_t)mono : before + (after - before) / 2;
	}
}

static void note_clocks(struct hodo_flight *f, int tries)
{
	uint32_t next = !f->latest;
	struct hodo_moment m = { 0 };

	read_clocks(&m, f->clock, tries);
	f->last[next] = m;
	/* Whole before it counts: a process that is killed in between leaves the other one. */
	hodo_store_release(&f->latest, next);
	hodo_store(&clocks_ticks, m.ticks);
}

/* Adds a bit to the words that are on, or takes it away; the control lock is not held: they may change meanwhile. */
static void change_on_words(uint32_t set, uint32_t keep)
{
	for (uint32_t i = 1; i <= hodo_load(&hodo_nevents); i++) {
		uint32_t *word = &hodo_on_words()[i], old = hodo_load(word);

		if (old != 0 && ((old & keep) | set) != old)
			hodo_cas_seq(word, &old, (old & keep) | set);
	}
}

/* What the consumer does elsewhere: packets that have been open for long are closed by their next event. */
static void look_at_ages(uint64_t now)
{
	bool old = false;

	for (uint32_t i = 0; i < hodo_recording.layout.rings && !old; i++) {
		const struct hodo_view *v = &hodo_recording.views[i];
		uint64_t word, since;

		if (!hodo_load_acquire(&v->packet_size))
			continue;
		word = hodo_load_acquire(&v->ring->word);
		since = hodo_load(&hodo_ring_packet(v, hodo_word_position(word))->timestamp_begin);
		old = since < now && now - since > hodo_recording.packet_age_ticks;
	}
	if (old)
		change_on_words(HODO_ON_AGE, ~0u);
	else if (age_set)
		change_on_words(0, ~HODO_ON_AGE);
	age_set = old;
	age_ticks = now;
}

/* In a section, at packet switches, with signals blocked. */
void hodo_flight_clocks(void)
{
	uint32_t idle = 0;
	uint64_t now;

	if (hodo_recording.by != HODO_BY_FLIGHT)
		return;
	now = hodo_clock_now();
	if (now - hodo_load(&clocks_ticks) < CLOCKS_TICKS || !hodo_cas_acquire(&clocks_busy, &idle, 1))
		return;
	HODO_INJECT(HODO_INJECT_FLIGHT);
	note_clocks(flight_of(hodo_recording.shm), 3);
	if (now - age_ticks > AGE_LOOK_TICKS)
		look_at_ages(now);
	hodo_store_release(&clocks_busy, 0);
}

/* --------------------------------------------------------------------- begin */

static long read_text(const char *path, char *text, size_t size)
{
	long fd = hodo_sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return fd;
	n = hodo_sys3(SYS_read, fd, text, size - 1);
	hodo_sys1(SYS_close, fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	return n;
}

/* The TSC where the kernel itself trusts it: on a machine where it does not, CPUs may disagree. */
static uint32_t choose_clock(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char text[32];

	if (!hodo_have_tsc() || read_text(path, text, sizeof(text)) < 3 || __builtin_memcmp(text, "tsc", 4) != 0)
		return HODO_CLOCK_MONOTONIC;
	return HODO_CLOCK_TSC;
}

static void make_config(struct hodo_msg_config *c)
{
	uint64_t packet = want.bytes / PACKETS_A_RING;

	c->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	if (hodo_sys3(SYS_getrandom, c->uuid, sizeof(c->uuid), 0) != sizeof(c->uuid)) {
		uint64_t now[2] = { (uint64_t)clock_ns(CLOCK_REALTIME), (uint64_t)hodo_sys0(SYS_getpid) };

		__builtin_memcpy(c->uuid, now, sizeof(c->uuid));
	}
	c->uuid[6] = (uint8_t)((c->uuid[6] & 15) | 64); /* RFC 4122, version 4 */
	c->uuid[8] = (uint8_t)((c->uuid[8] & 63) | 128);
	c->rings = hodo_possible_cpus() + 1;
	c->packet_size = (uint32_t)(packet < HODO_PACKET_MIN ? HODO_PACKET_MIN :
				    packet > PACKET_BYTES_MAX ? PACKET_BYTES_MAX : packet);
	c->ring_size = want.bytes;
	c->mode = HODO_MODE_OVERWRITE;
	c->clock = choose_clock();
	c->packet_age_ticks = AGE_TICKS;
	c->patterns = want.patterns;
	c->patterns_len = want.patterns_len;
	__builtin_memcpy(c->text, want.text, want.patterns_len);
}

static void fill_flight(struct hodo_flight *f, const struct hodo_msg_config *c, enum hodo_start start)
{
	char uts[6 * 65];
	long n;

	f->packet_size = c->packet_size;
	f->ring_size = c->ring_size;
	f->mode = c->mode;
	f->clock = c->clock;
	__builtin_memcpy(f->uuid, c->uuid, sizeof(f->uuid));
	f->ppid = (uint32_t)hodo_sys0(SYS_getppid);
	f->uid = (uint32_t)hodo_sys0(SYS_getuid);
	f->start = start;
	hodo_process_name(f->comm);
	n = hodo_sys3(SYS_readlink, "/proc/self/exe", f->exe, sizeof(f->exe) - 1);
	f->exe[n > 0 ? n : 0] = 0;
	if (hodo_sys1(SYS_uname, uts) == 0) /* sysname, nodename … of 65 bytes each */
		__builtin_memcpy(f->hostname, uts + 65, sizeof(f->hostname) - 1);
	read_text("/proc/sys/kernel/random/boot_id", f->boot_id, sizeof(f->boot_id));
	read_clocks(&f->first, f->clock, 8);
	f->size = sizeof(*f);
}

/* The file, mapped; no descriptor stays. 0 or negative errno. */
static int make_memory(const struct hodo_msg_config *c, enum hodo_start start, struct hodo_memory *memory)
{
	struct hodo_layout *l = &memory->layout;
	struct hodo_shm *head;
	bool locked = false;
	long fd;

	if (hodo_layout_init(l, c->rings, c->packet_size, c->ring_size) != 0)
		return -EINVAL;
	hodo_flight_file_prune(want.dir.s, want.keep);
	file = want.dir;
	fd = hodo_flight_file_make(&file, l->total, &locked);
	if (fd < 0)
		return (int)fd;
	memory->shm = hodo_mmap(l->total, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd);
	hodo_sys1(SYS_close, fd);
	if (hodo_is_error(memory->shm)) {
		hodo_sys3(SYS_unlinkat, AT_FDCWD, file.s, 0);
		return (int)(long)memory->shm;
	}
	/* Reading ahead in what holds nothing yet would make the first touch take milliseconds. */
	hodo_sys3(SYS_madvise, memory->shm, l->total, MADV_RANDOM);
	hodo_sys3(SYS_madvise, memory->shm, l->total, MADV_DONTFORK);
	hodo_sys3(SYS_madvise, memory->shm, l->total, 16 /* MADV_DONTDUMP */);
	head = (struct hodo_shm *)memory->shm;
	head->version = HODO_ABI_VERSION;
	head->rings = l->rings;
	head->pid = (uint32_t)hodo_sys0(SYS_getpid);
	head->flags = HODO_SHM_FLIGHT | (locked ? HODO_SHM_LOCKED : 0);
	fill_flight(flight_of(memory->shm), c, start);
	HODO_INJECT(HODO_INJECT_FLIGHT);
	/* Last: with it, all that stands above does. */
	hodo_compiler_barrier();
	__builtin_memcpy(head->magic, HODO_SHM_MAGIC, sizeof(head->magic));
	return 0;
}

static int begin(enum hodo_start start)
{
	static struct hodo_msg_config config; /* under the control lock, which makes it safe */
	struct hodo_memory memory = { .by = HODO_BY_FLIGHT };
	int error;

	make_config(&config);
	error = make_memory(&config, start, &memory);
	if (error) {
		file.len = 0;
		file.s[0] = 0;
		return error;
	}
	clocks_busy = 0;
	clocks_ticks = age_ticks = flight_of(memory.shm)->first.ticks;
	age_set = false;
	error = hodo_recording_take(&config, &memory);
	if (error) {
		hodo_recording_drop();
		hodo_sys3(SYS_unlinkat, AT_FDCWD, file.s, 0);
		file.s[0] = 0;
		return error;
	}
	error = hodo_recording_begin();
	/* Some time after the first one: a rough measure of the clock, should there be no later one. */
	note_clocks(flight_of(memory.shm), 3);
	return error;
}

int hodo_flight_begin(enum hodo_start start)
{
	int error = hodo_recording_possible();

	want.waiting = false;
	file.s[0] = 0;
	if (!want.on || want.bad)
		return -ENOTCONN;
	if (error)
		return error;
	/* A program that has no events leaves no file: a shell and what it starts would push those out that say
	 * something. One that opens a library with events later begins then. */
	if (hodo_nevents == 0 && want.lazy) {
		want.waiting = true;
		return -ENOTCONN;
	}
	return begin(start);
}

void hodo_flight_objects(void)
{
	if (want.waiting && hodo_nevents > 0)
		hodo_flight_begin(HODO_START_EXEC);
}

/* ------------------------------------------------------------------ copy, end */

static int write_at(int fd, const void *data, uint64_t len, uint64_t at)
{
	const uint8_t *p = data;

	while (len > 0) {
		long n = hodo_sys4(SYS_pwrite64, fd, p, len, at);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		p += n;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

/* A ring that is in use: the packets between the two commit words. buffer: of a ring's size, or NULL. */
static int copy_ring(int fd, uint32_t i, uint8_t *buffer)
{
	const struct hodo_layout *l = &hodo_recording.layout;
	const uint8_t *data = hodo_recording.shm + l->data + i * l->ring_size;
	struct hodo_ring *ring = (struct hodo_ring *)(hodo_recording.shm + hodo_layout_ring(i)), copy;
	uint64_t used = 0, packets = l->ring_size / l->packet_size, seq;
	int error = 0;

	__builtin_memset(&copy, 0, sizeof(copy));
	if (hodo_load_acquire(&ring->activation) != 2)
		return 0;
	copy.lost_full = hodo_load(&ring->lost_full);
	copy.lost_too_large = hodo_load(&ring->lost_too_large);
	copy.lost_busy = hodo_load(&ring->lost_busy);
	copy.activation = 2;
	for (int tries = 0; tries < COPY_TRIES; tries++) {
		/* Before the packets: what it says was committed is in them. */
		copy.word_before = hodo_load_acquire(&ring->word);
		/* In its first lap: only what has been begun. */
		seq = hodo_load_acquire(&((const struct hodo_packet *)(data + (hodo_word_position(copy.word_before) &
					  (l->ring_size - 1) & ~(uint64_t)(l->packet_size - 1))))->packet_seq_num);
		used = seq + 1 < packets ? (seq + 1) * l->packet_size : l->ring_size;
		/* At full speed a ring comes round in less time than a file takes: memory is faster. */
		if (buffer)
			__builtin_memcpy(buffer, data, used);
		else
			error = write_at(fd, data, used, l->data + i * l->ring_size);
		/* Behind them: it says which of them may have been written over meanwhile. Without the fence the
		 * load could be of a time before the last bytes were read. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		copy.word = hodo_load_acquire(&ring->word);
		if (error || (copy.word - copy.word_before) >> HODO_WORD_COUNT_BITS < l->ring_size / 4 * 3)
			break; /* else we were put aside while it came round: once more */
	}
	if (buffer)
		error = write_at(fd, buffer, used, l->data + i * l->ring_size);
	return error ? error : write_at(fd, &copy, sizeof(copy), hodo_layout_ring(i));
}

/* All but the rings; after them, so that every event in a packet has its description. */
static int copy_rest(int fd, const char *why, uint32_t number)
{
	const uint8_t *shm = hodo_recording.shm;
	uint32_t threads = hodo_load_acquire(&hodo_shm()->threads);
	uint8_t page[HODO_PAGE];
	struct hodo_shm *head = (struct hodo_shm *)page;
	int error;

	__builtin_memcpy(page, shm, sizeof(page));
	head->catalog_used = hodo_load_acquire(&hodo_shm()->catalog_used);
	head->flags = HODO_SHM_FLIGHT | HODO_SHM_SNAPSHOT;
	head->threads = threads < HODO_THREADS_MAX ? threads : HODO_THREADS_MAX;
	head->snapshots = number;
	__builtin_memset(head->why, 0, sizeof(head->why));
	for (size_t i = 0; why && why[i] && i < sizeof(head->why) - 1; i++)
		head->why[i] = why[i];
	note_clocks(flight_of(page), 3);
	error = write_at(fd, shm + HODO_SHM_CATALOG, head->catalog_used, HODO_SHM_CATALOG);
	if (!error)
		error = write_at(fd, shm + HODO_SHM_THREADS, head->threads * sizeof(struct hodo_thread),
				 HODO_SHM_THREADS);
	if (!error)
		error = write_at(fd, shm + HODO_SHM_LIMITED, 8ull * (hodo_nevents + 1), HODO_SHM_LIMITED);
	/* The first page last: a copy that was not finished has none. */
	return error ? error : write_at(fd, page, sizeof(page), 0);
}

int hodo_flight_copy(const char *why)
{
	static struct hodo_flight_path path; /* under the control lock */
	uint32_t number = hodo_load(&hodo_shm()->snapshots) + 1;
	uint64_t ring_size = hodo_recording.layout.ring_size;
	uint8_t *buffer = 0;
	int error = 0;
	long fd;

	path = file;
	fd = hodo_flight_file_snapshot(&path, hodo_recording.layout.total, &number);
	if (fd < 0)
		return (int)fd;
	if (ring_size <= BUFFER_MAX)
		buffer = hodo_mmap(ring_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
	if (hodo_is_error(buffer))
		buffer = 0;
	error = (int)hodo_sys2(SYS_ftruncate, fd, hodo_recording.layout.total);
	for (uint32_t i = 0; !error && i < hodo_recording.layout.rings; i++)
		error = copy_ring((int)fd, i, buffer);
	if (buffer)
		hodo_sys2(SYS_munmap, buffer, ring_size);
	if (!error)
		error = copy_rest((int)fd, why, number);
	hodo_sys1(SYS_close, fd);
	if (error) {
		hodo_sys3(SYS_unlinkat, AT_FDCWD, path.s, 0);
		return error;
	}
	hodo_store(&hodo_shm()->snapshots, number);
	return (int)number;
}

const char *hodo_flight_path(void)
{
	return hodo_recording.by == HODO_BY_FLIGHT ? file.s : "";
}

static void note_end(void)
{
	struct hodo_flight *f = flight_of(hodo_recording.shm);

	note_clocks(f, 3);
	hodo_store_release(&f->ended, 1);
}

void hodo_flight_ended(void)
{
	note_end();
	want.on = want.waiting = false; /* nor in fork children */
}

/* It only made room for a recorder: whoever begins recordings may begin it again. */
void hodo_flight_wait(void)
{
	want.on = true;
}

/* exit(): what other libraries' destructors trace is recorded still. */
static __attribute__((destructor(101))) void at_exit(void)
{
	uint64_t mask;

	/* A child that no fork handler has set up does not begin a recording to end with it. */
	if (hodo_recording.by != HODO_BY_FLIGHT || hodo_process_forked())
		return;
	mask = hodo_control_lock();
	/* A vfork child that calls exit() is not the process. */
	if (hodo_recording.on && hodo_recording.by == HODO_BY_FLIGHT &&
	    hodo_shm()->pid == (uint32_t)hodo_sys0(SYS_getpid))
		note_end();
	hodo_control_unlock(mask);
}

/* --------------------------------------------------------------------- public */

static int check_options(const struct hodo_flight_options *o)
{
	const uint8_t *bytes = (const uint8_t *)o;

	if (!o || o->size < sizeof(*o) || o->size > HODO_PAGE)
		return -EINVAL;
	for (size_t i = sizeof(*o); i < o->size; i++) {
		if (bytes[i]) /* a newer program wants what this library does not know */
			return -EINVAL;
	}
	if (o->buffer_bytes && (o->buffer_bytes < HODO_PAGE || o->buffer_bytes > HODO_RING_MAX))
		return -EINVAL;
	return o->directory ? (*o->directory ? 0 : -EINVAL) : want.env.s[0] ? 0 : -EINVAL;
}

static int start(const struct hodo_flight_options *o)
{
	int error = hodo_recording_possible();

	if (error)
		return error;
	error = check_options(o);
	if (!error && o->directory)
		error = hodo_flight_path_dir(&want.dir, o->directory);
	else if (!error)
		want.dir = want.env;
	if (!error && !set_patterns(o->events))
		error = -EINVAL;
	if (error)
		return error;
	if (!want.keep)
		want.keep = KEEP_DEFAULT;
	want.bytes = o->buffer_bytes ? round_up(o->buffer_bytes) : BYTES_DEFAULT;
	want.waiting = want.lazy = want.bad = false;
	error = begin(HODO_START_ATTACH);
	want.on = error == 0;
	return error;
}

HODO_PUBLIC int hodo_flight_start(const struct hodo_flight_options *options)
{
	uint64_t mask = hodo_control_lock();
	int error = start(options);

	hodo_control_unlock(mask);
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * fake.c - a process that joins a recording without libhodo: honestly, or in
 * one of the ways in which a broken or hostile one might.
 *
 * Usage: fake HOW [EVENTS | PATH]      linked statically, so that nothing is preloaded
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include <unit/record/writer.h>
#include <lib/random.h>

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static struct hodo_msg_config config;
static struct hodo_layout layout;
uint8_t *shm;
static int memfd;
uint64_t seed = 0x9e3779b97f4a7c15ull;
const char *argument = "";

void die(const char *what)
{
	fprintf(stderr, "fake: %s: %s\n", what, strerror(errno));
	exit(99);
}

int connect_recorder(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = getenv(HODO_RECORDER_ENV);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	size_t len = path ? strlen(path) : 0;

	if (len <= HODO_RECORDER_SUFFIX || len - HODO_RECORDER_SUFFIX >= sizeof(a.sun_path))
		die("no recorder");
	memcpy(a.sun_path, path, len - HODO_RECORDER_SUFFIX);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	/* Another user connects to the abstract address. */
	memset(&a.sun_path, 0, sizeof(a.sun_path));
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, HODO_RECORDER_ABSTRACT "%.*s", HODO_RECORDER_NAME,
		 path + len - HODO_RECORDER_SUFFIX + 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
								     strlen(a.sun_path + 1))) < 0)
		die("connect");
	return fd;
}

static uint64_t hello_key(void)
{
	char half[HODO_RECORDER_KEY / 2 + 1] = "";
	const char *path = getenv(HODO_RECORDER_ENV);

	memcpy(half, path + strlen(path) - HODO_RECORDER_KEY, sizeof(half) - 1);
	return strtoull(half, NULL, 16);
}

static struct hodo_msg_hello hello_message(void)
{
	struct hodo_msg_hello h = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_HELLO },
		.pid = (uint32_t)getpid(), .ppid = (uint32_t)getppid(), .cpus = 2, .start = HODO_START_EXEC, .tsc = 1,
		.comm = "fake", .exe = "/no/such/fake", .key = hello_key(),
	};
	return h;
}

/* Says hello and takes the configuration. False if the recorder hung up. */
bool say_hello(int fd)
{
	struct hodo_msg_hello h = hello_message();
	ssize_t len;

	if (send(fd, &h, sizeof(h), MSG_NOSIGNAL) != (ssize_t)sizeof(h))
		return false;
	len = recv(fd, &config, sizeof(config), 0);
	if (len < (ssize_t)offsetof(struct hodo_msg_config, text))
		return false;
	if (hodo_layout_init(&layout, config.rings, config.packet_size, config.ring_size) != 0)
		return false;
	if (config.functions_len) {
		struct hodo_functions_config f;

		memcpy(&f, config.text + config.patterns_len + config.filter_len, sizeof(f));
		if (f.tracers & 1u << HODO_TRACER_PROFILE)
			hodo_layout_add_profile(&layout);
		if (hodo_functions_end_only(f.tracers))
			hodo_layout_add_open(&layout);
	}
	return true;
}

static void make_memory(uint64_t size, int seals)
{
	struct hodo_shm *h;

	memfd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memfd < 0 || ftruncate(memfd, (off_t)size) < 0)
		die("memfd");
	shm = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
	if (shm == MAP_FAILED)
		die("mmap");
	h = (struct hodo_shm *)shm;
	memcpy(h->magic, HODO_SHM_MAGIC, sizeof(h->magic));
	h->version = HODO_ABI_VERSION;
	h->rings = layout.rings;
	h->pid = (uint32_t)getpid();
	if (size >= HODO_SHM_RINGS)
		h->catalog_used = writer_catalog(shm + HODO_SHM_CATALOG);
	if (seals && fcntl(memfd, F_ADD_SEALS, seals) < 0)
		die("seals");
}

static bool send_ready(int fd, const int *fds, unsigned int n)
{
	struct hodo_msg_ready m = { { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_READY }, 2 };
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, n * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(m);
}

/* Waits until the recorder hangs up, which it does once it has decided. */
void wait_hangup(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) > 0)
		;
	close(fd);
}

void join(void)
{
	int fd = connect_recorder();

	if (!say_hello(fd))
		die("hello");
	make_memory(layout.total, ALL_SEALS);
	if (!send_ready(fd, &memfd, 1))
		die("ready");
	wait_hangup(fd);
}

static struct writer writer_for(uint32_t ring)
{
	struct writer w = {
		.ring = (struct hodo_ring *)(shm + hodo_layout_ring(ring)),
		.packets = shm + layout.data + ring * layout.ring_size,
		.ring_size = layout.ring_size, .packet_size = layout.packet_size, .mode = config.mode,
		.cpu = ring == layout.rings - 1 ? HODO_CPU_ANY : ring,
	};
	return w;
}

/* ---------------------------------------------------------------- honest */

static void honest(uint64_t events)
{
	struct writer w, fallback;

	join();
	w = writer_for(0);
	fallback = writer_for(layout.rings - 1);
	for (uint64_t i = 0; i < events; i++) {
		writer_event(&w, i);
		if (i % 10 == 0)
			writer_text(&fallback, "some text", (uint32_t)i);
		if (i % 1000 == 0)
			usleep(100);
	}
	printf("%llu\n", (unsigned long long)(w.written + fallback.written));
}

/* Calls, returns and events of two threads in one packet, 30 for each line of standard input. */
static void pieces(uint64_t lines)
{
	struct hodo_shm *h;
	uint64_t used, i = 0;
	struct writer w;

	join();
	h = (struct hodo_shm *)shm;
	used = h->catalog_used;
	writer_catalog_calls(shm + HODO_SHM_CATALOG, &used);
	__atomic_store_n(&h->catalog_used, used, __ATOMIC_RELEASE);
	w = writer_for(0);
	w.threads = 1;
	for (char line[8]; lines > 0 && fgets(line, sizeof(line), stdin); lines--)
		for (uint64_t end = i + 30; i < end; i++)
			writer_any(&w, i);
	printf("%llu\n", (unsigned long long)w.written);
}

/* Names that TSDL or a terminal could stumble over, all types, and a text for each of them. */
static void odd_names(uint64_t events)
{
	static const uint8_t types[] = { HODO_TYPE_I8, HODO_TYPE_U8, HODO_TYPE_STR, HODO_TYPE_F64 };
	static const char *const fields[] = { "event", "_x", "int", "struct" };
	static const uint8_t data[] = { 0xff, 7, 2, 0, 'o', 'k', 0, 0, 0, 0, 0, 0, 0xf8, 0x3f };
	struct hodo_shm *h;
	uint64_t used;
	struct writer w;

	join();
	h = (struct hodo_shm *)shm;
	used = h->catalog_used;
	writer_catalog_event(shm + HODO_SHM_CATALOG, &used, 3, "odd:a\"b\\c\n*/ x", types, 4, fields);
	writer_catalog_warning(shm + HODO_SHM_CATALOG, &used, "bell \a and \033[31m red */ text");
	__atomic_store_n(&h->catalog_used, used, __ATOMIC_RELEASE);
	w = writer_for(1);
	for (uint64_t i = 0; i < events; i++)
		writer_raw(&w, 3, data, sizeof(data));
	printf("%llu\n", (unsigned long long)w.written);
}

/* --------------------------------------------------------- at the socket */

static void bad_hello(const void *message, size_t len)
{
	int fd = connect_recorder();

	send(fd, message, len, MSG_NOSIGNAL);
	wait_hangup(fd);
}

static void wrong_magic(uint64_t n)
{
	struct hodo_msg_hello h = hello_message();

	(void)n;
	h.head.magic ^= 1;
	bad_hello(&h, sizeof(h));
}

static void wrong_version(uint64_t n)
{
	struct hodo_msg_hello h = hello_message();

	(void)n;
	h.head.version++;
	bad_hello(&h, sizeof(h));
}

static void short_hello(uint64_t n)
{
	struct hodo_msg_hello h = hello_message();

	(void)n;
	bad_hello(&h, sizeof(h) - 1);
}

static void long_hello(uint64_t n)
{
	char big[60000] = { 0 };
	struct hodo_msg_hello h = hello_message();

	(void)n;
	memcpy(big, &h, sizeof(h));
	bad_hello(big, sizeof(big));
}

static void hang(uint64_t n)
{
	int fd = connect_recorder();

	(void)n;
	wait_hangup(fd); /* the recorder's deadline ends it */
}

static void hang_after_hello(uint64_t n)
{
	int fd = connect_recorder();

	(void)n;
	say_hello(fd);
	wait_hangup(fd);
}

static void leave_after_hello(uint64_t n)
{
	(void)n;
	say_hello(connect_recorder());
}

static void many_connections(uint64_t n)
{
	for (uint64_t i = 0; i < (n ? n : 100); i++)
		connect_recorder();
	sleep(1);
}

/* Says hello correctly, then hands over a buffer that is not as it must be. */
static void bad_ready(uint64_t size_change, int seals, unsigned int fds)
{
	int fd = connect_recorder(), two[2];

	if (!say_hello(fd))
		die("hello");
	make_memory(layout.total + size_change, seals);
	two[0] = two[1] = memfd;
	send_ready(fd, two, fds);
	wait_hangup(fd);
}

static void no_fd(uint64_t n)
{
	(void)n;
	bad_ready(0, ALL_SEALS, 0);
}

static void two_fds(uint64_t n)
{
	(void)n;
	bad_ready(0, ALL_SEALS, 2);
}

static void unsealed(uint64_t n)
{
	(void)n;
	bad_ready(0, F_SEAL_GROW, 1);
}

static void wrong_size(uint64_t n)
{
	(void)n;
	bad_ready(-(uint64_t)HODO_PAGE, ALL_SEALS, 1);
}

static void read_only(uint64_t n)
{
	int fd = connect_recorder();

	(void)n;
	if (!say_hello(fd))
		die("hello");
	make_memory(layout.total, ALL_SEALS);
	munmap(shm, layout.total);
	if (fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
		die("seal");
	send_ready(fd, &memfd, 1);
	wait_hangup(fd);
}

static void pipe_for_memory(uint64_t n)
{
	int fd = connect_recorder(), ends[2];

	(void)n;
	if (!say_hello(fd) || pipe(ends) < 0)
		die("hello");
	send_ready(fd, ends, 1);
	wait_hangup(fd);
}

static void no_header(uint64_t n)
{
	int fd = connect_recorder();

	(void)n;
	if (!say_hello(fd))
		die("hello");
	make_memory(layout.total, ALL_SEALS);
	memset(shm, 0xa5, sizeof(struct hodo_shm));
	send_ready(fd, &memfd, 1);
	wait_hangup(fd);
}

/* ----------------------------------------------------- in shared memory */

static void garbage_words(uint64_t n)
{
	join();
	for (uint32_t r = 0; r < layout.rings; r++)
		for (size_t i = 0; i < sizeof(struct hodo_ring) / 8; i++)
			((uint64_t *)(shm + hodo_layout_ring(r)))[i] = xorshift(&seed);
	for (size_t i = 6; i < HODO_PAGE / 8; i++)
		((uint64_t *)shm)[i] = xorshift(&seed);
	((struct hodo_shm *)shm)->threads = (uint32_t)xorshift(&seed);
	for (uint64_t i = 0; i < n + 20000; i++)
		((uint64_t *)(shm + HODO_SHM_THREADS))[i] = xorshift(&seed);
	usleep(20000);
}

static void limited(uint64_t n)
{
	join();
	((struct hodo_shm *)shm)->limited = n;
	((uint64_t *)(shm + HODO_SHM_LIMITED))[1] = n;
}

/* A ring that has one event as well counts n losses of each kind. */
static void lost(uint64_t n)
{
	struct writer w;

	join();
	w = writer_for(0);
	writer_event(&w, 0);
	w.ring->lost_full = w.ring->lost_too_large = w.ring->lost_busy = n;
}

static void garbage_catalog(uint64_t n)
{
	static const uint64_t used[] = { UINT64_MAX, HODO_CATALOG_SIZE, HODO_CATALOG_SIZE + 8, 1, 1000 };
	struct hodo_shm *h;

	join();
	h = (struct hodo_shm *)shm;
	for (uint64_t i = 0; i < 100000; i++)
		((uint64_t *)(shm + HODO_SHM_CATALOG))[i] = n ? xorshift(&seed) % n : xorshift(&seed);
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		h->catalog_used = used[i];
		usleep(5000);
	}
}

/* Records with true sizes and absurd contents, and one that claims to be endless. */
static void absurd_catalog(uint64_t n)
{
	struct hodo_shm *h;
	uint64_t at;

	(void)n;
	join();
	h = (struct hodo_shm *)shm;
	at = h->catalog_used;
	for (uint16_t id = 3; id < 2000; id++) {
		struct hodo_record_event r = { .head = { 64, (uint16_t)(1 + id % 4), id }, .kind = (uint8_t)id,
					       .nfields = (uint8_t)(id % 20) };

		memcpy(shm + HODO_SHM_CATALOG + at, &r, sizeof(r));
		for (int i = (int)sizeof(r); i < 64; i++)
			shm[HODO_SHM_CATALOG + at + (uint64_t)i] = (uint8_t)(id % 3 ? xorshift(&seed) : 0);
		at += 64;
	}
	((struct hodo_record *)(shm + HODO_SHM_CATALOG + at))->size = 0xfffffff8u;
	__atomic_store_n(&h->catalog_used, at + 4096, __ATOMIC_RELEASE);
	usleep(20000);
}

/* A profile of nonsense. n 0: all of it; 1: correct batches of few functions, which change while they are read. */
static void garbage_profile(uint64_t n)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64,
					 HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_ARRAY | HODO_TYPE_U32,
					 HODO_TYPE_U64, HODO_TYPE_U64 };
	static const char *const fields[] = { "addr", "tid", "calls", "total", "self", "min", "max", "buckets", "sum",
					      "no_exit" };
	struct hodo_profile_entry *e;
	struct hodo_shm *h;
	uint64_t used, at;

	join();
	if (!layout.profile)
		die("no profile");
	h = (struct hodo_shm *)shm;
	e = (struct hodo_profile_entry *)(shm + layout.profile);
	at = used = h->catalog_used;
	writer_catalog_event(shm + HODO_SHM_CATALOG, &used, 3, "func:profile", types, 10, fields);
	((struct hodo_record_event *)(shm + HODO_SHM_CATALOG + at))->kind = HODO_KIND_FUNCTION;
	__atomic_store_n(&h->catalog_used, used, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < 4000; i++) {
		for (size_t j = 0; j < sizeof(*e) / 8; j++)
			((uint64_t *)&e[i])[j] = xorshift(&seed);
		if (n && i % HODO_PROFILE_BATCH == 0)
			e[i].addr = HODO_PROFILE_THREAD;
		else if (n)
			e[i].addr = 0x1000 + e[i].addr % 50;
	}
	h->functions = h->functions_on = (uint32_t)xorshift(&seed);
	h->func_missed = h->func_deep = h->func_threads = h->profile_lost = UINT64_MAX;
	h->profile_used = n ? 4000 : UINT64_MAX;
	if (n && fork() == 0) {
		alarm(1);
		for (;;)
			((uint64_t *)e)[xorshift(&seed) % (4000 * sizeof(*e) / 8)] = xorshift(&seed) % 3;
	}
}

/* Positions and headers that jump while they are read. */
static void jump(uint64_t n)
{
	struct writer w[2];
	pid_t pid;

	join();
	w[0] = writer_for(0);
	w[1] = writer_for(1);
	pid = fork();
	if (pid == 0) {
		for (;;) {
			uint64_t at = xorshift(&seed) % (2 * layout.ring_size);

			shm[layout.data + at] ^= (uint8_t)(1u << (xorshift(&seed) % 8));
			if (xorshift(&seed) % 64 == 0)
				w[0].ring->word += xorshift(&seed) % 2 ? 1 : 1ull << (20 + xorshift(&seed) % 30);
			if (xorshift(&seed) % 512 == 0)
				w[1].ring->word = xorshift(&seed);
		}
	}
	for (uint64_t i = 0; i < n + 200000; i++) {
		writer_event(&w[0], i);
		if (i % 2)
			writer_text(&w[1], "text", (uint32_t)i);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Honest but for one packet in the middle whose events make no sense. */
static void stray_write(uint64_t events)
{
	struct writer w;

	join();
	w = writer_for(0);
	for (uint64_t i = 0; i < events; i++) {
		writer_event(&w, i);
		if (i == events / 2)
			memset(w.packets + (((w.ring->word >> HODO_WORD_COUNT_BITS) - 14) & (w.ring_size - 1)),
			       0xee, 6);
	}
	printf("%llu\n", (unsigned long long)w.written);
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} ways[] = {
	{ "honest", honest },
	{ "pieces", pieces },
	{ "odd-names", odd_names },
	{ "wrong-magic", wrong_magic },
	{ "wrong-version", wrong_version },
	{ "short-hello", short_hello },
	{ "long-hello", long_hello },
	{ "hang", hang },
	{ "hang-after-hello", hang_after_hello },
	{ "leave-after-hello", leave_after_hello },
	{ "many-connections", many_connections },
	{ "no-fd", no_fd },
	{ "two-fds", two_fds },
	{ "unsealed", unsealed },
	{ "wrong-size", wrong_size },
	{ "read-only", read_only },
	{ "pipe", pipe_for_memory },
	{ "no-header", no_header },
	{ "garbage-words", garbage_words },
	{ "limited", limited },
	{ "lost", lost },
	{ "garbage-catalog", garbage_catalog },
	{ "absurd-catalog", absurd_catalog },
	{ "garbage-profile", garbage_profile },
	{ "jump", jump },
	{ "stray-write", stray_write },
	{ "plan-flood", plan_flood },
	{ "plan-unasked", plan_unasked },
	{ "plan-again", plan_again },
	{ "plan-still", plan_still },
	{ "plan-short", plan_short },
	{ "plan-descriptor", plan_descriptor },
	{ "plan-leave", plan_leave },
	{ "plan-exec", plan_exec },
	{ "images-garbage", images_garbage },
	{ "images-changing", images_changing },
	{ "images-path", images_path },
	{ "images-drop", images_drop },
	{ "images-pid", images_pid },
	{ "images-lost", images_lost },
	{ "images-many", images_many },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 2 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		argument = argc > 2 ? argv[2] : "";
		ways[i].run(strtoull(argument, NULL, 10));
		return 0;
	}
	fprintf(stderr, "usage: fake HOW [EVENTS]\n");
	return 99;
}

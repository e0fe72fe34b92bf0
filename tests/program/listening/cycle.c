/* SPDX-License-Identifier: MIT */
/*
 * cycle.c - cycle ROUNDS SEED PID SOCKET: records a process that listens, again and again, for moments, using only
 * the protocol; each recording must hold whole events, in sequence for each thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <hodo/abi.h>
#include <lib/records.h>
#include <record/catalog.h>
#include <record/conditions.h>
#include <read/event/filter_compile.h>
#include <record/ring/ring_reader.h>

#define THREADS_MAX 64
#define EVENTS_MAX (1u << 22)
#define FAIL(...) (fprintf(stderr, "cycle: " __VA_ARGS__), fputc('\n', stderr), exit(1))

struct tick {
	uint64_t ts;
	uint64_t n;
};
static struct tick *ticks[THREADS_MAX];
static uint32_t nticks[THREADS_MAX];
static struct hodo_catalog catalog;
static const uint8_t *shm;
static struct hodo_msg_config config;
static uint64_t last_n[THREADS_MAX], total_events, total_lost, rounds_full, calls, short_calls;
static bool functions;

static uint64_t rnd(void)
{
	static uint64_t x;

	if (!x)
		x = strtoull(getenv("CYCLE_SEED") ? getenv("CYCLE_SEED") : "1", NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		FAIL("%s: %s", path, strerror(errno));
	return fd;
}

static void ask(int fd, uint32_t op, const char *text)
{
	struct hodo_msg_control m = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONTROL }, .op = op };

	snprintf(m.text, sizeof(m.text), "%s", text);
	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		FAIL("request %u: %s", op, strerror(errno));
}

static int answer(int fd)
{
	struct hodo_msg_answer a;

	if (recv(fd, &a, sizeof(a), 0) != sizeof(a) || a.head.type != HODO_MSG_ANSWER)
		FAIL("no answer: %s", strerror(errno));
	return a.result;
}

/* Triggers that never fire, or change nothing; rates that nothing reaches. */
static void add_conditions(void)
{
	static const char *const texts[] = { "live:* if thread == 99 -> stop", "live:tick if n >= 0 -> start",
					     "live:text if text =~ \"never*\" || n < 0 -> exit after 3" };
	struct hodo_conditions c = { .n = 0 };
	struct hodo_why why;

	for (uint64_t i = 0, n = 1 + rnd() % 8; i < n; i++)
		if (rnd() % 4 ? hodo_conditions_add_trigger(&c, texts[rnd() % 3], &why) :
				hodo_conditions_add_rate(&c, "live:*=1000000000/s:1000000000", &why))
			FAIL("condition: %s", why.text);
	hodo_conditions_pack(&c, 2000000000, config.text + config.filter_len + config.functions_len);
	config.conditions = c.n;
	config.conditions_len = (uint32_t)c.bytes;
	if (hodo_conditions_have(&c, HODO_CONDITION_START) && rnd() % 2)
		config.flags = HODO_CONFIG_AWAITS_START;
	hodo_conditions_free(&c);
}

static void make_config(uint32_t cpus)
{
	size_t filter = 0;

	memset(&config, 0, offsetof(struct hodo_msg_config, text));
	config.head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	config.rings = cpus + 1;
	config.packet_size = 1024u << rnd() % 7;
	config.ring_size = config.packet_size * (4ull << rnd() % 9);
	config.mode = rnd() % 2;
	config.clock = rnd() % 4 ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	config.packet_age_ticks = 1ull << 50;
	if (rnd() % 3 == 0) { /* each event takes the slow path; different programs, all of which accept every event */
		static const char *const filters[] = {
			"n >= 0 && thread < 64", "thread < 64", "!(thread == 77 || thread == 78) && n + 1 > 0",
			"(thread & 0x40) == 0 ? !has(text) || len(text) >= 0 : text =~ \"*never*\"",
			"thread != 1000 && thread != 1001 && thread != 1002 && thread != 1003 && n >= -5",
		};
		char error[100];

		if (hodo_filter_compile(filters[rnd() % 5], config.text, HODO_FILTER_MAX, &filter, error,
					sizeof(error)))
			FAIL("filter: %s", error);
		config.filter_len = (uint32_t)filter;
	}
	if (functions && rnd() % 4) {
		struct hodo_functions_config f = { .size = sizeof(f), .tracers = (uint32_t)(rnd() % 64),
						   .depth_max = (uint32_t)(rnd() % 3), .ticks_per_s = 2000000000 };

		if (rnd() % 2)
			f.tracers = 1u << HODO_TRACER_RECORD;
		memcpy(config.text + config.filter_len, &f, sizeof(f));
		config.functions_len = sizeof(f);
	}
	if (rnd() % 4 == 0)
		add_conditions();
	for (int i = 0; i < 16; i++)
		config.uuid[i] = (uint8_t)rnd();
}

static int receive_memory(int fd)
{
	struct hodo_msg_ready ready;
	struct iovec io = { &ready, sizeof(ready) };
	char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	int memfd;

	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) != sizeof(ready) || !CMSG_FIRSTHDR(&msg))
		FAIL("no memory came: %s", strerror(errno));
	memcpy(&memfd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return memfd;
}

/* ------------------------------------------------------------------- checks */

static const struct hodo_read_layouts *table(void *arg)
{
	(void)arg;
	hodo_catalog_read(&catalog, shm + HODO_SHM_CATALOG,
			  __atomic_load_n(&((const struct hodo_shm *)shm)->catalog_used, __ATOMIC_ACQUIRE));
	return &catalog.walk;
}

static const char *name_of(uint16_t id)
{
	for (uint32_t i = 0; i < catalog.events; i++)
		if (catalog.event[i]->id == id)
			return catalog.event[i]->name;
	FAIL("unknown id %u", id);
}

/* Threads live as long as the process: the anchors give a thread the same number in all recordings. */
static void check_thread(const char *name, uint32_t thread, uint32_t tid)
{
	static uint32_t tids[THREADS_MAX];

	if (thread >= THREADS_MAX)
		FAIL("%s: thread %u: torn", name, thread);
	for (uint32_t i = 0; !tids[thread] && i < THREADS_MAX; i++)
		if (tids[i] == tid)
			FAIL("%s: thread %u has the number %u of thread %u", name, thread, tid, i);
	if (tids[thread] && tids[thread] != tid)
		FAIL("%s: thread %u has the number %u, and had %u", name, thread, tid, tids[thread]);
	tids[thread] = tid;
}

/* … and its calls lie on its stack. */
static void check_stack(const struct record *r)
{
	static struct {
		uint32_t tid;
		uint64_t frame;
	} stack[THREADS_MAX];
	uint32_t i = 0;

	while (i < THREADS_MAX && stack[i].tid && stack[i].tid != r->tid)
		i++;
	if (i == THREADS_MAX)
		FAIL("a call of thread %u: too many threads", r->tid);
	if (!stack[i].tid)
		stack[i].frame = r->frame;
	stack[i].tid = r->tid;
	if (r->frame + (1 << 20) - stack[i].frame > 2 << 20)
		FAIL("a call of thread %u at %#llx, far from %#llx", r->tid, (unsigned long long)r->frame,
		     (unsigned long long)stack[i].frame);
}

/* Size of the fields of an event of that name. */
static uint32_t take_fields(const char *name, const uint8_t *p, const struct record *r)
{
	uint64_t n;
	uint32_t thread;

	if (strcmp(name, "live:signalled") == 0)
		return 8;
	memcpy(&thread, p, 4);
	memcpy(&n, p + 4, 8);
	check_thread(name, thread, r->tid);
	if (strcmp(name, "live:tick") == 0) {
		if (!ticks[thread])
			ticks[thread] = malloc(EVENTS_MAX * sizeof(struct tick));
		if (nticks[thread] == EVENTS_MAX)
			FAIL("too many events");
		ticks[thread][nticks[thread]++] = (struct tick){ r->time, n };
		return 12;
	}
	if (strcmp(name, "live:text") == 0) {
		char expected[32];
		uint16_t len;

		snprintf(expected, sizeof(expected), "thread %u at work", thread);
		memcpy(&len, p + 12, 2);
		if (len != strlen(expected) || memcmp(p + 14, expected, len) != 0 || n % 8)
			FAIL("%s: torn", name);
		return 12 + 2 + len;
	}
	FAIL("event %s", name);
}

/* Size of an event about a function, whose fields are of many kinds. */
static uint64_t function_bytes(const uint8_t *p, const uint8_t *end)
{
	uint64_t bytes = hodo_layouts_size_at(&catalog.walk, p, (uint64_t)(end - p));

	return bytes ? bytes : (uint64_t)(end - p + 1);
}

static void packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct record record = record_begin(h->timestamp_begin);
	const uint8_t *end = body + h->content_size / 8 - sizeof(*h);
	bool anchored = false;

	(void)arg;
	(void)r;
	total_events += h->events;
	while (body < end) {
		const uint8_t *p = body;

		body += record_take(&record, p);
		anchored |= record.form == RECORD_ANCHOR;
		if (!anchored)
			FAIL("a packet does not begin with an anchor");
		if (record.form == RECORD_EVENT && strncmp(name_of(record.id), "func:", 5) == 0) {
			body = p + function_bytes(p, end);
			calls++;
		} else if (record.form == RECORD_EVENT) {
			body += take_fields(name_of(record.id), body, &record);
		} else if (record.form != RECORD_ANCHOR) {
			check_stack(&record);
			short_calls++;
		}
	}
	if (body != end)
		FAIL("a packet ends inside an event");
}

static int by_n(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	return x->n < y->n ? -1 : x->n > y->n;
}

static void check_ticks(bool complete)
{
	for (unsigned t = 0; t < THREADS_MAX; t++) {
		struct tick *e = ticks[t];

		if (nticks[t])
			qsort(e, nticks[t], sizeof(*e), by_n);
		for (uint32_t i = 0; i < nticks[t]; i++) {
			if (i && e[i].ts < e[i - 1].ts)
				FAIL("thread %u: event %llu is older than the one before", t, (unsigned long long)e[i].n);
			if (i && (e[i].n == e[i - 1].n || (complete && e[i].n != e[i - 1].n + 1)))
				FAIL("thread %u: %llu follows %llu", t, (unsigned long long)e[i].n,
				     (unsigned long long)e[i - 1].n);
			if (e[i].n < last_n[t])
				FAIL("thread %u: an event of an earlier recording", t);
		}
		if (nticks[t])
			last_n[t] = e[nticks[t] - 1].n + 1;
		nticks[t] = 0;
	}
}

static void check(const struct hodo_layout *layout)
{
	struct hodo_ring_sink sink = { packet, table, NULL };
	uint8_t *copy = malloc(layout->packet_size);
	uint64_t lost = 0;

	memset(&catalog, 0, sizeof(catalog));
	table(NULL);
	for (uint32_t i = 0; i < layout->rings; i++) {
		struct hodo_ring *ring = (struct hodo_ring *)(shm + hodo_layout_ring(i));
		struct hodo_ring_reader r;
		uint64_t word = ring->word;

		hodo_ring_reader_init(&r, ring, shm + layout->data + i * layout->ring_size, layout,
				      (enum hodo_mode)config.mode, copy);
		hodo_ring_finish(&r, &sink, false);
		if (r.lost.damaged || r.broken || r.damage)
			FAIL("ring %u is damaged", i);
		lost += r.lost.full + r.lost.overwritten + r.lost.busy + r.lost.too_large;
		if (ring->word != word)
			FAIL("ring %u was written after the end", i);
	}
	check_ticks(lost == 0);
	total_lost += lost;
	rounds_full += lost != 0;
	hodo_catalog_free(&catalog);
	free(copy);
}

/* --------------------------------------------------------------------- rounds */

static void wait_ended(int fd, const char *socket)
{
	const struct hodo_shm *head = (const struct hodo_shm *)shm;
	struct pollfd p = { fd, POLLIN, 0 };
	char byte;

	if (rnd() % 2) { /* another client ends it; then the process closes the connection */
		int other = connect_to(socket);

		ask(other, HODO_CONTROL_END, "");
		if (answer(other) != 0)
			FAIL("END was refused");
		close(other);
		if (poll(&p, 1, 5000) != 1 || recv(fd, &byte, 1, 0) != 0)
			FAIL("the connection stands after the end");
		close(fd);
	} else {
		close(fd);
	}
	for (int i = 0; !__atomic_load_n(&head->ended, __ATOMIC_ACQUIRE); i++) {
		struct timespec pause = { 0, 100000 };

		if (i > 100000)
			FAIL("the recording does not end");
		nanosleep(&pause, NULL);
	}
}

static void one(const char *socket)
{
	struct timespec some = { 0, (long)(rnd() % 4000000) };
	struct hodo_msg_hello hello;
	struct hodo_layout layout;
	int fd = connect_to(socket), memfd, result;

	/* We see the end of the previous recording a moment before the process has finished it. */
	for (int i = 0;; i++) {
		ask(fd, HODO_CONTROL_RECORD, "");
		result = answer(fd);
		if (result == 0)
			break;
		if (result != -EBUSY || i > 1000)
			FAIL("RECORD: %s", strerror(-result));
		usleep(1000);
	}
	if (recv(fd, &hello, sizeof(hello), 0) != sizeof(hello) || hello.start != HODO_START_ATTACH)
		FAIL("no hello");
	make_config(hello.cpus);
	hodo_layout_init(&layout, config.rings, config.packet_size, config.ring_size);
	if (config.functions_len && config.text[config.filter_len + 4] & 1u << HODO_TRACER_PROFILE)
		hodo_layout_add_profile(&layout);
	if (config.functions_len && hodo_functions_end_only((uint8_t)config.text[config.filter_len + 4]))
		hodo_layout_add_open(&layout);
	if (send(fd, &config, offsetof(struct hodo_msg_config, text) + config.filter_len + config.functions_len +
			    config.conditions_len,
		 MSG_NOSIGNAL) < 0)
		FAIL("config: %s", strerror(errno));
	memfd = receive_memory(fd);
	shm = mmap(NULL, layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
	if (shm == MAP_FAILED)
		FAIL("mmap: %s", strerror(errno));
	nanosleep(&some, NULL);
	wait_ended(fd, socket);
	check(&layout);
	munmap((void *)shm, layout.total);
	close(memfd);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;

	if (!rounds)
		FAIL("usage: cycle ROUNDS SOCKET");
	functions = getenv("CYCLE_FUNCTIONS") != NULL;
	for (int i = 0; i < rounds; i++)
		one(argv[2]);
	if (functions && (!calls || !short_calls))
		FAIL("%llu events of functions, %llu calls", (unsigned long long)calls,
		     (unsigned long long)short_calls);
	printf("%d recordings, %llu events, %llu lost in %llu of them\n", rounds, (unsigned long long)total_events,
	       (unsigned long long)total_lost, (unsigned long long)rounds_full);
	return total_events == 0;
}

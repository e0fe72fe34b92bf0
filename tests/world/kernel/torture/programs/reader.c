/* SPDX-License-Identifier: MIT */
/*
 * reader discard|overwrite MILLISECONDS PATTERN... - records through the file `record` as a recorder does, and checks
 * what it gets: closed packets have their number and sizes, impossible positions are
 * refused. Prints how many packets it has read. If MILLISECONDS is 0, it goes on until SIGTERM, then ends in order.
 */
#include <hodo/abi_kernel.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PACKET_SIZE (64u << 10)
#define RING_SIZE (1u << 20)

static int file;
static uint8_t *memory;
static struct hodo_layout layout;
static uint64_t seen[HODO_CPUS_MAX]; /* packets of each ring */
static uint64_t packets;
static volatile sig_atomic_t over;

static void on_term(int signal)
{
	over = signal;
}

static void fail(const char *what)
{
	fprintf(stderr, "reader: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void begin(enum hodo_mode mode, char *const *patterns, uint32_t n)
{
	static struct hodo_msg_config config;
	size_t len = 0;

	for (uint32_t i = 0; i < n; i++) {
		size_t more = strlen(patterns[i]) + 1;

		if (len + more > HODO_CONFIG_TEXT_MAX)
			fail("patterns");
		memcpy(config.text + len, patterns[i], more);
		len += more;
	}

	config.head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	memset(config.uuid, 0x5a, sizeof(config.uuid));
	config.rings = 0;
	config.packet_size = PACKET_SIZE;
	config.ring_size = RING_SIZE;
	config.mode = mode;
	config.clock = HODO_CLOCK_MONOTONIC;
	config.patterns = n;
	config.patterns_len = (uint32_t)len;
	file = open(HODO_KERNEL_DEVICE, O_RDWR);
	if (file < 0)
		fail("open");
	len += offsetof(struct hodo_msg_config, text);
	if (write(file, &config, len) != (ssize_t)len)
		fail("write");
}

/* The first page of the memory gives its size. */
static void map(void)
{
	const struct hodo_shm *shm = mmap(NULL, HODO_PAGE, PROT_READ, MAP_SHARED, file, 0);

	if (shm == MAP_FAILED)
		fail("mmap of the first page");
	if (hodo_layout_init(&layout, shm->rings, PACKET_SIZE, RING_SIZE))
		fail("layout");
	memory = mmap(NULL, layout.total, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	if (mmap(NULL, HODO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED) {
		errno = 0;
		fail("it can be mapped for writing");
	}
}

static int put(uint32_t ring, uint64_t n)
{
	struct hodo_kernel_consumed consumed = { .ring = ring, .packets = n };

	return ioctl(file, HODO_IOC_CONSUMED, &consumed);
}

static void refused(uint32_t ring, uint64_t n)
{
	if (put(ring, n) == 0 || errno != EINVAL) {
		fprintf(stderr, "reader: ring %u: packets %llu are taken\n", ring, (unsigned long long)n);
		exit(1);
	}
}

/* Checks a closed packet, to which nobody writes until we give it back: mode discard. */
static void look_at(uint32_t ring, uint64_t number)
{
	const struct hodo_packet *packet = (const void *)(memory + layout.data + ring * layout.ring_size +
							  number * layout.packet_size % layout.ring_size);

	if (packet->magic != HODO_CTF_MAGIC || packet->packet_seq_num != number ||
	    packet->content_size > 8ull * PACKET_SIZE || packet->timestamp_end < packet->timestamp_begin) {
		fprintf(stderr, "reader: ring %u: packet %llu is not whole\n", ring, (unsigned long long)number);
		exit(1);
	}
}

static void read_ring(uint32_t ring, enum hodo_mode mode)
{
	const struct hodo_ring *control = (const void *)(memory + hodo_layout_ring(ring));
	uint64_t word = __atomic_load_n(&control->word, __ATOMIC_ACQUIRE);
	uint64_t open = (word >> HODO_WORD_COUNT_BITS) / layout.packet_size;

	for (; seen[ring] < open; seen[ring]++, packets++)
		if (mode == HODO_MODE_DISCARD)
			look_at(ring, seen[ring]);
	refused(ring, open + 1000);
	refused(ring, ~0ull);
	refused(layout.rings, 0);
	if (put(ring, seen[ring]))
		fail("HODO_IOC_CONSUMED");
	if (seen[ring])
		refused(ring, seen[ring] - 1);
}

int main(int argc, char **argv)
{
	enum hodo_mode mode = argc > 1 && strcmp(argv[1], "overwrite") == 0 ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD;
	uint64_t until = argc > 2 ? strtoull(argv[2], NULL, 10) : 100, age = 0;
	struct sigaction term = { .sa_handler = on_term, .sa_flags = SA_RESTART };
	struct pollfd poll_for;

	sigaction(SIGTERM, &term, NULL);
	begin(mode, argv + 3, argc > 3 ? (uint32_t)argc - 3 : 0);
	map();
	poll_for = (struct pollfd){ .fd = file, .events = POLLIN };
	until = until ? now_ms() + until : UINT64_MAX;
	while (!over && now_ms() < until) {
		if (poll(&poll_for, 1, 20) < 0 && errno != EINTR)
			fail("poll");
		for (uint32_t ring = 0; ring < layout.rings; ring++)
			read_ring(ring, mode);
	}
	if (ioctl(file, HODO_IOC_STOP) || ioctl(file, HODO_IOC_FLUSH, &age))
		fail("stop");
	for (uint32_t ring = 0; ring < layout.rings; ring++)
		read_ring(ring, mode);
	printf("%llu packets\n", (unsigned long long)packets);
	return 0;
}

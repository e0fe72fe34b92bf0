/* SPDX-License-Identifier: MIT */
/*
 * count - what was written to hodo.ko's buffer of CPU 0 since the recording began: prints "EVENTS BYTES", and
 * "lost N" on standard error where events were.
 */
#include <errno.h>
#include <fcntl.h>
#include <hodo/abi.h>
#include <hodo/abi_kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "count: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(void)
{
	uint64_t size, word, packet_size, position;
	int fd = open(HODO_KERNEL_DEVICE, O_RDONLY);
	uint32_t cpu = 0;
	const struct hodo_ring *ring;
	const struct hodo_packet *packet;
	const uint8_t *data;

	if (fd < 0 || ioctl(fd, HODO_IOC_CHOOSE, &cpu) < 0 || ioctl(fd, HODO_IOC_GET_SIZE, &size) < 0)
		fail(HODO_KERNEL_DEVICE);
	ring = mmap(NULL, HODO_PAGE + size, PROT_READ, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		fail("mmap");
	word = __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE);
	if (word == 0) {
		puts("0 0");
		return 0;
	}
	/* All packets are as large as the first. */
	data = (const uint8_t *)ring + HODO_PAGE;
	packet_size = ((const struct hodo_packet *)data)->packet_size / 8;
	position = word >> HODO_WORD_COUNT_BITS;
	packet = (const void *)(data + position % size / packet_size * packet_size);
	printf("%llu %llu\n", (unsigned long long)(packet->events_before + (word & HODO_WORD_COUNT_MASK)),
	       (unsigned long long)(packet->packet_seq_num * packet_size + position % packet_size));
	if (ring->lost_full + ring->lost_too_large + ring->lost_busy != 0)
		fprintf(stderr, "count: lost %llu\n",
			(unsigned long long)(ring->lost_full + ring->lost_too_large + ring->lost_busy));
	return 0;
}

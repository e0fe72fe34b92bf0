/* SPDX-License-Identifier: MIT */
/* ring.h - what the programs share: the control tree, one ring mapped, its events. */
#ifndef RING_H
#define RING_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hodo/abi_kernel.h>

#define WHICH 99 /* no valid value: setpriority() does nothing but make its event */

static int failures;

static inline void say(bool good, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline void say(bool good, const char *name, const char *format, ...)
{
	__builtin_va_list args;

	if (good) {
		printf("ok %s\n", name);
		return;
	}
	failures++;
	printf("not ok %s ", name);
	__builtin_va_start(args, format);
	vprintf(format, args);
	__builtin_va_end(args);
	printf("\n");
}

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(3);
}

static inline int open_tree(const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), HODO_KERNEL_DIR "/%s", name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens the device, as one ring or as HODO_RING_ALL. */
static inline int open_ring(uint32_t ring, int flags)
{
	int fd = open(HODO_KERNEL_DEVICE, flags | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, HODO_IOC_CHOOSE, &ring) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Returns 0 or a negative errno. */
static inline int put(const char *name, const char *text)
{
	int fd = open_tree(name, O_WRONLY), err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline void get(const char *name, char *text, size_t size)
{
	int fd = open_tree(name, O_RDONLY);
	size_t n = 0;
	ssize_t more = 1;

	while (fd >= 0 && n < size - 1 && (more = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)more;
	if (fd < 0 || more < 0)
		die(name);
	text[n] = '\0';
	close(fd);
}

/* The event that emit() makes: its id, the place of its number in the payload, and the number's bytes. */
#define EVENT "events/syscalls/sys_enter_setpriority"
struct event {
	unsigned int id, offset, bytes;
};

static inline struct event find_event(void)
{
	char text[4096], *at;
	struct event e;

	get(EVENT "/format", text, sizeof(text));
	at = strstr(text, "ID: ");
	if (!at || sscanf(at, "ID: %u", &e.id) != 1)
		die("ID");
	at = strstr(text, " who;");
	if (!at || sscanf(at, " who; offset:%u", &e.offset) != 1)
		die("offset of who");
	e.bytes = 0;
	for (at = text; (at = strstr(at, "offset:")); at += 7) {
		unsigned int offset, size;

		if (sscanf(at, "offset:%u; size:%u", &offset, &size) != 2)
			die("size");
		e.bytes = offset + size;
	}
	return e;
}

static inline void emit(uint32_t number)
{
	setpriority(WHICH, number, 0);
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

struct ring {
	int fd;
	uint64_t size, packet_size;
	const struct hodo_ring *control;
	const uint8_t *data;
};

static inline uint64_t ring_get(const struct ring *r, unsigned long what)
{
	uint64_t value;

	if (ioctl(r->fd, what, &value) < 0)
		die("ioctl");
	return value;
}

/* Returns 0 or a negative errno. */
static inline int ring_put(const struct ring *r, uint64_t value)
{
	return ioctl(r->fd, HODO_IOC_PUT_CONSUMED, &value) < 0 ? -errno : 0;
}

static inline int ring_open(struct ring *r, uint32_t cpu)
{
	char text[32];
	void *at;

	r->fd = open_ring(cpu, O_RDONLY);
	if (r->fd < 0)
		return r->fd;
	get("packet_size_kb", text, sizeof(text));
	r->packet_size = strtoull(text, NULL, 10) << 10;
	r->size = ring_get(r, HODO_IOC_GET_SIZE);
	at = mmap(NULL, HODO_PAGE + r->size, PROT_READ, MAP_SHARED, r->fd, 0);
	if (at == MAP_FAILED)
		die("mmap");
	r->control = at;
	r->data = (const uint8_t *)at + HODO_PAGE;
	return 0;
}

static inline void ring_close(struct ring *r)
{
	munmap((void *)r->control, HODO_PAGE + r->size);
	close(r->fd);
}

static inline const struct hodo_packet *ring_packet(const struct ring *r, uint64_t position)
{
	return (const void *)(r->data + (position & (r->size - 1) & ~(r->packet_size - 1)));
}

#endif

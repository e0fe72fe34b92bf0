/* SPDX-License-Identifier: MIT */
/*
 * hostile ROUNDS - probes as nobody should ask for them: one byte changed, cut, too long, too many, twice,
 * too late. Refusals give an error, and probes that are taken do no harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <hodo/abi_kernel.h>

static int failures;

static void say(bool good, const char *name, int err)
{
	printf(good ? "ok %s\n" : "not ok %s errno %d\n", name, err);
	failures += !good;
}

static union {
	struct hodo_kprobe k;
	uint8_t bytes[HODO_KPROBE_SIZE_MAX + 4096];
} message;

static size_t put_name(size_t at, const char *name)
{
	strcpy((char *)message.bytes + at, name);
	return at + strlen(name) + 1;
}

/* A probe with a number from the first argument's memory, and a text. */
static void make(const char *function, const char *event)
{
	struct hodo_kprobe *k = &message.k;
	size_t at;

	memset(&message, 0, sizeof(message));
	k->values = 2;
	k->value[0] = (struct hodo_kprobe_value){ .type = HODO_TYPE_U32, .from = HODO_KPROBE_ARGUMENT, .steps = 1,
						  .load = 4, .offset = { 8, 16 } };
	k->value[1] = (struct hodo_kprobe_value){ .type = HODO_TYPE_STR, .from = HODO_KPROBE_ARGUMENT, .number = 1,
						  .text_max = 100 };
	at = put_name((size_t)((uint8_t *)&k->value[2] - message.bytes), function);
	at = put_name(at, event);
	at = put_name(at, "number");
	k->size = (uint32_t)put_name(at, "text");
}

static int set(int fd)
{
	return ioctl(fd, HODO_IOC_KPROBE, &message) < 0 ? errno : 0;
}

static int open_device(void)
{
	int fd = open(HODO_KERNEL_DEVICE, O_RDWR);

	if (fd < 0)
		exit(2);
	return fd;
}

static void check_one(const char *name, int expected)
{
	int fd = open_device(), err = set(fd);

	say(err == expected, name, err);
	close(fd);
}

/* All probes come by one file; closing it removes those that were taken. */
static void change(unsigned int rounds)
{
	int fd = open_device(), bad = 0, taken = 0, err;

	srand(7);
	for (unsigned int i = 0; i < rounds; i++) {
		make("vfs_fsync_range", "changed");
		for (unsigned int n = i % 3 + 1; n > 0; n--)
			message.bytes[(unsigned int)rand() % message.k.size] = (uint8_t)rand();
		err = set(fd);
		taken += err == 0;
		bad += err && err != EBADMSG && err != ENOENT && err != EINVAL && err != EILSEQ && err != EEXIST &&
		       err != EOPNOTSUPP && err != EFAULT && err != ERANGE;
	}
	say(bad == 0, "changed", bad);
	printf("# %d of %u were taken\n", taken, rounds);
	close(fd);
}

static void too_many(void)
{
	int fd = open_device(), err = 0, n;
	char name[32];

	for (n = 0; n <= (int)HODO_KPROBES_MAX && !err; n++) {
		snprintf(name, sizeof(name), "many%d", n);
		make("vfs_fsync_range", name);
		err = set(fd);
	}
	say(err == ENOSPC && n == (int)HODO_KPROBES_MAX + 1, "too_many", err);
	close(fd);
}

static void too_late(void)
{
	static struct hodo_msg_config c = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG }, .packet_size = 4096,
		.ring_size = 65536, .mode = HODO_MODE_DISCARD, .clock = HODO_CLOCK_MONOTONIC, .patterns = 1,
	};
	int fd = open_device(), other = open_device(), err;

	c.patterns_len = 1 + (uint32_t)sprintf((char *)c.text, "kprobe:*");
	make("vfs_fsync_range", "once");
	say(set(fd) == 0, "taken", errno);
	err = set(fd);
	say(err == EEXIST, "twice", err);
	err = set(other);
	say(err == EEXIST, "another's", err);
	say(write(fd, &c, offsetof(struct hodo_msg_config, text) + c.patterns_len) > 0, "begun", errno);
	make("vfs_fsync_range", "late");
	err = set(fd);
	say(err == EBUSY, "too_late", err);
	close(fd);
	close(other);
	make("vfs_fsync_range", "once");
	check_one("gone_with_its_file", 0);
}

int main(int argc, char **argv)
{
	int fd;

	make("vfs_fsync_range", "event");
	message.k.size--;
	check_one("cut", EBADMSG);
	message.k.size += 2;
	check_one("longer", EBADMSG);
	message.k.size = 8;
	check_one("tiny", EBADMSG);
	message.k.size = sizeof(message);
	check_one("huge", EBADMSG);
	make("vfs_fsync_range", "a/b");
	check_one("folder", EBADMSG);
	make("no_such_function_here", "event");
	check_one("no_function", ENOENT);
	make("hodo_emit_nested", "event");
	check_one("its_own_code", EINVAL);
	fd = open_device();
	say(ioctl(fd, HODO_IOC_KPROBE, (void *)16) < 0 && errno == EFAULT, "nowhere", errno);
	close(fd);
	change(argc > 1 ? (unsigned int)atoi(argv[1]) : 100);
	too_many();
	too_late();
	return failures ? 1 : 0;
}

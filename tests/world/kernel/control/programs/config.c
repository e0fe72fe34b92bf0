/* SPDX-License-Identifier: MIT */
/* config - the control tree while a recorder records; invalid configurations of recorders. */
#include "ring.h"

static void state(const char *name, const char *wanted)
{
	char text[64];

	get("enabled", text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	say(strcmp(text, wanted) == 0, name, "enabled is %s", text);
}

static int record(struct hodo_msg_config *c, size_t len)
{
	int fd = open(HODO_KERNEL_DEVICE, O_RDWR);

	if (fd < 0)
		die(HODO_KERNEL_DEVICE);
	if (write(fd, c, len) == (ssize_t)len)
		return fd;
	len = (size_t)errno;
	close(fd);
	return -(int)len;
}

/* The device's file keeps the role that it was given first, and takes no other. */
static void check_choice(const struct hodo_msg_config *c, size_t len)
{
	struct hodo_kernel_consumed consumed = { 0 };
	uint32_t ring = HODO_CPUS_MAX + 1, all = HODO_RING_ALL;
	uint64_t value = 0;
	int fd = open(HODO_KERNEL_DEVICE, O_RDWR);

	say(ioctl(fd, HODO_IOC_GET_SIZE, &value) < 0 && errno == ENODATA, "choice_none", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_CHOOSE, &ring) < 0 && errno == EINVAL, "choice_no_such", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_CHOOSE, &all) == 0, "choice_all", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_CHOOSE, &all) < 0 && errno == EBUSY, "choice_once", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_CONSUMED, &consumed) < 0 && errno == ENOTTY, "choice_only_looks", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_STOP) < 0 && errno == ENOTTY, "choice_stops_nothing", "errno %d", errno);
	say(write(fd, c, len) < 0 && errno == EBUSY, "choice_no_config", "errno %d", errno);
	close(fd);
	fd = open_ring(0, O_RDWR);
	say(ioctl(fd, HODO_IOC_CONSUMED, &consumed) < 0 && errno == ENOTTY, "choice_ring", "errno %d", errno);
	say(ioctl(fd, HODO_IOC_PUT_CONSUMED, &value) == 0, "choice_ring_moves", "errno %d", errno);
	close(fd);
}

int main(void)
{
	static struct hodo_msg_config c = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG }, .packet_size = 4096,
		.ring_size = 65536, .mode = HODO_MODE_DISCARD, .clock = HODO_CLOCK_MONOTONIC, .patterns = 1,
	};
	const size_t head = offsetof(struct hodo_msg_config, text);
	int fd, err;

	/* The control tree's recording stays until another recording begins. */
	put("enabled", "1");
	put("enabled", "0");
	c.patterns_len = 1 + (uint32_t)sprintf((char *)c.text, "syscalls:sys_enter_setpriority");
	err = record(&c, head + c.patterns_len - 1);
	say(err == -EINVAL, "config_cut", "%d", err);
	c.packet_size = 3000;
	err = record(&c, head + c.patterns_len);
	say(err == -EINVAL, "config_size", "%d", err);
	fd = open_ring(0, O_RDONLY);
	say(fd >= 0, "config_size_costs_nothing", "%d", fd);
	close(fd);
	c.packet_size = 4096;
	fd = record(&c, head + c.patterns_len);
	say(fd >= 0, "recorder_starts", "%d", fd);
	state("recorder_is_shown", "1");
	err = put("enabled", "1");
	say(err == -EBUSY, "recorder_excludes_tree", "%d", err);
	err = put("reset", "1");
	say(err == -EBUSY, "recorder_excludes_reset", "%d", err);
	err = put("mode", "discard");
	say(err == -EBUSY, "recorder_excludes_mode", "%d", err);
	err = put("enabled", "0");
	say(err == 0, "recorder_can_be_stopped", "%d", err);
	state("recorder_is_stopped", "0");
	err = put("enabled", "1");
	say(err == -EBUSY, "recorder_must_close_first", "%d", err);
	close(fd);
	err = put("enabled", "1");
	say(err == 0, "recorder_has_closed", "%d", err);
	err = record(&c, head + c.patterns_len);
	say(err == -EBUSY, "tree_excludes_recorder", "%d", err);
	put("enabled", "0");
	check_choice(&c, head + c.patterns_len);
	return failures ? 1 : 0;
}

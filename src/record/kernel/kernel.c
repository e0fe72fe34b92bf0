/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - recording the kernel.
 *
 * The module's memory is not hostile, but the same code checks it as a process's memory.
 */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <hodo/abi_kernel.h>

#include <base/file.h>
#include <base/scope.h>

#include <record/ring/lend.h>
#include <record/process_impl.h>
#include <record/ring/shm.h>
#include <record/write/snapshot.h>

extern char **environ;

/* NULL: the kernel's own. */
static const char *other_dir(void)
{
	const char *dir = getenv("HODO_KERNEL_DIR");

	return dir && *dir ? dir : NULL;
}

const char *hodo_kernel_dir(void)
{
	const char *dir = other_dir();

	return dir ? dir : HODO_KERNEL_DIR;
}

/* ------------------------------------------------------------------ opening */

/* Once, and silently: opening again shows whether it helped. */
static void load_module(void)
{
	static const char *const places[] = { "/sbin/modprobe", "/usr/sbin/modprobe" };
	char *const argv[] = { "modprobe", "-q", "hodo", NULL };
	posix_spawn_file_actions_t quiet;
	int status, err = ENOENT;
	pid_t pid;

	if (posix_spawn_file_actions_init(&quiet) != 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && err; i++)
		err = posix_spawn(&pid, places[i], &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	if (!err)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
}

/* Whether the kernel is locked down, for that reason, or for any if it is NULL. */
static bool is_locked_down(const char *why)
{
	char text[128];

	if (hodo_file_line(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof(text)) <= 0)
		return false;
	return why ? strstr(text, why) != NULL : strchr(text, '[') && !strstr(text, "[none]");
}

static void tell_missing(struct hodo_why *why)
{
	struct utsname u = { .release = "?" };

	uname(&u);
	if (!other_dir() && access(HODO_KERNEL_DIR, F_OK) == 0)
		hodo_why(why, 0, "the kernel module hodo is loaded, but there is no %s: mount devtmpfs on /dev, or "
			 "make the device with the numbers in /sys/class/misc/hodo/dev", HODO_KERNEL_DEVICE);
	else if (is_locked_down(NULL))
		hodo_why(why, 0, "the kernel module hodo is not loaded, and modprobe cannot load it; the kernel is "
			 "locked down and accepts only signed modules: install it (hodo-dkms), sign hodo.ko with a "
			 "key that this machine trusts, then modprobe hodo");
	else
		hodo_why(why, 0, "the kernel module hodo is not loaded, and modprobe does not find it for Linux %s: "
			 "install it (hodo-dkms), or load hodo.ko with insmod", u.release);
}

/* The path of one of them, which is not always a separate file. */
static void place_of(const char *name, char *path, size_t size)
{
	if (!other_dir() && strcmp(name, "info") != 0)
		snprintf(path, size, HODO_KERNEL_DEVICE);
	else
		snprintf(path, size, "%s/%s", hodo_kernel_dir(), name);
}

static void tell_open(const char *name, int err, struct hodo_why *why)
{
	bool forbidden = err == -EACCES || err == -EPERM;
	char path[4096];

	place_of(name, path, sizeof(path));
	if ((forbidden || err == -ENOENT) && geteuid() != 0)
		hodo_why(why, 0, "only root may trace the kernel: run hodo as root, or with CAP_PERFMON");
	else if (err == -ENOENT)
		tell_missing(why);
	else if (forbidden && is_locked_down("[confidentiality]"))
		hodo_why(why, 0, "the kernel is locked down (confidentiality), which forbids tracing it: boot it "
			 "with lockdown=integrity, or without lockdown");
	else if (forbidden && !other_dir())
		hodo_why(why, 0, "%s: %s: give hodo CAP_PERFMON, and boot the kernel without "
			 "lockdown=confidentiality", path, strerror(-err));
	else
		hodo_why(why, 0, "%s: %s: %s", path, strerror(-err), hodo_remedy(err));
}

/* Devices are told by ioctl() what to open; for text files, the first byte shows whether they may be read. */
static int try_use(const char *name, int fd)
{
	uint32_t ring = HODO_RING_ALL;
	char c;

	if (strcmp(name, "memory") == 0 && !other_dir())
		return ioctl(fd, HODO_IOC_CHOOSE, &ring) < 0 ? -errno : 0;
	if (strcmp(name, "info") == 0)
		return pread(fd, &c, 1, 0) < 0 ? -errno : 0;
	return 0;
}

static int try_open(const char *name, int flags)
{
	char path[4096];
	int fd, err;

	place_of(name, path, sizeof(path));
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = try_use(name, fd);
	if (err < 0)
		close(fd);
	return err < 0 ? err : fd;
}

int hodo_kernel_open(const char *name, int flags, struct hodo_why *why)
{
	int fd = try_open(name, flags);

	if (fd == -ENOENT && geteuid() == 0 && !other_dir()) {
		load_module();
		fd = try_open(name, flags);
	}
	if (fd < 0)
		tell_open(name, fd, why);
	return fd;
}

int hodo_kernel_check(struct hodo_why *why)
{
	HODO_AUTO_CLOSE int fd = try_open("record", O_RDWR);

	if (fd < 0)
		tell_open("record", fd, why);
	return fd < 0 ? fd : 0;
}

/* The first page of a file's memory. */
union head {
	struct hodo_shm shm;
	struct {
		uint8_t before[HODO_SHM_FLIGHT_HEAD];
		struct hodo_flight flight;
	};
	uint8_t page[HODO_PAGE];
};

/* A copy of it. 0 or negative errno. */
static int read_head(int fd, union head *head)
{
	const void *page = mmap(NULL, HODO_PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	hodo_shm_copy(head, page, HODO_PAGE);
	munmap((void *)(uintptr_t)page, HODO_PAGE);
	return 0;
}

/* Checked before an earlier recording is moved needlessly. */
static bool is_recorded(void)
{
	HODO_AUTO_CLOSE int fd = try_open("memory", O_RDONLY);
	union head head;

	return fd >= 0 && read_head(fd, &head) == 0 && !head.shm.ended;
}

static int fail_busy(struct hodo_why *why)
{
	return hodo_why(why, -EBUSY, "the kernel is already being recorded: end the other 'hodo record -k', or the "
			"control tree's: echo 0 > %s/enabled", hodo_kernel_dir());
}

int hodo_kernel_open_record(struct hodo_why *why)
{
	int fd = hodo_kernel_open("record", O_RDWR, why);

	if (fd >= 0 && is_recorded()) {
		close(fd);
		fd = -EBUSY;
	}
	return fd == -EBUSY ? fail_busy(why) : fd;
}

/* ---------------------------------------------------------------- its memory */

static int fail_version(struct hodo_why *why)
{
	return hodo_why(why, -EPROTO, "the loaded kernel module hodo is another version than this hodo: load the one "
			"that came with it");
}

/* Copies the first page, if it is ours. 0; or a negative errno and why. */
static int take_head(int fd, union head *head, struct hodo_why *why)
{
	int err = read_head(fd, head);

	if (err)
		return hodo_why_errno(why, err, "the kernel's buffers cannot be mapped");
	if (memcmp(head->shm.magic, HODO_SHM_MAGIC, sizeof(head->shm.magic)) != 0 ||
	    head->shm.version != HODO_ABI_VERSION)
		return fail_version(why);
	return 0;
}

/* Maps all of it. 0; or a negative errno and why. */
static int map_memory(int fd, const struct hodo_layout *layout, const uint8_t **shm, struct hodo_why *why)
{
	void *map = mmap(NULL, layout->total, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (map == MAP_FAILED)
		return hodo_why_errno(why, -errno, "the kernel's buffers cannot be mapped");
	*shm = map;
	return 0;
}

static int take_memory(struct hodo_lent *m, struct hodo_why *why)
{
	union head head;
	int err = take_head(m->fd, &head, why);

	if (err)
		return err;
	m->flight = head.flight;
	if (m->flight.mode == HODO_MODE_DISCARD)
		return hodo_why(why, -EOPNOTSUPP, "the recording of the kernel is not a flight recorder, so that it "
				"already holds every event: snapshots are for 'hodo record -k --overwrite', or the "
				"control tree's flight recorder");
	hodo_boot_id(m->flight.boot_id, sizeof(m->flight.boot_id)); /* the memory cannot be from another boot */
	if (hodo_layout_init(&m->layout, head.shm.rings, m->flight.packet_size, m->flight.ring_size) < 0 ||
	    hodo_snapshot_layout(&m->flight, head.shm.rings, m->layout.total, &m->layout) < 0)
		return fail_version(why);
	return map_memory(m->fd, &m->layout, &m->shm, why);
}

int hodo_kernel_memory(struct hodo_lent *m, struct hodo_why *why)
{
	int err;

	*m = (struct hodo_lent){ .fd = hodo_kernel_open("memory", O_RDONLY, why) };
	if (m->fd == -ENODATA)
		hodo_why(why, 0, "the kernel is not being recorded: start that with 'hodo record -k --overwrite', or "
			 "with echo 1 > %s/enabled", hodo_kernel_dir());
	if (m->fd < 0)
		return m->fd;
	err = take_memory(m, why);
	if (err)
		hodo_lent_unmap(m);
	return err;
}

/* ------------------------------------------------------------------ recording */

/* The kernel computes only with integers. */
static const char *config_flaw(int err, bool functions)
{
	switch (-err) {
	case ENOMEM:
		return "there is no memory for the kernel's buffers: give a smaller -m";
	case ESRCH:
		return "the kernel has no such traceable function: "
		       "/sys/kernel/tracing/available_filter_functions";
	case EOPNOTSUPP:
		return functions ? "this kernel was built without CONFIG_DYNAMIC_FTRACE: its functions cannot be traced; or it "
				   "cannot take this clock: record with --clock monotonic" :
				   "the kernel's events cannot take this clock: record with --clock monotonic";
	case EINVAL:
		return "the kernel refuses these options: a --filter or --trigger has a floating-point "
		       "number, or sizes are too large, or the module hodo is another version";
	default:
		return strerror(-err);
	}
}

static int ask(struct hodo_recorder *s, int fd, const struct hodo_pattern_list *patterns, const uint8_t uuid[16],
	       struct hodo_why *why)
{
	struct hodo_msg_config m;
	size_t len = hodo_config_make(s, patterns, uuid, NULL, true, &m);
	ssize_t n = write(fd, &m, len);
	int err = n == (ssize_t)len ? 0 : n < 0 ? -errno : -EPROTO;

	if (err == -EBUSY)
		return fail_busy(why);
	if (!err)
		return 0;
	return hodo_why(why, err, "%s", config_flaw(err, s->config.functions && s->config.functions_of_kernel));
}

static int map_process(struct hodo_process *p, struct hodo_why *why)
{
	const struct hodo_recorder_config *config = &p->recorder->config;
	const uint8_t *shm = NULL;
	union head head;
	int err = take_head(p->memfd, &head, why);

	if (err)
		return err;
	if (hodo_layout_init(&p->layout, head.shm.rings, config->packet_size, config->ring_size) < 0)
		return fail_version(why);
	err = map_memory(p->memfd, &p->layout, &shm, why);
	p->shm = (uint8_t *)(uintptr_t)shm; /* nothing is stored there */
	return err;
}

int hodo_recorder_add_kernel(struct hodo_recorder *s, int fd, const struct hodo_pattern_list *patterns,
			     struct hodo_why *why)
{
	struct hodo_process_id id = { 0 };
	struct hodo_process *p;
	int err;

	hodo_recorder_choose_clock(s, true); /* it has what this processor has */
	hodo_config_describe(s, s->total.processes, &id.flight);
	id.flight.start = HODO_START_ATTACH;
	strcpy(id.flight.comm, "kernel");
	p = hodo_process_new(s, &id, -1, fd);
	if (!p)
		return hodo_why_memory(why);
	p->kernel = true;
	err = ask(s, fd, patterns, id.flight.uuid, why);
	if (!err)
		err = map_process(p, why);
	/* Without it, functions have no names. */
	if (!err && s->config.functions && s->config.functions_of_kernel)
		hodo_kernel_functions_object(&p->catalog);
	if (!err && hodo_process_join(p) < 0)
		err = hodo_why_memory(why);
	if (err)
		hodo_process_free(p);
	return err;
}

bool hodo_recorder_has_kernel(const struct hodo_recorder *s)
{
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		if (hodo_process_of_module(p))
			return true;
	return false;
}

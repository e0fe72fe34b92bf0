/* SPDX-License-Identifier: MIT */
/*
 * users MODULE ROUNDS - loads and unloads the module, which is control_events.ko or hodo.ko itself, while others use
 * the files of its events, and the tree's: nothing may hang, each answer must be a possible one, and nothing may
 * be left.
 *
 * It makes no process while recordings begin and end: QEMU before 8.1 may miss a change to code that another CPU is
 * translating at that moment, and fork() is one of the places that change then.
 */
#include "ring.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define USERS 3

struct shared {
	bool enough;
	unsigned int turns[USERS], strange[USERS], met[USERS];
};
static struct shared *shared;

/* What a module's users use. */
struct module {
	const char *name, *folder;
	const char *files[6];
	const char *enable, *filter, *expression;
	bool fires, all;
};
static const struct module modules[] = {
	{ "control_events", "events/control_test",
	  { "/fixed/enable", "/fixed/format", "/variable/filter", "/variable/format", "/enable", "/empty/filter" },
	  "/fixed/enable", "/variable/filter", "number > 5", true, true },
	{ "hodo", "events/syscalls",
	  { "/sys_enter_sync/enable", "/sys_enter_sync/format", "/sys_exit_sync/filter", "/sys_exit_sync/format",
	    "/enable", "/sys_enter_getppid/filter" },
	  "/sys_enter_sync/enable", "/sys_exit_sync/filter", "ret > 5", false, false },
};
static const struct module *module;

/* Possible results of an operation: it was done, the file has gone, or the recording belongs to another. */
static bool possible(int err)
{
	return err >= 0 || err == -ENOENT || err == -EIO || err == -ENODATA || err == -EBUSY || err == -ENODEV;
}

static int use_read(int fd)
{
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return fd;
	do
		n = read(fd, text, sizeof(text));
	while (n > 0);
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

static void of_module(char name[128], const char *file)
{
	snprintf(name, 128, "%s%s", module->folder, file);
}

/* Uses a file of the module's events, which is sometimes open when it is removed. */
static void use_events(unsigned int me, unsigned int turn)
{
	char name[128];
	int err, fd;

	of_module(name, module->files[turn % 6]);
	fd = open_tree(name, O_RDONLY);
	if (fd >= 0)
		shared->met[me]++;
	if (turn % 16 == 0)
		usleep(2000);
	err = use_read(fd);
	shared->strange[me] += !possible(err);
	of_module(name, module->enable);
	err = put(name, turn & 1 ? "1" : "0");
	shared->strange[me] += !possible(err);
	of_module(name, module->filter);
	err = put(name, turn & 1 ? module->expression : "number >");
	shared->strange[me] += !possible(err) && err != -EINVAL;
	if (!module->all)
		return;
	of_module(name, "/enable");
	err = put(name, turn & 2 ? "1" : "0");
	shared->strange[me] += !possible(err);
}

/* Uses files that do not belong to one module. */
static void use_tree(unsigned int me, unsigned int turn)
{
	static const char *const files[] = { "info", "overflow", "events/enable", "events/control_other/enable" };
	static const char *const actions[] = { "enabled", "reset", "enabled" };
	struct ring r;
	int err;

	err = use_read(open_tree(files[turn % 4], O_RDONLY));
	shared->strange[me] += !possible(err);
	err = put(actions[turn % 3], turn % 3 == 2 ? "0" : "1");
	shared->strange[me] += !possible(err);
	err = ring_open(&r, 1);
	shared->strange[me] += !possible(err);
	if (err < 0)
		return;
	shared->met[me]++;
	ring_get(&r, HODO_IOC_GET_PRODUCED);
	ring_close(&r);
}

static void use(unsigned int me)
{
	while (!__atomic_load_n(&shared->enough, __ATOMIC_RELAXED)) {
		if (me == 0)
			use_tree(me, shared->turns[me]);
		else
			use_events(me, shared->turns[me]);
		shared->turns[me]++;
	}
	_exit(0);
}

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (!err && syscall(SYS_finit_module, fd, "", 0) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void fire(void)
{
	int fd = open("/sys/module/control_events/parameters/fire", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "5", 1) != 1)
		die("fire");
	close(fd);
}

/* A process that has hodo's device open keeps it for a while. */
static int unload(void)
{
	for (int tries = 0; tries < 60000; tries++) {
		if (syscall(SYS_delete_module, module->name, O_NONBLOCK) == 0)
			return 0;
		if (errno != EWOULDBLOCK || module->all)
			break;
		usleep(1000);
	}
	return -errno;
}

/* Its files have been used, so they are in use when it goes. The tree's ring has been used at least once, too. */
static bool was_used(unsigned int before)
{
	return shared->met[0] > 0 && shared->met[1] + shared->met[2] >= before + 4;
}

/* Returns how many times the module came and went. */
static unsigned int come_and_go(const char *path, unsigned int rounds)
{
	unsigned int round, before = 0;
	int err = 0;

	for (round = 0; round < rounds; round++) {
		err = load(path);
		if (err < 0)
			break;
		for (int wait = 0; !was_used(before) && wait < 60000; wait++)
			usleep(1000);
		before = shared->met[1] + shared->met[2];
		if (module->fires)
			fire();
		err = unload();
		if (err < 0)
			break;
	}
	if (err < 0)
		printf("# round %u: %s\n", round, strerror(-err));
	return round;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 40, went;
	char path[128], check[64];
	int status, ended = 0;
	DIR *folder;

	if (argc < 2)
		return 2;
	module = &modules[strstr(argv[1], "/hodo.ko") != NULL];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (unsigned int i = 0; i < USERS; i++)
		if (fork() == 0)
			use(i);
	went = come_and_go(argv[1], rounds);
	shared->enough = true;
	for (unsigned int i = 0; i < USERS; i++)
		ended += wait(&status) > 0 && status == 0;
	snprintf(check, sizeof(check), "%s_under_load", module->name);
	say(went == rounds, check, "%u of %u rounds", went, rounds);
	snprintf(check, sizeof(check), "%s_users_end", module->name);
	say(ended == USERS, check, "%d of %d", ended, USERS);
	for (unsigned int i = 0; i < USERS; i++) {
		static const char *const names[USERS] = { "tree_used", "events_used_1", "events_used_2" };

		snprintf(check, sizeof(check), "%s_%s", module->name, names[i]);
		say(shared->strange[i] == 0 && shared->met[i] > 0, check, "%u strange answers, %u met",
		    shared->strange[i], shared->met[i]);
		printf("# user %u: %u turns, %u met\n", i, shared->turns[i], shared->met[i]);
	}
	snprintf(path, sizeof(path), HODO_KERNEL_DIR "/%s", module->folder);
	folder = opendir(path);
	snprintf(check, sizeof(check), "%s_last_gone", module->name);
	say(!folder, check, "its folder is there");
	put("enabled", "0");
	return failures ? 1 : 0;
}

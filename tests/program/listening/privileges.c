/* SPDX-License-Identifier: MIT */
/*
 * privileges.c - changes what it may do, in a way that a process with a second thread can notice: privileges.py runs
 * it. Prints what each call returned and all capabilities that its threads have left.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern int capset(cap_user_header_t head, const cap_user_data_t data);

#define NOBODY 65534
#define DO(call) say(#call, call)

static void say(const char *call, int result)
{
	printf("%s: %s\n", call, result < 0 ? strerror(errno) : "0");
	fflush(stdout);
}

/* Of all threads of the process; they must have the same. */
static void say_capabilities(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char first[256] = "";

	for (struct dirent *d; tasks && (d = readdir(tasks)) != NULL;) {
		char path[300], line[256];
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", d->d_name);
		status = d->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status)) {
			if (strncmp(line, "CapPrm:", 7) != 0)
				continue;
			if (!first[0])
				printf("%s", strcpy(first, line));
			else if (strcmp(line, first) != 0)
				printf("another thread: %s", line);
		}
		if (status)
			fclose(status);
	}
	if (tasks)
		closedir(tasks);
	fflush(stdout);
}

static int drop(uint32_t keep)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { keep, keep, 0 } };

	return capset(&head, data);
}

/* As setpriv(1) does it. */
static void keep_capabilities(void)
{
	DO(prctl(PR_SET_KEEPCAPS, 1));
	DO(setresuid(NOBODY, NOBODY, NOBODY));
	DO(drop(1u << CAP_SETGID | 1u << CAP_NET_RAW));
	DO(setgroups(0, NULL));
	DO(setresgid(NOBODY, NOBODY, NOBODY));
	DO(drop(1u << CAP_NET_RAW));
}

static void drop_capabilities(void)
{
	DO(drop(1u << CAP_SETUID | 1u << CAP_SETGID));
	say_capabilities();
	DO(setregid(NOBODY, NOBODY));
	DO(initgroups("root", NOBODY));
	DO(setreuid(NOBODY, NOBODY));
}

static void drop_user(void)
{
	DO(setgid(NOBODY));
	DO(setegid(NOBODY));
	DO(seteuid(NOBODY));
	DO(setuid(NOBODY));
}

static void enter_namespaces(void)
{
	int before = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	DO(unshare(CLONE_NEWUSER | CLONE_NEWNS));
	DO(unshare(CLONE_NEWNS));
	DO(setns(before, 0));
	DO(unshare(CLONE_FS));
}

static void *wait_for_end(void *arg)
{
	pause();
	return arg;
}

/* With a thread of its own it must fail. */
static void enter_with_threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_end, NULL);
	DO(unshare(CLONE_NEWUSER));
}

/* Whose parent listens, and still does. */
static void in_children(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0)
		_exit(setgid(NOBODY) != 0);
	waitpid(child, &status, 0);
	DO(status);
	child = fork();
	if (child == 0)
		_exit(setgid(NOBODY) != 0 || setuid(NOBODY) != 0);
	waitpid(child, &status, 0);
	DO(status);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {
		{ "keep_capabilities", keep_capabilities }, { "drop_capabilities", drop_capabilities },
		{ "drop_user", drop_user }, { "enter_namespaces", enter_namespaces },
		{ "enter_with_threads", enter_with_threads }, { "in_children", in_children },
	};

	for (unsigned i = 0; argc == 2 && i < sizeof(scenes) / sizeof(*scenes); i++)
		if (strcmp(argv[1], scenes[i].name) == 0)
			scenes[i].run();
	say_capabilities();
	return getchar() == EOF ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * others.c HOW [ARGUMENT] - a program whose processes get to places from where they cannot reach the recorder's
 * socket by its path. Each makes EVENTS events; the exit status says whether all of them could do their work.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

#define EVENTS 10
#define NOBODY 65534

static void work(void)
{
	for (int i = 0; i < EVENTS; i++)
		HODO_EVENT(others, tick, HODO_F(i, i), HODO_F(uid, (int)geteuid()));
}

static void must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		_exit(70);
	}
}

static int child_works(void)
{
	int status = -1;
	pid_t pid = fork();

	must(pid, "fork");
	if (pid == 0) {
		work();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status != 0 : 1;
}

static void drop(void)
{
	must(setgroups(0, NULL), "setgroups");
	must(setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
	must(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
}

/* Forks twice, to have no parent left when it becomes user nobody; writes its status to the file at the end. */
static int daemonise(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;
	pid_t pid = fork();

	must(fd, file);
	must(pid, "fork");
	if (pid > 0)
		return waitpid(pid, &status, 0) == pid ? status != 0 : 1;
	setsid();
	pid = fork();
	must(pid, "fork");
	if (pid > 0)
		_exit(0);
	drop();
	work();
	status = child_works();
	must((int)write(fd, status ? "1" : "0", 1), file);
	_exit(status);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";

	if (strcmp(how, "daemon") == 0)
		return daemonise(argument);
	work();
	if (strcmp(how, "drop") == 0)
		drop();
	else if (strcmp(how, "exec") == 0) {
		drop();
		execl(argv[0], argv[0], "once", (char *)NULL);
		return 70;
	} else if (strcmp(how, "chroot") == 0) {
		must(chroot(argument), "chroot");
		must(chdir("/"), "chdir");
	} else if (strcmp(how, "hide") == 0) {
		must(unshare(CLONE_NEWNS), "unshare");
		must(mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
		must(mount("none", argument, "tmpfs", 0, NULL), "mount");
	} else if (strcmp(how, "user_namespace") == 0)
		must(unshare(CLONE_NEWUSER), "unshare");
	else if (strcmp(how, "stay") == 0) {
		drop();
		must(puts("dropped"), "puts");
		fflush(stdout);
		while (child_works() == 0) {
			work();
			usleep(100000);
		}
		return 70;
	} else if (strcmp(how, "once") == 0)
		return 0;
	return child_works();
}

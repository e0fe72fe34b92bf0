/* SPDX-License-Identifier: MIT */
/* images.c - becomes and starts other programs, in each way that libc has. The program to run is the last argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

extern char **environ;
static char *none[] = { NULL };
static char *program;

static int status_of(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* ------------------------------------------------------------ each function, without an environment */

static void by_execve(char **argv) { execve(program, argv, none); }
static void by_execv(char **argv) { execv(program, argv); }
static void by_execvp(char **argv) { execvp(program, argv); }
static void by_execvpe(char **argv) { execvpe(program, argv, none); }
static void by_execl(char **argv) { execl(program, program, "a", "b", NULL); }
static void by_execlp(char **argv) { execlp(program, program, "a", "b", NULL); }
static void by_execle(char **argv) { execle(program, program, "a", "b", NULL, none); }
static void by_fexecve(char **argv) { fexecve(open(program, O_RDONLY), argv, none); }
static void by_execveat(char **argv) { execveat(open(program, O_RDONLY), "", argv, none, AT_EMPTY_PATH); }

static void (*const ways[])(char **argv) = {
	by_execve, by_execv, by_execvp, by_execvpe, by_execl, by_execlp, by_execle, by_fexecve, by_execveat,
};

static int each(void)
{
	char *argv[] = { program, "a", "b", NULL };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			environ = none;
			ways[i](argv);
			_exit(127);
		}
		if (status_of(pid) != 0)
			return 1;
	}
	return 0;
}

static int in_vfork(void)
{
	char *argv[] = { program, "a", "b", NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execve("/nowhere/at/all", argv, none);
		execve(program, argv, none);
		_exit(127);
	}
	return status_of(pid);
}

static int spawned(void)
{
	char *argv[] = { program, "a", "b", NULL };
	pid_t pid = -1;
	int status;

	if (posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, argv, none) != ENOENT)
		return 1;
	if (posix_spawn(&pid, program, NULL, NULL, argv, none) != 0 || status_of(pid) != 0)
		return 1;
	/* This one is recorded, since it has the environment. */
	if (posix_spawnp(&pid, program, NULL, NULL, argv, environ) != 0 || status_of(pid) != 0)
		return 1;
	if (posix_spawn(NULL, program, NULL, NULL, argv, environ) != 0 || wait(&status) < 0)
		return 1;
	return status != 0;
}

/* ------------------------------------------------------------------ where a path begins */

static int child_by(void (*way)(char **argv), char *path)
{
	char *argv[] = { path, "a", "b", NULL };
	pid_t pid = fork();

	program = path;
	if (pid == 0) {
		way(argv);
		_exit(127);
	}
	return status_of(pid);
}

static void at_descriptor(char **argv) { execveat(open(".", O_RDONLY), program, argv, none, 0); }
static void at_descriptor_or_empty(char **argv) { execveat(AT_FDCWD, program, argv, none, AT_EMPTY_PATH); }

/* Runs the program 16 times by a path relative to dir, which is absolute. */
static int relative(const char *dir, char *name)
{
	char dotted[300], *argv[] = { dotted, "a", "b", NULL };
	pid_t pid;

	snprintf(dotted, sizeof(dotted), "./%s", name);
	program = dotted;
	if (chdir(dir) < 0 || each() != 0)
		return 1;
	/* None of these searches PATH. */
	if (child_by(by_execve, name) || child_by(by_execle, name) || child_by(at_descriptor, name) ||
	    child_by(at_descriptor_or_empty, name))
		return 1;
	if (posix_spawn(&pid, name, NULL, NULL, argv, none) != 0 || status_of(pid) != 0 ||
	    posix_spawnp(&pid, dotted, NULL, NULL, argv, none) != 0 || status_of(pid) != 0 || chdir("/") < 0)
		return 1;
	pid = vfork();
	if (pid == 0) {
		if (chdir(dir) == 0)
			execve(name, argv, none);
		_exit(127);
	}
	return status_of(pid);
}

/* The path is relative to the directory that an action of posix_spawn() changes to. */
static int by_action(const char *dir, char *name)
{
	char *argv[] = { name, "a", "b", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, dir);
	if (posix_spawn(&pid, name, &actions, NULL, argv, none) != 0)
		return 1;
	posix_spawn_file_actions_destroy(&actions);
	return status_of(pid);
}

/* Starts so many children that stay; then fails to exec; then becomes the program, and the children end. */
static int full(int children)
{
	char *waits[] = { program, "wait", NULL }, *argv[] = { program, NULL };
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[0], 0) < 0)
		return 1;
	for (int i = 0; i < children; i++)
		if (posix_spawn(&pid, program, NULL, NULL, waits, none) != 0)
			return 1;
	for (int i = 0; i < 5; i++)
		if (execve("/nowhere/at/all", argv, none) != -1 || errno != ENOENT)
			return 1;
	execve(program, argv, none);
	return 1;
}

/* ------------------------------------------------------------------ what fails */

#define FAILS(call, error)                                                                 \
	do {                                                                              \
		errno = 0;                                                               \
		if ((call) != -1 || errno != (error)) {                                   \
			printf("%s: %s\n", #call, strerror(errno));                       \
			return 1;                                                        \
		}                                                                        \
	} while (0)

static int failing(void)
{
	static char far[8192];
	char *argv[] = { "x", NULL };
	char *volatile nothing = NULL, *volatile bad = (char *)16;

	memset(far, 'x', sizeof(far) - 1);
	FAILS(execve("/nowhere/at/all", argv, none), ENOENT);
	FAILS(execve("", argv, none), ENOENT);
	FAILS(execve(nothing, argv, none), EFAULT);
	FAILS(execve(bad, argv, none), EFAULT);
	FAILS(execve("/", argv, none), EACCES);
	FAILS(execve(far, argv, none), ENAMETOOLONG);
	FAILS(execv("/nowhere/at/all", argv), ENOENT);
	FAILS(execvp("hodo-no-such-program", argv), ENOENT);
	FAILS(execvpe("hodo-no-such-program", argv, none), ENOENT);
	FAILS(execl("/nowhere/at/all", "x", NULL), ENOENT);
	FAILS(execlp("hodo-no-such-program", "x", NULL), ENOENT);
	FAILS(execle("/nowhere/at/all", "x", NULL, none), ENOENT);
	FAILS(fexecve(-1, argv, none), EINVAL);
	FAILS(execveat(-1, "at/all", argv, none, 0), EBADF);
	return 0;
}

/* -------------------------------------------------------------------- others */

static void *become(void *path)
{
	char *argv[] = { path, "a", "b", NULL };

	execv(path, argv);
	return NULL;
}

static int in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, become, program);
	pthread_join(thread, NULL);
	return 1;
}

/* Starts `processes` processes, each of which execs this program until it had `images` images; an event for each. */
static int chains(char **argv, int processes, int images)
{
	char left[16];

	for (; processes > 1; processes--)
		if (fork() == 0)
			break;
	if (images > 1) {
		snprintf(left, sizeof(left), "%d", images - 1);
		execl("/proc/self/exe", argv[0], "chains", "1", left, program, NULL);
		return 1;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	program = argv[argc - 1];
	HODO_MARK(images, image, "%s", what);
	if (strcmp(what, "each") == 0)
		return each();
	if (strcmp(what, "vfork") == 0)
		return in_vfork();
	if (strcmp(what, "spawn") == 0)
		return spawned();
	if (strcmp(what, "failing") == 0)
		return failing();
	if (strcmp(what, "thread") == 0)
		return in_thread();
	if (strcmp(what, "relative") == 0)
		return relative(argv[2], program);
	if (strcmp(what, "action") == 0)
		return by_action(argv[2], program);
	if (strcmp(what, "full") == 0)
		return full(atoi(argv[2]));
	return argc > 4 ? chains(argv, atoi(argv[2]), atoi(argv[3])) : 1;
}

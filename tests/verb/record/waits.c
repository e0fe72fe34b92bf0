/* SPDX-License-Identifier: MIT */
/*
 * waits.c PROGRESS WHAT N - writes N events, faster than they can be recorded. The file PROGRESS has three numbers:
 * how many it has written; N, which others may change; and 1 at the end.
 *
 * WHAT: plain; handlers: also in signal handlers, whose events count as well; jumps: handlers leave by longjmp what
 * they interrupt, and one event may then be missing; forks: a handler forks, and the child writes, too; vfork: also
 * in children that share the memory; spoil: overwrites the recording's memory after the first event.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hodo/trace.h>

#define EACH 1000 /* per child */

static struct progress {
	uint64_t n, most, ended;
} *progress;
static const char *what;
static sigjmp_buf again;
static volatile sig_atomic_t jumps, forked;

static void write_one(void)
{
	HODO_EVENT(waits, number, HODO_F(n, progress->n));
	__atomic_add_fetch(&progress->n, 1, __ATOMIC_RELAXED);
}

static void on_alarm(int signal)
{
	int saved = errno;

	(void)signal;
	if (strcmp(what, "forks") == 0 && !forked) {
		forked = 1;
		if (fork() == 0) {
			for (int i = 0; i < EACH; i++)
				HODO_EVENT(waits, child, HODO_F(n, i));
			_exit(0);
		}
	}
	if (strcmp(what, "handlers") == 0)
		write_one();
	errno = saved;
	if (jumps)
		siglongjmp(again, 1);
}

static void start_alarms(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_alarms(void)
{
	jumps = 0;
	signal(SIGALRM, SIG_IGN);
}

/* Each ring's page begins with its commit word. */
static void spoil(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start;

		if (!strstr(line, "memfd:hodo") || sscanf(line, "%lx", &start) != 1)
			continue;
		for (uint32_t i = 0; i < ((struct hodo_shm *)start)->rings; i++)
			((struct hodo_ring *)(start + HODO_SHM_RINGS + (uint64_t)i * HODO_PAGE))->word ^= 0x7ull << 50;
	}
	fclose(maps);
}

static void write_all(void)
{
	while (__atomic_load_n(&progress->n, __ATOMIC_RELAXED) < __atomic_load_n(&progress->most, __ATOMIC_RELAXED)) {
		if (strcmp(what, "vfork") == 0 && progress->n > EACH) {
			pid_t pid = vfork();

			if (pid == 0) {
				for (int i = 0; i < EACH; i++)
					write_one();
				_exit(0);
			}
			waitpid(pid, NULL, 0);
			continue;
		}
		write_one();
		if (strcmp(what, "spoil") == 0 && progress->n == 1)
			spoil();
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || ftruncate(fd, sizeof(*progress)) != 0)
		return 2;
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (progress == MAP_FAILED)
		return 3;
	what = argv[2];
	progress->most = strtoull(argv[3], NULL, 10);
	if (strcmp(what, "plain") != 0 && strcmp(what, "vfork") != 0 && strcmp(what, "spoil") != 0)
		start_alarms();
	if (strcmp(what, "jumps") == 0 && sigsetjmp(again, 1) == 0)
		jumps = 1;
	write_all();
	stop_alarms();
	while (wait(NULL) > 0)
		;
	progress->ended = 1;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* busy - until it is killed, runs processes on all CPUs that fork, allocate, wait, and talk through pipes. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Here an emulator that runs all CPUs in turn goes on to the next one, rather than after a tenth of a second. */
static void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

static void one_round(unsigned int n)
{
	struct timespec nap = { .tv_nsec = 100000 };
	char text[512];
	int fd[2];
	char *p;

	if (pipe(fd) == 0) {
		memset(text, 0, sizeof(text));
		if (write(fd[1], text, sizeof(text)) > 0 && read(fd[0], text, sizeof(text)) < 0)
			exit(1);
		relax();
		close(fd[0]);
		close(fd[1]);
	}
	relax();
	p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED) {
		p[n % 8 * 4096] = 1;
		relax();
		munmap(p, 8 * 4096);
	}
	relax();
	fd[0] = open("/proc/self/status", O_RDONLY);
	if (fd[0] >= 0) {
		if (read(fd[0], text, sizeof(text)) < 0)
			exit(1);
		close(fd[0]);
	}
	relax();
	if (n % 16 == 0) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		nanosleep(&nap, NULL);
	}
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (long i = 0; i < cpus; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Processes that use the module's files must get their share. */
		if (nice(10) < 0)
			return 1;
		for (unsigned int n = 0;; n++)
			one_round(n);
	}
	pause();
	return 0;
}

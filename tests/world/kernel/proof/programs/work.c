/* SPDX-License-Identifier: MIT */
/* work [ROUNDS] - makes the kernel schedule, allocate, wait for timers, and send to itself over loopback. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *thread(void *data)
{
	struct timespec nap = { .tv_nsec = 200000 };

	prctl(PR_SET_NAME, data);
	for (int i = 0; i < 20; i++) {
		nanosleep(&nap, NULL);
		sched_yield();
	}
	return NULL;
}

static void threads(void)
{
	static char names[2][16] = { "fifteen-letters", "b" };
	pthread_t ids[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&ids[i], NULL, thread, names[i]))
			fail("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
}

static pthread_mutex_t inherits;

/* Lends the mutex's holder, whose priority is lower, its own priority. */
static void *urgent(void *data)
{
	pthread_mutex_lock(&inherits);
	pthread_mutex_unlock(&inherits);
	return data;
}

static void *holder(void *data)
{
	struct timespec nap = { .tv_nsec = 5000000 };
	pthread_t id;

	if (nice(10) < 0)
		fail("nice");
	pthread_mutex_lock(&inherits);
	if (pthread_create(&id, data, urgent, NULL))
		fail("pthread_create");
	nanosleep(&nap, NULL);
	pthread_mutex_unlock(&inherits);
	pthread_join(id, NULL);
	return NULL;
}

static void priorities(void)
{
	struct sched_param urgency = { .sched_priority = 1 };
	pthread_mutexattr_t inherit;
	pthread_attr_t fifo;
	pthread_t id;

	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherits, &inherit);
	pthread_attr_init(&fifo);
	pthread_attr_setinheritsched(&fifo, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&fifo, SCHED_FIFO);
	pthread_attr_setschedparam(&fifo, &urgency);
	if (pthread_create(&id, NULL, holder, &fifo))
		fail("pthread_create");
	pthread_join(id, NULL);
}

static void children(void)
{
	int fd[2], status;
	char byte = 0;

	if (pipe(fd))
		fail("pipe");
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			if (read(fd[0], &byte, 1) != 1)
				_exit(1);
			if (i == 0)
				execl("/bin/busybox", "true", (char *)NULL);
			if (i == 1)
				raise(SIGKILL);
			_exit(i);
		}
		if (write(fd[1], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid)
			fail("child");
	}
	close(fd[0]);
	close(fd[1]);
}

static void memory(void)
{
	size_t len = 64 * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < len; i += 4096)
		p[i] = 1;
	madvise(p, len / 2, MADV_DONTNEED);
	munmap(p, len);
}

static void files(void)
{
	char path[] = "/tmp/work-XXXXXX", text[4096];
	int fd = mkstemp(path);

	memset(text, 'x', sizeof(text));
	if (fd < 0 || write(fd, text, sizeof(text)) != (ssize_t)sizeof(text))
		fail(path);
	if (ftruncate(fd, 100) || fchmod(fd, 0600) || rename(path, "/tmp/renamed") || unlink("/tmp/renamed"))
		fail("file");
	close(fd);
	if (open("/nowhere/at all", O_RDONLY) >= 0 || errno != ENOENT)
		fail("open");
}

static void udp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	char text[1400] = "datagram";

	if (bind(a, (struct sockaddr *)&to, len) || getsockname(a, (struct sockaddr *)&to, &len))
		fail("bind");
	for (size_t n = 1; n < sizeof(text); n *= 3)
		if (sendto(b, text, n, 0, (struct sockaddr *)&to, len) != (ssize_t)n ||
		    recv(a, text, n, 0) != (ssize_t)n)
			fail("datagram");
	close(a);
	close(b);
}

static void tcp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int a = socket(AF_INET, SOCK_STREAM, 0), b = socket(AF_INET, SOCK_STREAM, 0), c;
	socklen_t len = sizeof(to);
	static char text[30000];

	if (bind(a, (struct sockaddr *)&to, len) || listen(a, 1) || getsockname(a, (struct sockaddr *)&to, &len) ||
	    connect(b, (struct sockaddr *)&to, len))
		fail("connect");
	c = accept(a, NULL, NULL);
	if (c < 0 || send(b, text, sizeof(text), 0) != (ssize_t)sizeof(text) ||
	    recv(c, text, sizeof(text), MSG_WAITALL) != (ssize_t)sizeof(text))
		fail("stream");
	close(c);
	close(b);
	close(a);
}

static void timers(void)
{
	struct itimerval soon = { .it_value.tv_usec = 2000 }, prof = { .it_value.tv_usec = 1000 };
	struct itimerspec tick = { .it_value.tv_nsec = 1000000 };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), poll = epoll_create1(0), seen = alarms;
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t n;

	setitimer(ITIMER_REAL, &soon, NULL);
	setitimer(ITIMER_VIRTUAL, &prof, NULL);
	timerfd_settime(fd, 0, &tick, NULL);
	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
	while (epoll_wait(poll, &event, 1, 100) < 0 && errno == EINTR)
		;
	if (read(fd, &n, sizeof(n)) != (ssize_t)sizeof(n) && errno != EINTR)
		fail("timerfd");
	while (alarms == seen)
		usleep(500);
	close(poll);
	close(fd);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	for (int i = 0; i < rounds; i++) {
		threads();
		priorities();
		children();
		memory();
		files();
		udp();
		tcp();
		timers();
	}
	puts("worked");
	return 0;
}

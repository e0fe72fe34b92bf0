/* SPDX-License-Identifier: MIT */
/*
 * emitter THREADS - makes events without a pause until standard input ends; then prints "emitted N".
 */
#include <hodo/trace.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile int ended;
static uint64_t emitted[64];

static void *emit(void *arg)
{
	uint64_t n = 0, *total = arg;

	while (!ended) {
		for (int i = 0; i < 64; i++, n++)
			HODO_EVENT(attach, tick, n);
	}
	*total = n;
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t sum = 0;
	pthread_t thread[64];
	struct pollfd input = { 0, POLLIN | POLLHUP, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (threads < 1 || threads > 64)
		return 2;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, emit, &emitted[i]);
	printf("ready\n");
	fflush(stdout);
	/* No thread may have to wait. The field is the same as above, so that the event is the same. */
	while (poll(&input, 1, 0) == 0) {
		for (int i = 0; i < 65536; i++, sum++)
			HODO_EVENT(attach, tick, HODO_F(n, sum));
	}
	ended = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++)
		sum += emitted[i];
	printf("emitted %llu\n", (unsigned long long)sum);
	return 0;
}

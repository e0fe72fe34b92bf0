/* SPDX-License-Identifier: MIT */
/*
 * thread.c - starts libhodo's own threads, by pthread_create, so that libc's setuid() and the like include
 * them.
 */
#include <pthread.h>
#include <signal.h>
#include "process.h"

#define STACK_BYTES (256u << 10)

int hodo_thread_start(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return -error;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, &attr, run, 0);
	pthread_sigmask(SIG_SETMASK, &old, 0);
	pthread_attr_destroy(&attr);
	return -error;
}

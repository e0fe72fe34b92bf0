/* SPDX-License-Identifier: MIT */
#include "drain.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct thread {
	struct hodo_drain *drain;
	pthread_t id;
	bool called;
};

struct hodo_drain {
	pthread_mutex_t lock;
	pthread_cond_t calls;  /* for others: a thread was called, or it ends */
	pthread_cond_t quiet;  /* nobody is apart */
	pthread_cond_t done;   /* only the recorder's thread is at work */
	uint32_t apart;
	uint32_t working; /* others that were called and have not returned */
	uint32_t others, started;
	bool ends;
	void (*work)(void *arg, uint32_t thread);
	void *arg;
	struct thread thread[];
};

struct hodo_drain *hodo_drain_new(uint32_t threads)
{
	uint32_t others = threads > HODO_DRAIN_THREADS_MAX ? HODO_DRAIN_THREADS_MAX - 1 : threads - 1;
	struct hodo_drain *d = calloc(1, sizeof(*d) + others * sizeof(d->thread[0]));

	if (!d)
		return NULL;
	d->others = others;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->calls, NULL);
	pthread_cond_init(&d->quiet, NULL);
	pthread_cond_init(&d->done, NULL);
	pthread_mutex_lock(&d->lock);
	return d;
}

void hodo_drain_free(struct hodo_drain *d)
{
	if (!d)
		return;
	d->ends = true;
	pthread_cond_broadcast(&d->calls);
	pthread_mutex_unlock(&d->lock);
	for (uint32_t i = 0; i < d->started; i++)
		pthread_join(d->thread[i].id, NULL);
	pthread_cond_destroy(&d->done);
	pthread_cond_destroy(&d->quiet);
	pthread_cond_destroy(&d->calls);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	struct hodo_drain *d = t->drain;

	pthread_setname_np(pthread_self(), "hodo-drain");
	pthread_mutex_lock(&d->lock);
	for (;;) {
		while (!t->called && !d->ends)
			pthread_cond_wait(&d->calls, &d->lock);
		if (!t->called)
			break;
		d->work(d->arg, 1 + (uint32_t)(t - d->thread));
		t->called = false;
		if (--d->working == 0)
			pthread_cond_signal(&d->done);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* Signals go to the recorder's thread. A thread that cannot be started is tried again at the next call. */
static bool start_thread(struct hodo_drain *d)
{
	struct thread *t = &d->thread[d->started];
	sigset_t all, before;
	int err;

	t->drain = d;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&t->id, NULL, run_thread, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	d->started += !err;
	return !err;
}

void hodo_drain_run(struct hodo_drain *d, uint32_t others, void (*work)(void *arg, uint32_t thread), void *arg)
{
	if (!d || others == 0) {
		work(arg, 0);
		return;
	}
	d->work = work;
	d->arg = arg;
	for (uint32_t i = 0; i < others && i < d->others && (i < d->started || start_thread(d)); i++) {
		d->thread[i].called = true;
		d->working++;
	}
	pthread_cond_broadcast(&d->calls);
	work(arg, 0);
	while (d->working)
		pthread_cond_wait(&d->done, &d->lock);
}

void hodo_drain_apart(struct hodo_drain *d)
{
	if (!d)
		return;
	/* Does not wait for a thread that wants to be alone, which could change what the caller is in the
	 * middle of. */
	d->apart++;
	pthread_mutex_unlock(&d->lock);
}

void hodo_drain_back(struct hodo_drain *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	if (--d->apart == 0)
		pthread_cond_broadcast(&d->quiet);
}

void hodo_drain_alone(struct hodo_drain *d)
{
	if (!d)
		return;
	while (d->apart)
		pthread_cond_wait(&d->quiet, &d->lock);
}

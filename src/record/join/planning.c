/* SPDX-License-Identifier: MIT */
#include "planning.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <base/hash.h>

#include <record/recorder.h>

struct job {
	struct job *next;
	struct hodo_connection *connection; /* NULL: it has gone; only for the recorder's thread */
	hodo_planned_fn planned;
	struct hodo_plan_request request;
	bool made;
	int plan; /* then */
};

struct hodo_planning {
	struct hodo_watch watch;
	struct hodo_recorder *recorder;
	pthread_t thread;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t calls;
	struct job *first, **last; /* in order */
	bool ends;
	int made_fd; /* readable: one is ready */
};

/* Under the lock. NULL: all are ready. */
static struct job *next_job(const struct hodo_planning *p)
{
	struct job *j = p->first;

	while (j && j->made)
		j = j->next;
	return j;
}

static void *run_planner(void *arg)
{
	struct hodo_planning *p = arg;
	struct hodo_planner *planner = p->recorder->config.planner;

	pthread_setname_np(pthread_self(), "hodo-plan");
	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct job *j;
		int plan;

		while (!p->ends && !next_job(p))
			pthread_cond_wait(&p->calls, &p->lock);
		if (p->ends)
			break;
		/* Jobs are removed when they are ready, and only at the front. */
		j = next_job(p);
		pthread_mutex_unlock(&p->lock);
		plan = hodo_planner_plan(planner, &j->request);
		pthread_mutex_lock(&p->lock);
		j->plan = plan;
		j->made = true;
		eventfd_write(p->made_fd, 1);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* The first one if it is ready, or NULL. */
static struct job *take_made(struct hodo_planning *p)
{
	struct job *j;

	pthread_mutex_lock(&p->lock);
	j = p->first && p->first->made ? p->first : NULL;
	if (j) {
		p->first = j->next;
		if (!p->first)
			p->last = &p->first;
	}
	pthread_mutex_unlock(&p->lock);
	return j;
}

static void made(struct hodo_watch *w)
{
	struct hodo_planning *p = (struct hodo_planning *)w;
	eventfd_t n;
	struct job *j;

	eventfd_read(p->made_fd, &n);
	while ((j = take_made(p)) != NULL) {
		if (j->connection)
			j->planned(j->connection, j->plan, j->plan == -ELIBACC ? j->request.load : "");
		else if (j->plan >= 0)
			close(j->plan);
		free(j);
	}
}

/* Signals go to the recorder's thread. */
static int start_thread(struct hodo_planning *p)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&p->thread, NULL, run_planner, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static int begin(struct hodo_recorder *s)
{
	struct hodo_planning *p = calloc(1, sizeof(*p));
	struct epoll_event e = { .events = EPOLLIN };
	int err;

	if (!p)
		return -ENOMEM;
	hodo_hash_seed(); /* both threads use it from now on */
	p->watch.ready = made;
	e.data.ptr = &p->watch;
	p->recorder = s;
	p->last = &p->first;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->calls, NULL);
	p->made_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* Among the descriptors that wait for an answer. */
	err = p->made_fd < 0 || epoll_ctl(s->joining.answers_fd, EPOLL_CTL_ADD, p->made_fd, &e) < 0 ? -errno : 0;
	if (!err)
		err = start_thread(p);
	if (!err) {
		s->planning = p;
		return 0;
	}
	if (p->made_fd >= 0)
		close(p->made_fd);
	free(p);
	return err;
}

int hodo_planning_ask(struct hodo_recorder *s, const struct hodo_plan_request *request, struct hodo_connection *c,
		      hodo_planned_fn planned)
{
	struct job *j;
	int err = s->planning ? 0 : begin(s);

	if (err)
		return err;
	j = malloc(sizeof(*j));
	if (!j)
		return -ENOMEM;
	*j = (struct job){ .connection = c, .planned = planned, .request = *request, .plan = -1 };
	pthread_mutex_lock(&s->planning->lock);
	*s->planning->last = j;
	s->planning->last = &j->next;
	pthread_cond_signal(&s->planning->calls);
	pthread_mutex_unlock(&s->planning->lock);
	return 0;
}

bool hodo_planning_busy(const struct hodo_recorder *s)
{
	bool busy;

	if (!s->planning)
		return false;
	pthread_mutex_lock(&s->planning->lock);
	busy = next_job(s->planning) != NULL;
	pthread_mutex_unlock(&s->planning->lock);
	return busy;
}

void hodo_planning_forget(struct hodo_recorder *s, const struct hodo_connection *c)
{
	struct hodo_planning *p = s->planning;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	for (struct job *j = p->first; j; j = j->next)
		if (j->connection == c)
			j->connection = NULL;
	pthread_mutex_unlock(&p->lock);
}

void hodo_planning_close(struct hodo_recorder *s)
{
	struct hodo_planning *p = s->planning;

	if (!p)
		return;
	s->planning = NULL;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->calls);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	for (struct job *j = p->first, *next; j; j = next) {
		next = j->next;
		if (j->made && j->plan >= 0)
			close(j->plan);
		free(j);
	}
	close(p->made_fd);
	pthread_cond_destroy(&p->calls);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

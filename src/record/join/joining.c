/* SPDX-License-Identifier: MIT */
/* joining.c - the processes that are joining, in order of arrival. */
#include "joining.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <base/scope.h>
#include <record/recorder.h>
#include "planning.h"

#define SILENT_PID_MAX 4u /* connections of one process */

int hodo_joining_watch(struct hodo_recorder *s, int fd, struct hodo_watch *w)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };

	return epoll_ctl(s->joining.answers_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

void hodo_joining_unwatch(struct hodo_recorder *s, int fd)
{
	epoll_ctl(s->joining.answers_fd, EPOLL_CTL_DEL, fd, NULL);
}

struct hodo_connection *hodo_joining_add(struct hodo_recorder *s, int fd, pid_t pid, uid_t uid,
					 void (*ready)(struct hodo_watch *w))
{
	struct hodo_connection *c = calloc(1, sizeof(*c));

	if (!c || hodo_joining_watch(s, fd, &c->watch) < 0) {
		free(c);
		return NULL;
	}
	c->watch.ready = ready;
	c->recorder = s;
	c->fd = fd;
	c->pidfd = c->memfd = c->plan = -1;
	c->id.pid = pid;
	c->id.came = s->images.number;
	c->uid = uid;
	c->deadline_ns = hodo_now_ns() + HODO_HELLO_TIMEOUT_MS * 1000000ll;
	*s->joining.last = c;
	s->joining.last = &c->next;
	s->joining.n++;
	return c;
}

void hodo_joining_drop(struct hodo_connection *c)
{
	struct hodo_joining *j = &c->recorder->joining;
	struct hodo_connection **link = &j->first;

	hodo_planning_forget(c->recorder, c);
	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	if (j->last == &c->next)
		j->last = link;
	j->n--;
	j->strangers -= c->stranger;
	hodo_close(c->fd);
	hodo_close(c->pidfd);
	hodo_close(c->memfd);
	hodo_close(c->plan);
	free(c);
}

/* Handles what other connections of the same process have sent. */
static void take_earlier(struct hodo_connection *c, bool superseded)
{
	for (struct hodo_connection *e = c->recorder->joining.first, *next; e != c; e = next) {
		next = e->next;
		if (e->id.pid != c->id.pid || e->opened)
			continue;
		e->superseded |= superseded;
		e->watch.ready(&e->watch);
	}
}

void hodo_joining_supersede(struct hodo_connection *c)
{
	take_earlier(c, true);
}

struct hodo_connection *hodo_joining_ready(struct hodo_connection *c)
{
	struct hodo_connection *e;

	take_earlier(c, false);
	for (e = c->recorder->joining.first; e != c; e = e->next)
		if (e->id.pid == c->id.pid && e->state == HODO_JOINING_READY)
			return e;
	return NULL;
}

bool hodo_joining_has(const struct hodo_recorder *s, pid_t pid)
{
	for (const struct hodo_connection *c = s->joining.first; c; c = c->next)
		if (c->state != HODO_JOINING_SILENT && c->id.pid == pid && !c->opened)
			return true;
	return false;
}

bool hodo_joining_too_many(const struct hodo_recorder *s, pid_t pid)
{
	uint32_t same = 0;

	for (const struct hodo_connection *c = s->joining.first; c; c = c->next)
		same += c->id.pid == pid && c->state != HODO_JOINING_READY;
	return same >= SILENT_PID_MAX;
}

/* SPDX-License-Identifier: MIT */
/*
 * adopt.c - processes that were running when their recording began.
 *
 * Who ends what: the process ends its recording when the connection ends, in whichever way the recorder
 * goes. The other way round it is not so plain: the connection ends when the process detaches or calls
 * hodo_stop() (then hodo_shm.ended has been set before), when it execs, and when it
 * exits, in the middle of which its other threads may run a little longer. So where nothing has
 * been said, the process's end or its next image is waited for.
 */
#define _GNU_SOURCE
#include "adopt.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "shm.h"

#define GONE_NS 200000000ll /* from the connection's end to that of the process, or to the next image's hello */
#define END_NS 1000000000ll
#define END_PAUSE_NS 200000

bool hodo_process_has_ended(const struct hodo_process *p)
{
	return hodo_shm_load32(&((const struct hodo_shm *)p->shm)->ended) != 0;
}

static void close_line(struct hodo_lifeline *l)
{
	if (l->fd >= 0)
		close(l->fd); /* leaves epoll by that: there is no other descriptor of it */
	l->fd = -1;
}

static void lifeline_ready(struct hodo_watch *w, uint32_t events)
{
	struct hodo_lifeline *l = (struct hodo_lifeline *)w;

	(void)events;
	/* Nothing is ever sent on it: whatever came, it is the end. What follows is done in hodo_adopt_check(). */
	if (l->fd < 0)
		return;
	close_line(l);
	l->ended_ns = hodo_now_ns();
}

int hodo_lifeline_start(struct hodo_process *p, int fd)
{
	struct hodo_lifeline *l = calloc(1, sizeof(*l));
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = l };

	if (!l || epoll_ctl(p->session->epoll_fd, EPOLL_CTL_MOD, fd, &e) < 0) {
		int err = l ? -errno : -ENOMEM;

		free(l);
		close(fd);
		return err;
	}
	l->watch.ready = lifeline_ready;
	l->process = p;
	l->fd = fd;
	p->lifeline = l;
	hodo_process_name_threads(p);
	return 0;
}

void hodo_lifeline_end(struct hodo_process *p)
{
	if (p->lifeline)
		close_line(p->lifeline);
}

void hodo_lifeline_free(struct hodo_process *p)
{
	hodo_lifeline_end(p);
	free(p->lifeline);
	p->lifeline = NULL;
}

void hodo_adopt_tell(struct hodo_process *p)
{
	if (!hodo_process_has_ended(p))
		return;
	if (p->kernel)
		hodo_session_report(p->session, "the kernel's recording was ended through its control tree");
	else
		hodo_session_report(p->session, "%s[%u]: its recording was ended, by 'hodo detach' or by itself",
				    p->id.comm, p->id.vpid);
}

void hodo_adopt_check(struct hodo_session *s, int64_t now_ns)
{
	struct hodo_process *p, *next;

	for (p = s->processes; p; p = next) {
		const struct hodo_lifeline *l = p->lifeline;

		next = p->next;
		if (hodo_process_has_ended(p)) {
			hodo_adopt_tell(p);
			hodo_process_finish(p, false);
		} else if (l && l->ended_ns && now_ns - l->ended_ns > GONE_NS) {
			hodo_process_finish(p, true);
		}
	}
}

/* Whether all adopted processes have ended their recording, or themselves. */
static bool all_ended(const struct hodo_session *s)
{
	for (const struct hodo_process *p = s->processes; p; p = p->next) {
		struct pollfd dead = { .fd = p->pidfd, .events = POLLIN };

		if (p->lifeline && !hodo_process_has_ended(p) && poll(&dead, 1, 0) == 0)
			return false;
	}
	return true;
}

void hodo_adopt_end(struct hodo_session *s)
{
	const struct timespec pause = { 0, END_PAUSE_NS };
	int64_t begin = hodo_now_ns();

	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_lifeline_end(p);
	/* One that is stopped by a signal does not. */
	while (!all_ended(s) && hodo_now_ns() - begin < END_NS)
		nanosleep(&pause, NULL);
}

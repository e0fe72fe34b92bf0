/* SPDX-License-Identifier: MIT */
/*
 * adopt.c - processes that were running before their recording began; docs/design/recorder.md says who ends
 * what, and how the other side notices.
 */
#include <record/process_impl.h>
#include <proc/process.h>

#include <errno.h>
#include <sys/epoll.h>

#define GONE_NS 200000000ll /* from the connection's end to that of the process, or to the next image's hello */
#define END_NS 1000000000ll
#define END_PAUSE_NS 200000

static void line_ready(struct hodo_watch *w)
{
	struct hodo_process *p = HODO_OWNER(w, struct hodo_process, line_watch);

	/* Nothing is ever sent on it: anything that comes means the end. hodo_adopt_check() does the rest. */
	hodo_process_close_line(p);
	p->line_ended_ns = hodo_now_ns();
}

int hodo_adopt(struct hodo_process *p, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = &p->line_watch };

	p->adopted = true;
	p->line_watch.ready = line_ready;
	p->line_fd = fd;
	if (epoll_ctl(p->recorder->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0) {
		int err = -errno;

		hodo_process_close_line(p);
		return err;
	}
	hodo_process_name_threads(p);
	return 0;
}

void hodo_adopt_check(struct hodo_recorder *s, int64_t now_ns)
{
	for (struct hodo_process *p = s->processes, *next; p; p = next) {
		next = p->next;
		if (hodo_process_has_ended(p)) {
			hodo_process_tell_ended(p);
			hodo_process_finish(p, false);
		} else if (p->superseded) {
			hodo_process_finish(p, false);
		} else if (p->line_ended_ns && now_ns - p->line_ended_ns > GONE_NS) {
			hodo_process_finish(p, true);
		}
	}
}

/* Whether all adopted processes have ended their recording, or themselves. */
static bool all_ended(const struct hodo_recorder *s)
{
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		if (p->adopted && !hodo_process_has_ended(p) && hodo_proc_lives(p->pidfd))
			return false;
	return true;
}

void hodo_adopt_end(struct hodo_recorder *s)
{
	int64_t begin = hodo_now_ns();

	for (struct hodo_process *p = s->processes; p; p = p->next)
		hodo_process_close_line(p);
	/* A process stopped by a signal does not. */
	while (!all_ended(s) && hodo_now_ns() - begin < END_NS)
		hodo_sleep_ns(END_PAUSE_NS);
}

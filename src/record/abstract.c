/* SPDX-License-Identifier: MIT */
/*
 * abstract.c - the second socket at which processes join: for those that cannot reach the path of the first.
 *
 * The path is in a directory that belongs to its user alone. A process that has changed its user, has called
 * chroot() or has another /tmp cannot reach it, but can reach an abstract address, which belongs to the
 * network namespace. So can anybody else there: everybody sees such names in /proc/net/unix. So a process
 * that comes that way must show the first half of the recording's key. The key is in the environment of
 * recorded processes, which other users cannot read, and passes to all their children; anybody who can read
 * it could trace the process anyway. Until then, a connection is a stranger's: it gets no answers, not even
 * about memory, and is not an image of the recording. Strangers get only a bounded part of our time: after
 * REFUSED_MAX refusals, the others stay in the socket's queue until the next tenth of a second, so that a
 * flood of them makes no ring overflow.
 *
 * The second half authenticates the recorder. Anybody can take its name once it has gone; a process hands its
 * catalogue and buffers only to a recorder that has the key.
 */
#include "abstract.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "connection.h"
#include "socket.h"

#define REFUSED_MAX 32u /* some 10 us each */
#define WINDOW_NS 100000000ll

int hodo_abstract_open(struct hodo_session *s, void (*ready)(struct hodo_watch *w))
{
	struct hodo_abstract *a = &s->abstract;
	uint64_t random[3];

	a->fd = -1;
	if (getentropy(random, sizeof(random)) < 0)
		return -errno;
	/* 0 would mean that there is none. */
	a->hello_key = random[1] | 1;
	a->answer_key = random[2] | 1;
	a->watch.ready = ready;
	snprintf(a->suffix, sizeof(a->suffix), "#%016llx-%016llx%016llx", (unsigned long long)random[0],
		 (unsigned long long)a->hello_key, (unsigned long long)a->answer_key);
	a->fd = hodo_socket_listen_abstract(HODO_RECORDER_ABSTRACT, a->suffix + 1, HODO_RECORDER_NAME);
	if (a->fd < 0)
		return a->fd;
	hodo_abstract_watch(s, true);
	return a->watched ? 0 : -ENOMEM;
}

void hodo_abstract_close(struct hodo_session *s)
{
	/* It is not open unless it has its suffix. */
	if (s->abstract.suffix[0] && s->abstract.fd >= 0)
		close(s->abstract.fd);
}

void hodo_abstract_watch(struct hodo_session *s, bool on)
{
	struct hodo_abstract *a = &s->abstract;

	if (on == a->watched)
		return;
	if (on)
		a->watched = hodo_joining_watch(s, a->fd, &a->watch) == 0;
	else
		hodo_joining_unwatch(s, a->fd);
	if (!on)
		a->watched = false;
}

bool hodo_abstract_flooded(const struct hodo_session *s)
{
	return s->abstract.refused >= REFUSED_MAX;
}

void hodo_abstract_step(struct hodo_session *s, int64_t now_ns)
{
	if (now_ns < s->abstract.window_ns)
		return;
	s->abstract.window_ns = now_ns + WINDOW_NS;
	s->abstract.refused = 0;
}

bool hodo_abstract_admit(struct hodo_connection *c, const struct hodo_msg_hello *hello, ssize_t len)
{
	if (!c->stranger)
		return true;
	if (len != (ssize_t)sizeof(*hello) || hello->key != c->session->abstract.hello_key)
		return false;
	c->stranger = false;
	if (hello->start != HODO_START_ROOT) /* it only asks for somebody who may come */
		c->id.came = hodo_image_came(c->session, c->id.pid);
	c->session->joining.strangers--;
	return true;
}

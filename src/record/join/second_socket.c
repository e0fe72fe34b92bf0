/* SPDX-License-Identifier: MIT */
/*
 * second_socket.c - the second socket at which processes join: for those that cannot reach the path of the first.
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
#include "second_socket.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <record/recorder.h>
#include "images.h"
#include "joining.h"
#include "socket.h"

#define REFUSED_MAX 32u /* some 10 us each */
#define WINDOW_NS 100000000ll

int hodo_second_socket_open(struct hodo_recorder *s, void (*ready)(struct hodo_watch *w))
{
	struct hodo_second_socket *a = &s->second_socket;
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
	a->fd = socket_listen_abstract(HODO_RECORDER_ABSTRACT, a->suffix + 1, HODO_RECORDER_NAME);
	if (a->fd < 0)
		return a->fd;
	hodo_second_socket_watch(s, true);
	return a->watched ? 0 : -ENOMEM;
}

void hodo_second_socket_close(struct hodo_recorder *s)
{
	/* It is not open unless it has its suffix. */
	if (s->second_socket.suffix[0] && s->second_socket.fd >= 0)
		close(s->second_socket.fd);
}

void hodo_second_socket_watch(struct hodo_recorder *s, bool on)
{
	struct hodo_second_socket *a = &s->second_socket;

	if (on == a->watched)
		return;
	if (on)
		a->watched = hodo_joining_watch(s, a->fd, &a->watch) == 0;
	else
		hodo_joining_unwatch(s, a->fd);
	if (!on)
		a->watched = false;
}

bool hodo_second_socket_flooded(const struct hodo_recorder *s)
{
	return s->second_socket.refused >= REFUSED_MAX;
}

void hodo_second_socket_step(struct hodo_recorder *s, int64_t now_ns)
{
	if (now_ns < s->second_socket.window_ns)
		return;
	s->second_socket.window_ns = now_ns + WINDOW_NS;
	s->second_socket.refused = 0;
}

bool hodo_second_socket_admit(struct hodo_connection *c, const struct hodo_msg_hello *hello, ssize_t len)
{
	if (!c->stranger)
		return true;
	if (len != (ssize_t)sizeof(*hello) || hello->key != c->recorder->second_socket.hello_key)
		return false;
	c->stranger = false;
	if (hello->start != HODO_START_ROOT) /* it only asks for somebody who may come */
		c->id.came = hodo_image_came(c->recorder, c->id.pid);
	c->recorder->joining.strangers--;
	return true;
}

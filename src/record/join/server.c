/* SPDX-License-Identifier: MIT */
/*
 * server.c - the socket at which processes join a recording, and those that are joining.
 *
 * Every message is one datagram, so that a connection needs no buffer, and each has a deadline: whatever the
 * other end sends, or does not send, costs one descriptor for two seconds. Nobody is refused because others
 * came first: a process that finds no room stays in the socket's queue until there is some.
 */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <base/scope.h>

#include "connection.h"
#include "images.h"
#include "second_socket.h"
#include <record/process_impl.h>
#include <proc/process.h>
#include "runtime_dir.h"
#include "socket.h"

#define CONNECTIONS_MAX 4096u
#define CONNECTIONS_MIN 64u
#define FILES_EACH 4u   /* one in that many descriptors is for joining processes */
#define STRANGERS_EACH 4u /* one in that many joining processes may have yet to show the key */
#define ANSWERS_MAX 256 /* between two pieces of work */
#define ACCEPTS_MAX 64
#define DRAINS_MAX 32

struct hodo_server {
	struct hodo_watch watch; /* of the listening socket; first */
	struct hodo_watch answers_watch;
	struct hodo_recorder *recorder;
	uint32_t most;    /* may be joining at once */
	bool private_dir; /* remove the socket's directory with it */
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char address[sizeof(((struct sockaddr_un *)0)->sun_path) + HODO_RECORDER_SUFFIX]; /* and the abstract one */
};

static void connection_ready(struct hodo_watch *w)
{
	hodo_connection_take((struct hodo_connection *)w);
}

/* --------------------------------------------------------------- listener */

int hodo_recorder_adopt(struct hodo_recorder *s, int fd, pid_t pid, int pidfd)
{
	struct hodo_proc_status status;
	int err = hodo_proc_status(pid, &status);
	struct hodo_connection *c = NULL;

	if (!err && !s->server)
		err = -ESHUTDOWN;
	if (!err && (hodo_joining_too_many(s, pid) || hodo_process_find(s, pid)))
		err = -EBUSY;
	if (!err)
		c = hodo_joining_add(s, fd, pid, status.euid, connection_ready);
	if (!c) {
		close(fd);
		close(pidfd);
		return err ? err : -ENOMEM;
	}
	c->pidfd = pidfd;
	c->adopted = true;
	hodo_connection_take(c);
	return 0;
}

/* uid: the user whose processes may join here, besides root's; HODO_WITH_KEY: see second_socket.c. */
static void add_connection(struct hodo_server *server, int fd, uid_t uid)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	struct hodo_connection *c = NULL;
	const char *why = "out of memory";

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		peer.pid = 0;
	if (uid != HODO_WITH_KEY)
		hodo_image_came(server->recorder, peer.pid);
	/* Another user cannot reach the socket; a set-user-id program that kept its environment can. */
	if (peer.pid <= 0 || (uid != HODO_WITH_KEY && peer.uid != uid && peer.uid != 0))
		why = "it belongs to another user";
	else if (hodo_joining_too_many(server->recorder, peer.pid))
		why = "it keeps starting again";
	else
		c = hodo_joining_add(server->recorder, fd, peer.pid, peer.uid, connection_ready);
	if (!c) {
		server->recorder->second_socket.refused += uid == HODO_WITH_KEY;
		hodo_unrecorded_add(server->recorder, peer.pid, why);
		close(fd);
		return;
	}
	c->stranger = uid == HODO_WITH_KEY;
	server->recorder->joining.strangers += c->stranger;
	/* Usually the message has already arrived. */
	hodo_connection_take(c);
}

static bool takes_strangers(const struct hodo_server *server)
{
	return server->recorder->joining.strangers < server->most / STRANGERS_EACH &&
	       !hodo_second_socket_flooded(server->recorder);
}

void hodo_server_accept(struct hodo_server *server, int listening_fd, uid_t uid)
{
	/* Bounded, since others wait for their turn. */
	for (int i = 0; i < ACCEPTS_MAX && server->recorder->joining.n < server->most; i++) {
		int fd;

		if (uid == HODO_WITH_KEY && !takes_strangers(server)) {
			hodo_second_socket_watch(server->recorder, false);
			return;
		}
		do
			fd = accept4(listening_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		while (fd < 0 && hodo_recorder_free_files(server->recorder, -errno));
		if (fd < 0)
			return;
		add_connection(server, fd, uid);
	}
}

static void server_ready(struct hodo_watch *w)
{
	struct hodo_server *server = (struct hodo_server *)w;

	hodo_server_accept(server, server->fd, geteuid());
}

static void stranger_ready(struct hodo_watch *w)
{
	struct hodo_recorder *s = HODO_OWNER(w, struct hodo_recorder, second_socket.watch);

	hodo_server_accept(s->server, s->second_socket.fd, HODO_WITH_KEY);
}

static int listen_at(struct hodo_server *server)
{
	struct hodo_why why;
	char dir[sizeof(server->path)], path[sizeof(server->path)];
	int err = hodo_runtime_dir(dir, sizeof(dir), sizeof("/record-4294967295.sock"));

	if (err == -EPERM) {
		err = hodo_runtime_dir_instead(dir, sizeof(dir), &why);
		server->private_dir = !err;
		if (!err)
			hodo_report(&server->recorder->config.reporter, "%s: the recording's socket is in %s instead",
				    why.text, dir);
	}
	if (err)
		return err;
	if (snprintf(path, sizeof(path), "%s/record-%d.sock", dir, (int)getpid()) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	hodo_runtime_sweep(dir);
	/* Left by a recorder that had our pid. */
	unlink(path);
	server->fd = socket_listen(path);
	if (server->fd < 0)
		return server->fd;
	strcpy(server->path, path);
	return chmod(path, 0600) < 0 ? -errno : 0;
}

static void answers_ready(struct hodo_watch *w)
{
	hodo_server_answer(HODO_OWNER(w, struct hodo_server, answers_watch)->recorder);
}

static uint32_t most_connections(void)
{
	struct rlimit files;
	rlim_t most = getrlimit(RLIMIT_NOFILE, &files) < 0 ? 0 : files.rlim_cur / FILES_EACH;

	return most < CONNECTIONS_MIN ? CONNECTIONS_MIN : most > CONNECTIONS_MAX ? CONNECTIONS_MAX : (uint32_t)most;
}

int hodo_server_open(struct hodo_recorder *s)
{
	struct hodo_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return -ENOMEM;
	server->watch.ready = server_ready;
	server->answers_watch.ready = answers_ready;
	server->recorder = s;
	server->most = most_connections();
	server->fd = -1;
	s->server = server;
	s->joining.answers_fd = epoll_create1(EPOLL_CLOEXEC);
	s->joining.last = &s->joining.first;
	err = s->joining.answers_fd < 0 ? -errno : listen_at(server);
	if (!err)
		err = hodo_joining_watch(s, server->fd, &server->watch);
	if (!err)
		err = hodo_second_socket_open(s, stranger_ready);
	if (!err)
		snprintf(server->address, sizeof(server->address), "%s%s", server->path, s->second_socket.suffix);
	if (!err)
		err = hodo_recorder_watch(s, s->joining.answers_fd, &server->answers_watch);
	return err;
}

/* ------------------------------------------------------------------ turns */

void hodo_server_answer(struct hodo_recorder *s)
{
	struct epoll_event event;

	/* One by one: handling one may remove others, and closed ones must not be reported. */
	for (int i = 0; s->server && i < ANSWERS_MAX && epoll_wait(s->joining.answers_fd, &event, 1, 0) == 1; i++) {
		struct hodo_watch *w = event.data.ptr;

		w->ready(w);
	}
}

bool hodo_server_start_next(struct hodo_recorder *s)
{
	struct hodo_connection *c = s->joining.first;

	while (c && c->state != HODO_JOINING_READY)
		c = c->next;
	if (c)
		hodo_connection_start(c);
	return c;
}

/* Do not blame it for messages that we have not taken yet. */
static bool has_sent(const struct hodo_connection *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

void hodo_server_expire(struct hodo_recorder *s, int64_t now_ns)
{
	for (struct hodo_connection *c = s->joining.first, *next; c; c = next) {
		next = c->next;
		if (c->state != HODO_JOINING_READY && now_ns > c->deadline_ns && !has_sent(c))
			hodo_connection_refuse(c, "it does not answer");
	}
	hodo_second_socket_step(s, now_ns);
	if (s->server && takes_strangers(s->server))
		hodo_second_socket_watch(s, true);
}

bool hodo_server_pending(const struct hodo_recorder *s)
{
	return s->joining.n > 0;
}

void hodo_server_drain(struct hodo_recorder *s)
{
	for (int i = 0; i < DRAINS_MAX; i++) {
		hodo_server_answer(s);
		while (hodo_server_start_next(s))
			;
	}
}

void hodo_server_close(struct hodo_recorder *s)
{
	if (!s->server)
		return;
	while (s->joining.first)
		hodo_connection_refuse(s->joining.first, "the recording ended before it could join");
	if (s->server->path[0])
		unlink(s->server->path);
	if (s->server->private_dir) {
		*strrchr(s->server->path, '/') = 0;
		rmdir(s->server->path);
	}
	hodo_close(s->server->fd);
	hodo_second_socket_close(s);
	hodo_close(s->joining.answers_fd);
	free(s->server);
	s->server = NULL;
}

const char *hodo_recorder_socket(const struct hodo_recorder *s)
{
	return s->server ? s->server->address : "";
}

/* SPDX-License-Identifier: MIT */
/*
 * server.c - the socket at which processes join a recording.
 *
 * Every message is one datagram, so that a connection needs no buffer, and
 * each has a deadline: whatever comes from the other end, or does not come,
 * costs one descriptor for two seconds.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <base/file.h>
#include <base/scope.h>

#include "memory.h"
#include "proc_status.h"
#include "process.h"
#include "runtime_dir.h"
#include "socket.h"

#define CONNECTIONS_MAX 512u
#define CONNECTIONS_PID_MAX 4u /* of one process */
#define PROCESSES_MAX 8192u    /* recorded at once */
#define REFUSALS_TOLD_MAX 20u
#define TOO_MANY_FILES "the recorder has too many open files: raise the limit, see ulimit -Hn"

struct connection {
	struct hodo_watch watch; /* first */
	struct hodo_session *session;
	struct connection *next;
	int fd;
	int pidfd; /* -1 until it said hello */
	bool greeted;
	bool adopted; /* it stays */
	int64_t deadline_ns;
	uid_t uid;
	struct hodo_process_id id; /* pid alone, until it said hello */
};

struct hodo_server {
	struct hodo_watch watch; /* first */
	struct hodo_session *session;
	struct connection *connections;
	uint32_t n;
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static void drop(struct connection *c)
{
	struct hodo_server *server = c->session->server;
	struct connection **link = &server->connections;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	server->n--;
	if (c->fd >= 0)
		close(c->fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}

static void refuse(struct connection *c, const char *why)
{
	struct hodo_session *s = c->session;

	s->total.refused++;
	s->warnings_refused++;
	if (s->warnings_refused <= REFUSALS_TOLD_MAX)
		hodo_report(&s->config.reporter, "process %d is not recorded: %s", (int)c->id.pid, why);
	else if (s->warnings_refused == REFUSALS_TOLD_MAX + 1)
		hodo_report(&s->config.reporter, "more processes are not recorded");
	drop(c);
}

/* ------------------------------------------------------------------ hello */

/* The process behind the connection, by a handle that no other process can get. */
static int open_pidfd(const struct connection *c)
{
	int fd;

	do {
		fd = hodo_socket_peer(c->fd);
		if (fd == -ENOPROTOOPT) {
			fd = (int)syscall(SYS_pidfd_open, c->id.pid, 0);
			fd = fd < 0 ? -errno : fd;
		}
	} while (hodo_session_free_files(c->session, fd));
	return fd;
}

static void take_identity(struct connection *c, const struct hodo_msg_hello *h)
{
	struct hodo_flight *f = &c->id.flight;
	struct hodo_proc_status status;
	char path[32], comm[sizeof(f->comm) + 1];
	ssize_t len;

	/* What it is called in its own pid namespace. */
	c->id.vpid = hodo_proc_status(c->id.pid, &status) == 0 ? status.vpid : (uint32_t)c->id.pid;
	hodo_config_describe(c->session, (uint64_t)c->id.pid << 32 | c->session->total.processes, f);
	f->uid = c->uid;
	f->ppid = h->ppid;
	f->start = c->adopted ? HODO_START_ATTACH : h->start == HODO_START_FORK ? HODO_START_FORK : HODO_START_EXEC;
	memcpy(f->comm, h->comm, sizeof(f->comm) - 1);
	if (c->adopted) { /* the thread that listens has a name of its own */
		snprintf(path, sizeof(path), "/proc/%d/comm", (int)c->id.pid);
		if (hodo_file_line(AT_FDCWD, path, comm, sizeof(comm)) > 0)
			memcpy(f->comm, comm, sizeof(f->comm));
	}
	memcpy(f->exe, h->exe, sizeof(f->exe) - 1);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)c->id.pid);
	len = readlink(path, f->exe, sizeof(f->exe) - 1);
	if (len > 0)
		f->exe[len] = 0;
}

static bool send_config(struct connection *c)
{
	const struct hodo_session_config *config = &c->session->config;
	struct hodo_msg_config m;
	size_t len = hodo_config_make(c->session, config->patterns, c->id.flight.uuid, config->context, false, &m);

	return send(c->fd, &m, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* Whether this one's buffers may be on their way already. */
static bool is_joining(const struct hodo_session *s, pid_t pid)
{
	for (const struct connection *c = s->server ? s->server->connections : NULL; c; c = c->next)
		if (c->greeted && c->id.pid == pid)
			return true;
	return false;
}

static void take_hello(struct connection *c)
{
	struct hodo_process *earlier;
	struct hodo_msg_hello h;
	ssize_t len;
	int asked = c->adopted ? 0 : hodo_memory_serve(c->session, c->fd, is_joining);

	if (asked) {
		if (asked > 0)
			drop(c);
		return;
	}
	/* MSG_TRUNC: the length it really had. Descriptors sent along are dropped by the kernel. */
	len = recv(c->fd, &h, sizeof(h), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len != (ssize_t)sizeof(h) || h.head.magic != HODO_MSG_MAGIC || h.head.type != HODO_MSG_HELLO)
		refuse(c, len <= 0 ? "it left before it said hello" : "it does not speak our language");
	else if (h.head.version != HODO_ABI_VERSION)
		refuse(c, "its libhodo is of another version: set HODO_LIBRARY to the one of this hodo");
	else if (c->pidfd < 0 && (c->pidfd = open_pidfd(c)) < 0)
		refuse(c, c->pidfd == -EMFILE || c->pidfd == -ENFILE ? TOO_MANY_FILES : "it is gone");
	else if (hodo_session_choose_clock(c->session, h.tsc == 1) < 0)
		refuse(c, "it cannot read the time-stamp counter: record with --clock monotonic");
	else {
		take_identity(c, &h);
		c->greeted = true;
		if (!send_config(c)) {
			refuse(c, "it does not listen");
			return;
		}
		/* Another image of the same process: the earlier one ended with exec. */
		earlier = hodo_process_find(c->session, c->id.pid);
		if (earlier)
			hodo_process_finish(earlier, false);
	}
}

/* ------------------------------------------------------------------ ready */

static const char *ready_flaw(const struct hodo_msg_ready *m, ssize_t len, int passed)
{
	if (len == 0)
		return "it left before it handed over its buffers";
	if (len == -EMFILE)
		return TOO_MANY_FILES;
	if (len < 0 && len != -EMSGSIZE && len != -EPROTO)
		return strerror((int)-len);
	if (len != -EPROTO && (len != (ssize_t)sizeof(*m) || m->head.magic != HODO_MSG_MAGIC ||
			       m->head.version != HODO_ABI_VERSION || m->head.type != HODO_MSG_READY))
		return "it does not speak our language";
	return passed < 0 ? "it did not send exactly one buffer" : NULL;
}

/* The connection ends with the recording of the process that has just been started. */
static void keep_connection(struct connection *c)
{
	struct hodo_process *p = c->session->processes;
	int err = hodo_adopt(p, hodo_take_fd(&c->fd));

	if (err < 0) {
		hodo_report(&c->session->config.reporter, "process %d is not recorded: %s", (int)p->id.pid,
			    strerror(-err));
		hodo_process_finish(p, true);
	}
}

static void take_ready(struct connection *c)
{
	struct hodo_msg_ready m;
	HODO_AUTO_CLOSE int memfd = -1;
	ssize_t len = hodo_socket_receive(c->fd, &m, sizeof(m), &memfd);
	const char *why;

	if (len == -EAGAIN || len == -EINTR)
		return;
	why = ready_flaw(&m, len, memfd);
	if (!why && c->session->live >= PROCESSES_MAX)
		why = "there are too many";
	/* Both descriptors are the process's from here on, whatever comes of it. */
	if (!why && hodo_process_start(c->session, &c->id, hodo_take_fd(&c->pidfd), hodo_take_fd(&memfd), &why) == 0) {
		if (c->adopted)
			keep_connection(c);
		drop(c);
		return;
	}
	refuse(c, why);
}

static void connection_ready(struct hodo_watch *w)
{
	struct connection *c = (struct connection *)w;

	if (c->greeted)
		take_ready(c);
	else
		take_hello(c);
}

/* --------------------------------------------------------------- listener */

static bool too_many(const struct hodo_server *server, pid_t pid)
{
	uint32_t same = 0;

	for (const struct connection *c = server->connections; c; c = c->next)
		same += c->id.pid == pid;
	return same >= CONNECTIONS_PID_MAX || server->n >= CONNECTIONS_MAX;
}

static struct connection *new_connection(struct hodo_server *server, int fd, pid_t pid, uid_t uid)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c || hodo_session_watch(server->session, fd, &c->watch) < 0) {
		free(c);
		return NULL;
	}
	c->watch.ready = connection_ready;
	c->session = server->session;
	c->fd = fd;
	c->pidfd = -1;
	c->id.pid = pid;
	c->uid = uid;
	c->deadline_ns = hodo_now_ns() + HODO_HELLO_TIMEOUT_MS * 1000000ll;
	c->next = server->connections;
	server->connections = c;
	server->n++;
	return c;
}

int hodo_session_adopt(struct hodo_session *s, int fd, pid_t pid, int pidfd)
{
	struct hodo_proc_status status;
	int err = hodo_proc_status(pid, &status);
	struct connection *c = NULL;

	if (!err && !s->server)
		err = -ESHUTDOWN;
	if (!err && (too_many(s->server, pid) || hodo_process_find(s, pid)))
		err = -EBUSY;
	if (!err)
		c = new_connection(s->server, fd, pid, status.euid);
	if (!c) {
		close(fd);
		close(pidfd);
		return err ? err : -ENOMEM;
	}
	c->pidfd = pidfd;
	c->adopted = true;
	connection_ready(&c->watch);
	return 0;
}

/* uid: whose processes may join here, besides root's. */
static void add_connection(struct hodo_server *server, int fd, uid_t uid)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	struct connection *c;

	/* Another user cannot reach the socket; a set-user-id program that kept its environment can. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.pid <= 0 ||
	    (peer.uid != uid && peer.uid != 0) || too_many(server, peer.pid)) {
		server->session->total.refused++;
		close(fd);
		return;
	}
	c = new_connection(server, fd, peer.pid, peer.uid);
	if (!c) {
		close(fd);
		return;
	}
	/* As a rule the message is there already. */
	connection_ready(&c->watch);
}

void hodo_server_accept(struct hodo_server *server, int listening_fd, uid_t uid)
{
	/* Bounded: others wait for their turn meanwhile. */
	for (int i = 0; i < 64; i++) {
		int fd;

		do
			fd = accept4(listening_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		while (fd < 0 && hodo_session_free_files(server->session, -errno));
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

static int listen_at(struct hodo_server *server)
{
	char dir[sizeof(server->path)], path[sizeof(server->path)];
	int err = hodo_runtime_dir(dir, sizeof(dir), sizeof("/record-4294967295.sock"));

	if (err)
		return err;
	if (snprintf(path, sizeof(path), "%s/record-%d.sock", dir, (int)getpid()) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	hodo_runtime_sweep(dir);
	/* Left by a recorder that had our number. */
	unlink(path);
	server->fd = hodo_socket_listen(path);
	if (server->fd < 0)
		return server->fd;
	strcpy(server->path, path);
	return chmod(path, 0600) < 0 ? -errno : 0;
}

int hodo_server_open(struct hodo_session *s)
{
	struct hodo_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return -ENOMEM;
	server->watch.ready = server_ready;
	server->session = s;
	server->fd = -1;
	s->server = server;
	err = listen_at(server);
	if (!err)
		err = hodo_session_watch(s, server->fd, &server->watch);
	return err;
}

void hodo_server_expire(struct hodo_session *s, int64_t now_ns)
{
	for (struct connection *c = s->server ? s->server->connections : NULL, *next; c; c = next) {
		next = c->next;
		if (now_ns > c->deadline_ns)
			refuse(c, "it does not answer");
	}
}

bool hodo_server_pending(const struct hodo_session *s)
{
	return s->server && s->server->n > 0;
}

void hodo_server_drain(struct hodo_session *s)
{
	for (struct connection *c = s->server ? s->server->connections : NULL, *next; c; c = next) {
		next = c->next;
		if (c->greeted)
			connection_ready(&c->watch);
	}
}

void hodo_server_close(struct hodo_session *s)
{
	if (!s->server)
		return;
	while (s->server->connections)
		drop(s->server->connections);
	if (s->server->path[0])
		unlink(s->server->path);
	if (s->server->fd >= 0)
		close(s->server->fd);
	free(s->server);
	s->server = NULL;
}

const char *hodo_session_socket(const struct hodo_session *s)
{
	return s->server ? s->server->path : "";
}

/* SPDX-License-Identifier: MIT */
/*
 * send_link.c - talks to the other side, a child process: ssh or a local sh. script.h says what is spoken.
 *
 * One question is on its way at a time, and nothing is sent before the last answer has come: so it does not matter if
 * `head -c` reads more than it was told to.
 */
#include "send_link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/escape.h>
#include <base/file.h>

#include "cksum.h"
#include "script.h"

#define LOOK_MS    1000          /* how often idle() is called */
#define NOISE_MAX  (1u << 20)    /* bytes that a login shell may print before the first answer */
#define PIECE      (64u << 10)
#define LEAVE_NS   2000000000ll  /* until a child that was told to end is killed */

struct hodo_link {
	struct hodo_link_idle idle;
	pid_t pid;
	int in, out, err;   /* the child's; -1: closed */
	char line[1024];    /* of its output, so far */
	size_t len;
	uint32_t noise;
	char said[512];     /* the last line on its standard error */
	char saying[512];   /* the line there that is not complete */
	size_t saying_len;
	uint8_t piece[PIECE];
};

/* ---------------------------------------------------------------------------- the child */

static const char *const ssh_options[] = {
	"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15", "-o",
	"ServerAliveCountMax=4", NULL,
};

/* ssh gives its words to the login shell there, which starts sh whatever it is itself. */
static int start(struct hodo_link *l, const struct hodo_send_target *t, const int fds[3])
{
	const char *argv[24], **a = argv;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipes;
	int err;

	if (t->ssh) {
		*a++ = "ssh";
		for (const char *const *o = ssh_options; *o; o++)
			*a++ = *o;
		if (*t->port) {
			*a++ = "-p";
			*a++ = t->port;
		}
		if (*t->user) {
			*a++ = "-l";
			*a++ = t->user;
		}
		*a++ = "--";
		*a++ = t->host;
		*a++ = "exec sh -c '" HODO_SEND_SCRIPT "'";
	} else {
		*a++ = "sh";
		*a++ = "-c";
		*a++ = HODO_SEND_SCRIPT;
	}
	*a = NULL;
	sigemptyset(&none);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	posix_spawnattr_init(&attr);
	/* A session of its own: Ctrl-C is for the recorded program, and ssh must not ask on the terminal. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipes);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	err = posix_spawnp(&l->pid, argv[0], &actions, &attr, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return -err;
}

static int start_with_pipes(struct hodo_link *l, const struct hodo_send_target *t)
{
	int p[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, err = 0;

	for (int i = 0; i < 3 && !err; i++)
		err = pipe2(p[i], O_CLOEXEC) < 0 ? -errno : 0;
	if (!err)
		err = start(l, t, (int[]){ p[0][0], p[1][1], p[2][1] });
	if (!err) {
		l->in = p[0][1];
		l->out = p[1][0];
		l->err = p[2][0];
		p[0][1] = p[1][0] = p[2][0] = -1;
		fcntl(l->in, F_SETFL, O_NONBLOCK);
		fcntl(l->out, F_SETFL, O_NONBLOCK);
		fcntl(l->err, F_SETFL, O_NONBLOCK);
	}
	for (int i = 0; i < 6; i++)
		if (p[i / 2][i % 2] >= 0)
			close(p[i / 2][i % 2]);
	return err;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---------------------------------------------------------------------- what it says */

/* Keeps the last line that is not empty. */
static void listen_to(struct hodo_link *l)
{
	char text[512];
	ssize_t n;

	while ((n = read(l->err, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] != '\n' && text[i] != '\r') {
				if (l->saying_len + 1 < sizeof(l->saying))
					l->saying[l->saying_len++] = text[i];
				continue;
			}
			l->saying[l->saying_len] = 0;
			if (l->saying_len)
				memcpy(l->said, l->saying, l->saying_len + 1);
			l->saying_len = 0;
		}
	}
	if (n == 0 || errno != EAGAIN)
		shut(&l->err);
}

/* Waits for one of the child's descriptors. 0; -EPIPE: it answers instead of reading what is written; or -ECANCELED. */
static int wait_for(struct hodo_link *l, bool write)
{
	struct pollfd fds[4] = {
		{ .fd = l->out, .events = POLLIN },
		{ .fd = write ? l->in : -1, .events = POLLOUT },
		{ .fd = l->err, .events = POLLIN },
		{ .fd = l->idle.fd, .events = POLLIN },
	};
	int n = poll(fds, 4, LOOK_MS);

	if (n > 0 && fds[2].revents)
		listen_to(l);
	if ((n == 0 || fds[3].revents) && !l->idle.idle(l->idle.arg))
		return -ECANCELED;
	return write && fds[0].revents && !fds[1].revents ? -EPIPE : 0;
}

/* The connection has ended: by what ssh said about it. */
static int ended(struct hodo_link *l, struct hodo_why *why)
{
	int64_t until = hodo_now_ns() + LEAVE_NS;

	shut(&l->out);
	while (l->err >= 0 && hodo_now_ns() < until)
		if (wait_for(l, false) < 0)
			break;
	hodo_why(why, 0, "%s", *l->said ? l->said : "the connection was closed");
	hodo_mask_unseen(why->text);
	return -ECONNRESET;
}

/* A complete line, without its end: 1; 0: not yet; or a negative errno. */
static int take_line(struct hodo_link *l)
{
	for (char c; read(l->out, &c, 1) == 1;) {
		if (c == '\n') {
			l->line[l->len] = 0;
			l->len = 0;
			return 1;
		}
		if (l->len + 1 < sizeof(l->line))
			l->line[l->len++] = c;
		if (++l->noise > NOISE_MAX)
			return -EPROTO;
	}
	return 0;
}

/* 0: ok; 1: yes; or a negative errno. */
static int answer(struct hodo_link *l, struct hodo_why *why)
{
	struct pollfd out;
	int err;

	l->noise = 0;
	for (;;) {
		while ((err = take_line(l)) > 0) {
			if (strcmp(l->line, "hodo ok") == 0)
				return 0;
			if (strcmp(l->line, "hodo yes") == 0)
				return 1;
			if (strncmp(l->line, "hodo no", 7) != 0)
				continue;
			hodo_why(why, 0, "%s", l->line[7] ? l->line + 8 : "it was refused");
			hodo_mask_unseen(why->text);
			return -ENOENT;
		}
		if (err < 0)
			return hodo_why(why, err, "what answers there is no shell");
		out = (struct pollfd){ .fd = l->out, .events = POLLIN };
		if (poll(&out, 1, 0) == 1 && (out.revents & POLLHUP) && !(out.revents & POLLIN))
			return ended(l, why);
		err = wait_for(l, false);
		if (err)
			return err;
	}
}

/* ------------------------------------------------------------------------ what is said */

/* 0 or a negative errno; -EPIPE: it does not listen any more, and may have said why. */
static int say(struct hodo_link *l, const void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(l->in, (const char *)bytes + done, len - done);
		int err = n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;

		if (n > 0)
			done += (size_t)n;
		else if (!err)
			err = wait_for(l, true);
		if (err)
			return err;
	}
	return 0;
}

static int ask(struct hodo_link *l, struct hodo_why *why, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int ask(struct hodo_link *l, struct hodo_why *why, const char *format, ...)
{
	char line[2 * PATH_MAX];
	va_list args;
	int err;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	err = say(l, line, strlen(line));
	return err && err != -EPIPE ? err : answer(l, why);
}

static int put(struct hodo_link *l, int fd, uint64_t bytes, const char *path, uint32_t sum, struct hodo_why *why)
{
	char line[PATH_MAX + 64];
	int err;

	snprintf(line, sizeof(line), "put %s %" PRIu64 " %" PRIu32 "\n", path, bytes, sum);
	err = say(l, line, strlen(line));
	for (uint64_t at = 0; !err && at < bytes;) {
		ssize_t n = hodo_file_read_at(fd, l->piece, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE, at);

		err = n > 0 ? say(l, l->piece, (size_t)n) : n < 0 ? (int)n : -EIO;
		at += n > 0 ? (uint64_t)n : 0;
	}
	return err && err != -EPIPE ? err : answer(l, why);
}

/* ---------------------------------------------------------------------------- the link */

int hodo_link_open(struct hodo_link **link, const struct hodo_send_target *target, const struct hodo_link_idle *idle,
		   struct hodo_why *why)
{
	struct hodo_link *l = calloc(1, sizeof(*l));
	int err;

	*link = NULL;
	if (!l)
		return hodo_why(why, -ENOMEM, "%s", strerror(ENOMEM));
	l->idle = *idle;
	l->in = l->out = l->err = -1;
	err = start_with_pipes(l, target);
	if (err) {
		hodo_why(why, 0, "%s cannot be started: %s%s", target->ssh ? "ssh" : "sh", strerror(-err),
			 err != -ENOENT ? "" : target->ssh ? ": install openssh-client" : ": it must be in PATH");
		free(l);
		return -ECHILD;
	}
	err = ask(l, why, "%s\n", target->dir);
	if (!err) {
		*link = l;
		return 0;
	}
	hodo_link_close(l);
	return err < 0 ? err : -EPROTO;
}

int hodo_link_send(struct hodo_link *l, int fd, const char *path, struct hodo_why *why)
{
	uint64_t bytes;
	uint32_t sum;
	int err = hodo_cksum(fd, &sum, &bytes);

	hodo_why(why, 0, "%s", err ? strerror(-err) : "");
	if (!err)
		err = ask(l, why, "have %s %" PRIu64 " %" PRIu32 "\n", path, bytes, sum);
	if (!err)
		err = put(l, fd, bytes, path, sum, why);
	return err;
}

int hodo_link_prune(struct hodo_link *l, const char *below, uint64_t bytes, uint64_t minutes, const char *newest,
		    struct hodo_why *why)
{
	int err = ask(l, why, "prune %s %" PRIu64 " %" PRIu64 " %s\n", below, bytes, minutes, newest);

	return err > 0 ? -EPROTO : err;
}

/* Waits for the child's end, but not for ever. */
static bool reap(const struct hodo_link *l)
{
	int64_t until = hodo_now_ns() + LEAVE_NS;

	while (waitpid(l->pid, NULL, WNOHANG) == 0) {
		if (hodo_now_ns() > until)
			return false;
		hodo_sleep_ns(2000000);
	}
	return true;
}

void hodo_link_close(struct hodo_link *l)
{
	if (!l)
		return;
	/* The shell there ends, unless a disk keeps it; ssh ends when that does. */
	shut(&l->in);
	shut(&l->out);
	shut(&l->err);
	if (!reap(l)) {
		kill(l->pid, SIGKILL);
		reap(l);
	}
	free(l);
}

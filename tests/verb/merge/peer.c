/* SPDX-License-Identifier: MIT */
/*
 * peer.c - one of two programs that talk over a socket, each of which is recorded alone:
 *
 *	peer server SOCKET            listens, and answers one client
 *	peer client SOCKET N PAUSE    makes N requests, with PAUSE microseconds between them
 *
 * Requests are spans with a context; those of the client wait for the answer. Each message is also an event on both
 * sides, with a number that is unique.
 */
#include <hodo/trace.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct message {
	uint64_t number;
	char traceparent[HODO_TRACEPARENT_BYTES];
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int all(ssize_t n, size_t bytes)
{
	return n == (ssize_t)bytes;
}

static int connected(const char *path, int server)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), accepted;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0)
		fail("socket");
	if (!server) {
		/* Until the server listens. */
		while (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
			usleep(1000);
		return fd;
	}
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		fail(path);
	accepted = accept(fd, NULL, NULL);
	if (accepted < 0)
		fail("accept");
	return accepted;
}

static int serve(int fd)
{
	struct message m;

	while (all(recv(fd, &m, sizeof(m), 0), sizeof(m))) {
		HODO_EVENT(net, request_received, HODO_F(number, m.number), HODO_F(connection, "only"));
		HODO_SPAN_CONTEXT(shop, serve, m.traceparent, HODO_F(number, m.number));
		HODO_EVENT(net, answer_sent, HODO_F(number, m.number));
		if (!all(send(fd, &m, sizeof(m), 0), sizeof(m)))
			return 1;
	}
	return 0;
}

static int ask(int fd, uint64_t number)
{
	struct message m = { .number = number };

	HODO_SPAN_CONTEXT(shop, ask, NULL, HODO_F(number, number));
	hodo_span_traceparent(m.traceparent);
	HODO_EVENT(net, request_sent, HODO_F(number, number), HODO_F(connection, "only"));
	if (!all(send(fd, &m, sizeof(m), 0), sizeof(m)) || !all(recv(fd, &m, sizeof(m), 0), sizeof(m)))
		return 1;
	HODO_EVENT(net, answer_received, HODO_F(number, number));
	return 0;
}

static int ask_all(int fd, uint64_t n, useconds_t pause)
{
	int failed = 0;

	for (uint64_t i = 0; i < n && !failed; i++) {
		failed = ask(fd, i);
		usleep(pause);
	}
	return failed;
}

int main(int argc, char **argv)
{
	int server = argc > 1 && strcmp(argv[1], "server") == 0;

	if (argc != (server ? 3 : 5))
		return 2;
	return server ? serve(connected(argv[2], 1)) :
			ask_all(connected(argv[2], 0), strtoull(argv[3], NULL, 10), (useconds_t)atoi(argv[4]));
}

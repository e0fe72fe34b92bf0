/* SPDX-License-Identifier: MIT */
/*
 * server.c - a small server that offers tracing through its own admin port.
 *
 *	server DIRECTORY
 *
 * Both ports are on the loopback interface, and are printed on standard output. The service answers each line
 * "get KEY" with a number. The admin port accepts these commands, one per line:
 *
 *	trace start [EVENTS]    keep the newest events in a file in DIRECTORY
 *	trace on PATTERN        trace off PATTERN
 *	trace snapshot [WHY]    copy that file next to it, and go on
 *	trace stat              trace stop
 *	quit
 *
 * and answers "ok NUMBER" or "error TEXT". `hodo recover` makes recordings of the files.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hodo/control.h>
#include <hodo/trace.h>

#define CLIENTS_MAX 64
#define LINE_MAX_BYTES 256

struct client {
	int fd;
	bool admin;
	size_t len;
	char line[LINE_MAX_BYTES];
};

static struct pollfd polled[2 + CLIENTS_MAX]; /* the two ports, then the clients */
static struct client clients[CLIENTS_MAX];
static int nclients;
static const char *directory;
static bool quit;

static int open_port(const char *what)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
		perror(what);
		exit(1);
	}
	printf("%s %d\n", what, ntohs(address.sin_port));
	return fd;
}

static int get(const char *key)
{
	int value = 0;

	HODO_SPAN(server, get);
	for (const char *c = key; *c; c++)
		value = (int)((unsigned)value * 31 + (unsigned char)*c);
	HODO_EVENT(server, found, key, value);
	return value;
}

/* Sends what the functions of <hodo/control.h> return, unchanged. */
static int trace(const char *command, char *argument)
{
	struct hodo_flight_options options = { .size = sizeof(options), .directory = directory, .events = argument };
	struct hodo_statistics s = { .size = sizeof(s) };
	int error;

	if (strcmp(command, "start") == 0)
		return hodo_flight_start(&options);
	if (strcmp(command, "stop") == 0)
		return hodo_stop();
	if (strcmp(command, "on") == 0)
		return hodo_enable(argument);
	if (strcmp(command, "off") == 0)
		return hodo_disable(argument);
	if (strcmp(command, "snapshot") == 0)
		return hodo_snapshot(argument);
	if (strcmp(command, "stat") != 0)
		return -1;
	error = hodo_statistics(&s);
	return error ? error : (int)s.events;
}

static void serve(struct client *c, char *line)
{
	char answer[LINE_MAX_BYTES], *word = strtok(line, " \r"), *command = strtok(NULL, " \r");
	char *argument = strtok(NULL, "\r");
	int result;

	if (!word)
		return;
	if (!c->admin && strcmp(word, "get") == 0 && command) {
		snprintf(answer, sizeof(answer), "%d\n", get(command));
	} else if (c->admin && strcmp(word, "trace") == 0 && command) {
		result = trace(command, argument);
		if (result < 0)
			snprintf(answer, sizeof(answer), "error %s\n", strerror(-result));
		else
			snprintf(answer, sizeof(answer), "ok %d\n", result);
	} else {
		quit = c->admin && strcmp(word, "quit") == 0;
		snprintf(answer, sizeof(answer), quit ? "ok 0\n" : "error what?\n");
	}
	if (write(c->fd, answer, strlen(answer)) < 0)
		c->len = sizeof(c->line); /* ends it */
}

/* False: the client is done, or sends too much at once. */
static bool hear(struct client *c)
{
	ssize_t n = read(c->fd, c->line + c->len, sizeof(c->line) - 1 - c->len);
	char *newline;

	if (n <= 0)
		return false;
	c->len += (size_t)n;
	c->line[c->len] = 0;
	while ((newline = strchr(c->line, '\n'))) {
		char line[LINE_MAX_BYTES];

		*newline = 0;
		memcpy(line, c->line, (size_t)(newline - c->line) + 1);
		c->len -= (size_t)(newline - c->line) + 1;
		memmove(c->line, newline + 1, c->len + 1);
		serve(c, line);
	}
	return c->len < sizeof(c->line) - 1;
}

static void greet(int port, bool admin)
{
	int fd = accept(port, NULL, NULL);

	if (fd >= 0 && nclients == CLIENTS_MAX)
		close(fd);
	else if (fd >= 0)
		clients[nclients++] = (struct client){ .fd = fd, .admin = admin };
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: server DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	polled[0].fd = open_port("service");
	polled[1].fd = open_port("admin");
	fflush(stdout);
	while (!quit) {
		int n = nclients;

		for (int i = 0; i < n; i++)
			polled[2 + i].fd = clients[i].fd;
		for (int i = 0; i < 2 + n; i++)
			polled[i].events = POLLIN;
		if (poll(polled, (nfds_t)(2 + n), -1) < 0)
			break;
		for (int i = n - 1; i >= 0; i--) {
			if (!polled[2 + i].revents || hear(&clients[i]))
				continue;
			close(clients[i].fd);
			clients[i] = clients[--nclients];
		}
		for (int i = 0; i < 2; i++)
			if (polled[i].revents)
				greet(polled[i].fd, i == 1);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * send_link.h - the connection to where recordings are sent: a shell there, started by ssh(1), or here for a directory.
 *
 * All functions wait for the other side. Meanwhile they call idle(), at least once a second and whenever idle_fd is
 * readable: false ends the wait with -ECANCELED. why: a line for the user when they fail.
 */
#pragma once

#include <stdint.h>

#include <base/why.h>

#include "target.h"

struct hodo_link;

struct hodo_link_idle {
	int fd; /* -1: none */
	bool (*idle)(void *arg);
	void *arg;
};

/* Starts it, and makes the directory. 0 or a negative errno: -ECHILD: ssh or sh cannot be started. */
int hodo_link_open(struct hodo_link **link, const struct hodo_send_target *target, const struct hodo_link_idle *idle,
		   struct hodo_why *why);
/*
 * Sends a file, from its beginning, to a path below the directory, whose words are plain (hodo_send_word()). Where it
 * is when the function returns, it is whole. 0; 1: it was there already; or a negative errno, after which the link
 * is of no more use: -ENOENT: what was sent arrived damaged or could not be kept.
 */
int hodo_link_send(struct hodo_link *l, int fd, const char *path, struct hodo_why *why);
/* Removes the oldest parts below a subdirectory: what is more than so many bytes, and older than that. 0: any. */
int hodo_link_prune(struct hodo_link *l, const char *below, uint64_t bytes, uint64_t minutes, const char *newest,
		    struct hodo_why *why);
void hodo_link_close(struct hodo_link *l); /* NULL is allowed */

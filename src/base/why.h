/* SPDX-License-Identifier: MIT */
/* why.h - messages to the user: why something failed, and what to do about it. */
#pragma once

#include <limits.h>
#include <stddef.h>

#define HODO_WHY_MAX (PATH_MAX + 512u) /* a path, and what is said of it */

struct hodo_why {
	char text[HODO_WHY_MAX];
};

/*
 * These write one line to why, which may be NULL, and return err. The arguments may be of why->text: what is known
 * already can be said in more words. hodo_why_errno() adds ": strerror: remedy", of an errno with either sign.
 */
int hodo_why(struct hodo_why *why, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int hodo_why_errno(struct hodo_why *why, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int hodo_why_system(struct hodo_why *why, int err); /* only "strerror: remedy" */
int hodo_why_memory(struct hodo_why *why);          /* "out of memory: remedy", -ENOMEM */
/* "'TEXT': reason", -EINVAL; for a text of len bytes, as typed by the user. */
int hodo_why_text(struct hodo_why *why, const char *text, size_t len, const char *reason);

/*
 * For the end of a message, "what went wrong: strerror: remedy"; of an errno with either sign. It is true for
 * any path, process or disk: if more is known, say that instead.
 */
const char *hodo_remedy(int err);

/* Takes a message for the user: one printable line without newline. */
struct hodo_reporter {
	void (*report)(void *arg, const char *line);
	void *arg;
};

void hodo_report(const struct hodo_reporter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

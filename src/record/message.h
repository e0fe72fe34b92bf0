/* SPDX-License-Identifier: MIT */
/* message.h - messages to the user, and what to do about a system error. */
#ifndef HODO_RECORD_MESSAGE_H
#define HODO_RECORD_MESSAGE_H

#include <stddef.h>

/* Takes a message for the user: one printable line without newline. */
struct hodo_reporter {
	void (*report)(void *arg, const char *line);
	void *arg;
};

void hodo_report(const struct hodo_reporter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * For the end of a message, "what went wrong: strerror: remedy"; of an errno with either sign. It is true for
 * any path, process or disk: if more is known, say that instead.
 */
const char *hodo_remedy(int err);

/* These write the message to why and return err. hodo_fail_errno() adds ": strerror: remedy";
 * hodo_fail_system() writes only that. */
int hodo_fail(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_errno(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_system(char *why, size_t size, int err);
/* "'TEXT': reason", -EINVAL; for a text of len bytes, as typed by the user. */
int hodo_fail_text(char *why, size_t size, const char *text, size_t len, const char *reason);
int hodo_fail_memory(char *why, size_t size); /* "out of memory", -ENOMEM */

#endif

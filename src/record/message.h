/* SPDX-License-Identifier: MIT */
/* message.h - messages to the user, and what to do about an error of the system. */
#ifndef HODO_RECORD_MESSAGE_H
#define HODO_RECORD_MESSAGE_H

#include <stddef.h>

/* Takes what the user should know: one printable line without newline. */
struct hodo_reporter {
	void (*report)(void *arg, const char *line);
	void *arg;
};

void hodo_report(const struct hodo_reporter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * For the end of a message, "what went wrong: strerror: remedy"; of an errno, whichever its sign.
 * What holds for any path, process or disk: where more is known, it should be said in place of this.
 */
const char *hodo_remedy(int err);

/* These write the message to why and return err. hodo_fail_errno() adds ": strerror: remedy", which is all that
 * hodo_fail_system() has to say. */
int hodo_fail(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_errno(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_system(char *why, size_t size, int err);
/* "'TEXT': reason", -EINVAL; of a text of len bytes, as somebody typed it. */
int hodo_fail_text(char *why, size_t size, const char *text, size_t len, const char *reason);
int hodo_fail_memory(char *why, size_t size); /* "out of memory", -ENOMEM */

#endif

/* SPDX-License-Identifier: MIT */
/* message.h - why something failed, for a buffer of any size. */
#ifndef HODO_RECORD_MESSAGE_H
#define HODO_RECORD_MESSAGE_H

#include <base/why.h>

/* These write the message to why and return err. hodo_fail_errno() adds ": strerror: remedy";
 * hodo_fail_system() writes only that. */
int hodo_fail(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_errno(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));
int hodo_fail_system(char *why, size_t size, int err);
/* "'TEXT': reason", -EINVAL; for a text of len bytes, as typed by the user. */
int hodo_fail_text(char *why, size_t size, const char *text, size_t len, const char *reason);
int hodo_fail_memory(char *why, size_t size); /* "out of memory", -ENOMEM */

#endif

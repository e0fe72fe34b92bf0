/* SPDX-License-Identifier: MIT */
/*
 * otlp_sent.h - what a receiver has taken: a file with a line "HASH ITEMS" for each message, appended when the receiver
 * has taken it, or for each item of one: those who read a recording while it is written make other messages of it. What
 * has a line need not be sent again. Nothing else depends on the file; a line that was cut off is skipped.
 */
#pragma once

#include "otlp_message.h"

struct hodo_otlp_sent;

/* Reads the file, if there is one; it is made with the first message. forget: what stands in it does not count, and
 * the file begins anew. 0; -ENOMEM; -ESTALE: it is no regular file; -EBADMSG: something else is in it; what open(2)
 * gives. */
int hodo_otlp_sent_open(struct hodo_otlp_sent **sent, const char *path, bool forget);
void hodo_otlp_sent_close(struct hodo_otlp_sent *sent); /* NULL is allowed */
/* A URL, which is without a user's name and password: they may be elsewhere the next time. */
uint64_t hodo_otlp_sent_to(const char *url, bool metrics);
/* What is known by that key, or these bytes, there. */
uint64_t hodo_otlp_sent_key(uint64_t to, const void *bytes, size_t len);
bool hodo_otlp_sent_has(const struct hodo_otlp_sent *sent, uint64_t key);
/* Notes a message. 0 or a negative errno. */
int hodo_otlp_sent_add(struct hodo_otlp_sent *sent, uint64_t key, uint32_t items);
/* Notes n items by their own keys, for later runs: they are not kept in memory. 0 or a negative errno; -EFBIG: there
 * are more than a later run would read. */
int hodo_otlp_sent_write(struct hodo_otlp_sent *sent, uint64_t to, const uint64_t *keys, uint32_t n);

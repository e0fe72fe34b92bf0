/* SPDX-License-Identifier: MIT */
/*
 * client.h - a client of HTTP, by libcurl, which is loaded with the first one. What a client does is in post.h and
 * files.h.
 *
 * What a server answers is hostile. Names and passwords come from the address or ~/.netrc, and are in no message. One
 * thread at a time.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct hodo_http;

struct hodo_http_options {
	const char *const *headers; /* "NAME: VALUE", ends with NULL: copied; NULL: none */
	const char *user, *password; /* NULL: those of the address or of ~/.netrc */
	int64_t retry_ns;           /* how long one request is tried again after it failed first */
	int64_t timeout_ns;         /* of one try of a POST; 0: a minute */
	uint32_t answer_max;        /* bytes of an answer to a POST; the rest is left. 0: HODO_HTTP_ANSWER_MAX */
	/* Whether what a POST was refused with may pass, beside the statuses that HTTP has for that; may be NULL. */
	bool (*may_pass)(void *data, long status, const char *answer);
	const volatile sig_atomic_t *stop; /* not 0, which a signal makes it: give up; NULL: never */
	void (*waits)(void *data, const char *why, int64_t ns); /* before each wait; may be NULL */
	/* About once a second, also if nothing comes: bytes; all 0: not known. May be NULL. */
	void (*progress)(void *data, uint64_t done, uint64_t all);
	void *data;
};

/* Whether a text is "NAME: VALUE" as HTTP has it: a token, and no control characters, so that one is not several. */
bool hodo_http_header_valid(const char *header);

/* 0; -ENOSYS: there is no libcurl; -ENOMEM. */
int hodo_http_new(struct hodo_http **http, const struct hodo_http_options *options);
void hodo_http_free(struct hodo_http *http); /* NULL is allowed */

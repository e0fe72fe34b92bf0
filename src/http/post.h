/* SPDX-License-Identifier: MIT */
/*
 * post.h - POST until it is taken: what is busy or not there is asked again, later and later, as its Retry-After says
 * or by our own count. Redirections are not followed: they would take credentials along.
 */
#pragma once

#include "client.h"

#include <stddef.h>

#include <base/text.h>
#include <base/why.h>

#define HODO_HTTP_ANSWER_MAX (64u << 10)

/*
 * 0: it was taken, and answer is what came back. Else why says in some words why not: -EINTR: stopped; -EACCES: 401
 * or 403; -EREMOTEIO: refused for good, and answer is what was said with that; -ETIMEDOUT: it was not taken as long as
 * it was tried; -ENOMEM.
 */
int hodo_http_post(struct hodo_http *http, const char *url, const char *type, const void *body, size_t len,
		   struct hodo_text *answer, struct hodo_why *why);
/* Of the last answer to it: its status, 0: there was none; and its Content-Type, "" if it has none. */
long hodo_http_status(const struct hodo_http *http);
const char *hodo_http_type(const struct hodo_http *http);

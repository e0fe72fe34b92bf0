/* SPDX-License-Identifier: MIT */
/* url.h - addresses of servers: what is one, and how one is shown. */
#pragma once

#include <stdbool.h>

bool hodo_http_is(const char *word); /* an address with a scheme, of whatever kind */
/* Whether it is http:// or https:// with a host, a port that can be, and nothing in it that a URL has not. */
bool hodo_http_url_valid(const char *url);
/* The URL without a user's name and password, for messages; to: as many bytes as it, and a NUL. */
void hodo_http_url_plain(const char *url, char *to);

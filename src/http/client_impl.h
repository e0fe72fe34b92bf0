/* SPDX-License-Identifier: MIT */
/* client_impl.h - what is in a client, for the files of this module. */
#pragma once

#include "client.h"
#include "library.h"

struct hodo_http {
	struct hodo_http_options options;
	CURL *easy;
	struct curl_slist *headers;
	CURLcode bad; /* an option that libcurl did not take; CURLE_OK: it took all of them */
	char said[CURL_ERROR_SIZE];
	long status;    /* of the last answer to a POST; 0: there was none */
	char type[128]; /* its Content-Type; "": it has none */
};

/* The value must be of the type that libcurl's documentation has for the option. */
#define HTTP_SET(http, option, value)                                                               \
	((http)->bad = (http)->bad ? (http)->bad : http_library.easy_setopt((http)->easy, (option), (value)))

/* Begins a request: all options are as every request needs them, and those of an earlier one are gone. */
void http_client_prepare(struct hodo_http *http, const char *url);

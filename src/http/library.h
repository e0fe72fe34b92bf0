/* SPDX-License-Identifier: MIT */
/*
 * library.h - libcurl, which is loaded when it is first needed, and stays: it cannot be ended safely where others use
 * it.
 */
#pragma once

#include <curl/curl.h>

/* What of it is used, as its header declares it. */
#define HTTP_FUNCTIONS(FUNCTION)                                                                               \
	FUNCTION(global_init)                                                                                  \
	FUNCTION(easy_init)                                                                                    \
	FUNCTION(easy_cleanup)                                                                                 \
	FUNCTION(easy_reset)                                                                                   \
	FUNCTION(easy_setopt)                                                                                  \
	FUNCTION(easy_perform)                                                                                 \
	FUNCTION(easy_getinfo)                                                                                 \
	FUNCTION(easy_strerror)                                                                                \
	FUNCTION(slist_append)                                                                                 \
	FUNCTION(slist_free_all)

struct http_library {
#define FUNCTION(name) __typeof__(&curl_##name) name;
	HTTP_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

extern struct http_library http_library; /* once it is loaded */

/* Not from several threads at once. 0; -ENOSYS: there is none, or it lacks a function. */
int http_library_load(void);

/* SPDX-License-Identifier: MIT */
/*
 * files.h - files from and to a web server. What a server answers is written where the caller says, up to a limit, and
 * nothing else is done with it.
 */
#pragma once

#include "client.h"

struct hodo_http_files;

/* Below that address, http:// or https://. Of the options, stop, progress and data count. 0; -EPROTONOSUPPORT: it is
 * neither; -ENOSYS: there is no libcurl; -ENOMEM. */
int hodo_http_open(struct hodo_http_files **files, const char *url, const struct hodo_http_options *options);
void hodo_http_close(struct hodo_http_files *files); /* NULL is allowed */
const char *hodo_http_shown(const struct hodo_http_files *files); /* the address, for messages */

/*
 * Of the file of that name below the address; get: at most max bytes, from fd's offset on; put: the bytes from its
 * beginning. 0; -ENOENT: it is not there; -EINTR: stopped; -EFBIG: it is larger; -EACCES: the server refuses us;
 * -EOPNOTSUPP: it takes no files; or another negative errno.
 */
int hodo_http_has(struct hodo_http_files *files, const char *name);
int hodo_http_get(struct hodo_http_files *files, const char *name, int fd, uint64_t max);
int hodo_http_put(struct hodo_http_files *files, const char *name, int fd, uint64_t bytes);
/* What went wrong with the last of these, in words; NULL: nothing did, or with our file. */
const char *hodo_http_why(const struct hodo_http_files *files);

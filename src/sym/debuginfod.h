/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.h - files by build-id from the servers in $DEBUGINFOD_URLS, by elfutils' client, which is loaded when it
 * is first wanted, and keeps what it fetched in a cache of its own. Who does not make a client asks no server.
 *
 * What servers give is hostile input: a file of another build, or one that is not whole, is not used. One client by one
 * thread at a time.
 */
#pragma once

#include "store.h"

#define HODO_DEBUGINFOD_LIBRARY "libdebuginfod.so.1"

struct hodo_debuginfod;

/* warn: takes the one line that says why no server is asked any more; NULL: nobody wants it. 0; -ENOENT: there is no
 * such library; -ENODATA: no server is named; -ENOMEM. */
int hodo_debuginfod_new(struct hodo_debuginfod **client, void (*warn)(const char *text));
void hodo_debuginfod_free(struct hodo_debuginfod *client); /* NULL is allowed */

/* The path of a file, to be freed; NULL: no server has it, or it could not be fetched: then none is asked again. */
char *hodo_debuginfod_find(struct hodo_debuginfod *client, const uint8_t *build_id, size_t len,
			   enum hodo_store_kind kind);

/* SPDX-License-Identifier: MIT */
/*
 * names.c - how hosts are called, and their folders. A recording may call its host anything, and two hosts may have the
 * same name: what becomes of it is unique, and a name of a file.
 */
#include "merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <read/file/hosts.h>

#define NAME_BYTES 64u /* of a host in a folder's name */

/* A host: a name, as it calls itself, and a clock. */
struct named {
	struct hodo_bytes key;
	const char *host;
};

struct taken {
	struct hodo_bytes name;
	uint32_t n; /* how many had it */
};

/* The text, or the text with a number that makes it one that nobody has. NULL: no memory. */
static char *unique(struct hodo_map *names, const char *text)
{
	struct taken *t = hodo_map_add_bytes(names, text, strlen(text), NULL);
	bool is_new = false;
	char *name = NULL;

	if (!t)
		return NULL;
	if (t->n++ == 0)
		return strdup(text);
	while (!is_new) {
		free(name);
		t = hodo_map_find_bytes(names, text, strlen(text));
		if (asprintf(&name, "%s-%u", text, t->n++) < 0)
			return NULL;
		t = hodo_map_add_bytes(names, name, strlen(name), &is_new);
		if (!t) {
			free(name);
			return NULL;
		}
		t->n = 1;
	}
	return name;
}

/* Of the host's name, what is harmless in a path. */
static void file_name(char *to, size_t size, const char *host)
{
	size_t n = (size_t)snprintf(to, size, "%s", HODO_HOST_FOLDER);

	for (; *host && n + 1 < size; host++) {
		unsigned char c = (unsigned char)*host;

		to[n++] = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			  strchr("._+-", c) ? (char)c : '_';
	}
	to[n] = 0;
}

static int name_one(struct hodo_merge_recording *r, struct hodo_map *hosts, struct hodo_map *names,
		    struct hodo_map *folders)
{
	char folder[sizeof(HODO_HOST_FOLDER) + NAME_BYTES];
	struct named *host;
	char *key;

	if (asprintf(&key, "%u %s", r->node, r->host) < 0)
		return -ENOMEM;
	host = hodo_map_add_bytes(hosts, key, strlen(key), NULL);
	free(key);
	if (!host)
		return -ENOMEM;
	if (!host->host) {
		char *name = unique(names, r->host);

		if (!name)
			return -ENOMEM;
		free(r->host);
		r->host = name;
		host->host = name;
	} else if (strcmp(r->host, host->host) != 0) {
		free(r->host);
		r->host = strdup(host->host);
	}
	if (!r->host)
		return -ENOMEM;
	file_name(folder, sizeof(folder), r->host);
	r->folder = unique(folders, folder);
	return r->folder ? 0 : -ENOMEM;
}

int hodo_merge_name(struct hodo_merge *m)
{
	struct hodo_map hosts = HODO_MAP_BYTES(struct named), names = HODO_MAP_BYTES(struct taken),
			folders = HODO_MAP_BYTES(struct taken);
	int err = 0;

	/* Names that the user chose first: the others get out of their way. */
	for (unsigned given = 2; given-- > 0;)
		for (uint32_t i = 0; i < m->n && !err; i++)
			if (m->recording[i].given_name == given)
				err = name_one(&m->recording[i], &hosts, &names, &folders);
	hodo_map_free(&hosts);
	hodo_map_free(&names);
	hodo_map_free(&folders);
	return err;
}

/* SPDX-License-Identifier: MIT */
/* debuginfod.c - asks debuginfod's servers, by elfutils' client. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES "4294967296" /* of a file, unless the user says otherwise */

typedef int find_function(debuginfod_client *client, const unsigned char *build_id, int len, char **path);

struct hodo_debuginfod {
	void *library;
	debuginfod_client *client;
	void (*end)(debuginfod_client *client);
	const char *(*url)(debuginfod_client *client);
	find_function *find[2]; /* by kind */
	void (*warn)(const char *text);
	bool failed;
};

static int load(struct hodo_debuginfod *d)
{
	debuginfod_client *(*begin)(void);

	d->library = dlopen(HODO_DEBUGINFOD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		return -ENOENT;
	begin = (__typeof__(begin))dlsym(d->library, "debuginfod_begin");
	d->end = (__typeof__(d->end))dlsym(d->library, "debuginfod_end");
	d->url = (__typeof__(d->url))dlsym(d->library, "debuginfod_get_url");
	d->find[HODO_STORE_DEBUGINFO] = (find_function *)dlsym(d->library, "debuginfod_find_debuginfo");
	d->find[HODO_STORE_EXECUTABLE] = (find_function *)dlsym(d->library, "debuginfod_find_executable");
	if (!begin || !d->end || !d->find[0] || !d->find[1])
		return -ENOENT;
	d->client = begin();
	return d->client ? 0 : -ENOMEM;
}

int hodo_debuginfod_new(struct hodo_debuginfod **client, void (*warn)(const char *text))
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct hodo_debuginfod *d;
	int err;

	*client = NULL;
	if (!urls || !urls[strspn(urls, " ")])
		return -ENODATA;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->warn = warn;
	setenv("DEBUGINFOD_MAXSIZE", MAX_BYTES, 0);
	err = load(d);
	if (err) {
		hodo_debuginfod_free(d);
		return err;
	}
	*client = d;
	return 0;
}

void hodo_debuginfod_free(struct hodo_debuginfod *client)
{
	if (!client)
		return;
	if (client->client)
		client->end(client->client);
	/* The library stays: libcurl in it has no end that can be had twice. */
	free(client);
}

/* A server that is not there is not waited for again, for each of the files. */
static void give_up(struct hodo_debuginfod *d, int error)
{
	const char *url = d->url ? d->url(d->client) : NULL, *at = url ? strrchr(url, '@') : NULL;
	char text[512];

	d->failed = true;
	snprintf(text, sizeof(text), "debuginfod: %s: %s: functions whose symbols are not here are shown by address",
		 at ? at + 1 : url ? url : "no server in DEBUGINFOD_URLS answers", strerror(error));
	if (d->warn)
		d->warn(text);
}

char *hodo_debuginfod_find(struct hodo_debuginfod *client, const uint8_t *build_id, size_t len,
			   enum hodo_store_kind kind)
{
	struct hodo_debuginfod *d = client;
	struct hodo_elf e;
	char *path = NULL;
	int fd;

	if (d->failed || len < 2 || len > HODO_ELF_BUILD_ID_MAX)
		return NULL;
	fd = d->find[kind](d->client, build_id, (int)len, &path);
	if (fd < 0 && fd != -ENOENT)
		give_up(d, -fd);
	if (fd < 0)
		return NULL;
	close(fd);
	if (path && hodo_elf_open(&e, path) == 0) {
		bool good = hodo_elf_is(&e, build_id, len) && hodo_elf_is_whole(&e);

		hodo_elf_close(&e);
		if (good)
			return path;
	}
	free(path);
	return NULL;
}

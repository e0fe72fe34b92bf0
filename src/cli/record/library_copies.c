/* SPDX-License-Identifier: MIT */
/*
 * library_copies.c - copies of libhodo in the root directories of programs that a recorded one starts there.
 *
 * One for each root directory and each user: what one user can write, another one's programs are not to load.
 */
#include "library_copies.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <base/scope.h>
#include <base/text.h>
#include <base/vec.h>
#include <record/record.h>

#include <cli/cli.h>

#ifdef HODO_HAVE_ATTACH
#define COPIES_MAX 256u

static const struct hodo_attach_copy *find(const struct hodo_copies *c, pid_t pid)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (hodo_attach_copy_serves(&c->list[i], pid))
			return &c->list[i];
	return NULL;
}

/* What LD_PRELOAD has outside: libhodo-func is copied also where it is not among that, for whoever wants it later. */
static int put_paths(const struct hodo_copies *c, const struct hodo_attach_copy *copy, char *paths, size_t size)
{
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	unsigned n = strchr(c->library, ':') ? copy->n : 1;

	for (unsigned i = 0; i < n; i++)
		hodo_text_printf(&text, "%s%s/%s", i ? ":" : "", copy->dir, copy->file[i]);
	if (text.error || text.len >= size)
		return -ENAMETOOLONG;
	memcpy(paths, hodo_text_string(&text), text.len + 1);
	return 0;
}

static int make(struct hodo_copies *c, pid_t pid)
{
	char library[2 * PATH_MAX], why[512];
	struct hodo_attach_copy copy;
	int err;

	snprintf(library, sizeof(library), "%s", c->library);
	if (!strchr(library, ':'))
		hodo_launch_add_functions(library, sizeof(library), why, sizeof(why));
	err = c->n < COPIES_MAX ? hodo_attach_copy_make(&copy, pid, library, true, why, sizeof(why))
				: hodo_fail(why, sizeof(why), -ENOSPC, "there are too many root directories");
	if (err) {
		hodo_report(&c->reporter, "process %d starts a program in another root directory, to which libhodo cannot be copied: %s",
			   (int)pid, why);
		return err;
	}
	*hodo_must(hodo_vec_add(c->list, c->n)) = copy;
	return 0;
}

int hodo_copies_make(void *arg, pid_t pid, char *paths, size_t size)
{
	struct hodo_copies *c = arg;
	const struct hodo_attach_copy *copy = find(c, pid);
	int err = copy ? 0 : make(c, pid);

	return err ? err : put_paths(c, copy ? copy : &c->list[c->n - 1], paths, size);
}

void hodo_copies_end(struct hodo_copies *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		pid_t user = hodo_attach_copy_user(&c->list[i]);

		/* It has the path in its environment: without the file, its loader would complain about it. */
		if (user)
			hodo_report(&c->reporter, "process %d goes on in another root directory: a copy of libhodo stays there, in %s: remove it"
				   " when it has ended", (int)user, c->list[i].dir);
		else
			hodo_attach_copy_remove(&c->list[i]);
	}
	free(c->list);
	c->list = NULL;
	c->n = 0;
}

#else

int hodo_copies_make(void *arg, pid_t pid, char *paths, size_t size)
{
	return -EOPNOTSUPP;
}

void hodo_copies_end(struct hodo_copies *c)
{
}

#endif

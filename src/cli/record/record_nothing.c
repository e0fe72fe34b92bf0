/* SPDX-License-Identifier: MIT */
/* record_nothing.c - why a recording has no events, and how to get some. */
#define _GNU_SOURCE
#include <cli/cli.h>
#include "record_options.h"
#include "record_send.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The program of "libhodo was not loaded in PROGRAM, or …", if it is known where it was. */
static bool not_loaded_in(const char *why, char path[PATH_MAX])
{
	static const char before[] = "libhodo was not loaded in ";
	const char *at = strncmp(why, before, sizeof(before) - 1) == 0 ? why + sizeof(before) - 1 : NULL;
	const char *end = at ? strrchr(at, ',') : NULL;

	/* A backslash: its name is not all printable. */
	return end && at[0] == '/' && !memchr(at, '\\', (size_t)(end - at)) &&
	       snprintf(path, PATH_MAX, "%.*s", (int)(end - at), at) < PATH_MAX;
}

/* The folder of our libhodo, for the user to copy it. */
static const char *library_folder(char path[PATH_MAX])
{
	char why[256], *slash;

	if (hodo_launch_library(path, PATH_MAX, why, sizeof(why)) < 0 || !(slash = strrchr(path, '/')))
		return NULL;
	*slash = 0;
	return path;
}

static void put_no_environment(void)
{
	hodo_error("the program was started in a cleared environment, as by env -i or sudo, so libhodo was "
		   "not loaded: put hodo after that, as in 'env -i hodo record PROGRAM', or attach: 'hodo "
		   "record -p PID'");
}

static void put_other_root(void)
{
	char path[PATH_MAX];
	const char *folder = library_folder(path);

	if (folder)
		hodo_error("the program has another root directory (chroot, container), without libhodo: copy"
			   " %s/libhodo*.so* and %s/hodo-preload to the same place there", folder, folder);
}

static void put_static(void)
{
	hodo_error("a static program is recorded if libhodo is linked into it: `pkg-config --static --libs hodo`");
}

/* Each reason for unrecorded images, once. False: none that can be fixed here. */
static bool put_unrecorded(const struct hodo_recorder_stats *s)
{
	bool no_environment = false, other_root = false, is_static = false;
	char path[PATH_MAX];

	for (uint32_t i = 0; i < s->reasons; i++) {
		const char *why = s->unrecorded[i].why, *last = strrchr(why, ' ');

		if (last && strcmp(last, " static") == 0)
			is_static = true;
		else if (not_loaded_in(why, path) && access(path, F_OK) != 0)
			other_root = true;
		else if (strncmp(why, "libhodo was not loaded in ", 26) == 0)
			no_environment = true;
	}
	if (no_environment)
		put_no_environment();
	if (other_root)
		put_other_root();
	if (is_static)
		put_static();
	return no_environment || other_root || is_static;
}

static uint64_t count_classes(const struct hodo_read *r)
{
	const struct hodo_read_process *p;
	uint64_t n = 0;

	for (uint32_t i = 0; (p = hodo_read_process(r, i)); i++)
		n += p->nclasses;
	return n;
}

/* What has no events, and the options that name it. */
static void put_no_events(const struct hodo_record_options *o, const struct hodo_read *r)
{
	const struct hodo_read_process *p = hodo_read_process(r, 0);
	char what[64] = "what is recorded", which[32] = "";

	if (!o->command[0] && p && hodo_read_nprocesses(r) == 1) {
		snprintf(what, sizeof(what), "process %u", (unsigned)p->pid);
		snprintf(which, sizeof(which), " -p %u", (unsigned)p->pid);
	}
	hodo_error("%s has no events: 'hodo record%s --functions' records its functions, 'hodo record%s -e "
		   "probe:FUNCTION' the calls of one", o->command[0] ? o->command[0] : what, which, which);
}

/* Whether options say which events are wanted. */
static bool is_selected(const struct hodo_record_options *o)
{
	return o->patterns.n || o->sdt.n || o->filter_len || o->functions.tracers;
}

void hodo_record_nothing(const struct hodo_record_options *o, const struct hodo_recorder_stats *s)
{
	const struct hodo_read_options silent = { .size = sizeof(silent) };
	HODO_AUTO_READ struct hodo_read *r = NULL;
	char n[32], path[PATH_MAX];
	uint64_t there;

	/* What could not be written was already reported. */
	if (hodo_read_open(&r, o->out, &silent) < 0)
		return;
	there = count_classes(r);
	if (there)
		hodo_error("none of the %s event%s of %s%s happened: 'hodo list %s' lists %s", hodo_grouped(there, n),
			   there == 1 ? "" : "s", o->command[0] ? o->command[0] : "what is recorded",
			   is_selected(o) ? " that you asked for" : "", hodo_record_listed(o, path), there == 1 ? "it" : "them");
	else if (!put_unrecorded(s))
		put_no_events(o, r);
}

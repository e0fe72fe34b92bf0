/* SPDX-License-Identifier: MIT */
/* target.h - where recordings are sent: a directory of another machine, or of this one. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include <base/why.h>

struct hodo_send_target {
	bool ssh;
	char user[64], host[256], port[8]; /* "": ssh decides */
	char dir[PATH_MAX];                /* at the receiver: absolute, or relative to where a shell begins there */
	char text[PATH_MAX + 400];         /* as it was given */
};

/*
 * ssh://[USER@]HOST[:PORT]/DIR, with %XX decoded, /~/DIR being relative to the user's home; or DIR. 0; or -EINVAL,
 * with the reason.
 */
int hodo_send_target_parse(const char *text, struct hodo_send_target *t, struct hodo_why *why);

/* SPDX-License-Identifier: MIT */
/*
 * target.c - parses a target. ssh(1) takes options everywhere, and its user's configuration may put user and host into
 * a command (ProxyCommand): so these are words, which do not begin with '-'. The directory never is in a command:
 * send_link.c.
 */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <base/escape.h>
#include <base/quantity.h>

#define SCHEME "ssh://"
#define WORD   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* Copies len bytes, all of which must be of a set. */
static bool take(char *to, size_t size, const char *from, size_t len, const char *set)
{
	if (len == 0 || len >= size || from[0] == '-')
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return strspn(to, set) == len;
}

/* [USER@]HOST[:PORT], len bytes. */
static int parse_where(struct hodo_send_target *t, const char *at, size_t len, struct hodo_why *why)
{
	const char *user = memrchr(at, '@', len), *host = user ? user + 1 : at, *end = at + len, *port;
	uint64_t number;
	bool ok;

	if (user && !take(t->user, sizeof(t->user), at, (size_t)(user - at), WORD "@+$"))
		return hodo_why(why, -EINVAL, "the user is letters, digits and ._@+$-, and does not begin with '-'");
	if (host < end && *host == '[') {
		port = memchr(host, ']', (size_t)(end - host));
		ok = port && take(t->host, sizeof(t->host), host + 1, (size_t)(port - host - 1), WORD ":%");
		port = ok ? port + 1 : end;
		ok = ok && (port == end || *port == ':');
	} else {
		port = memchr(host, ':', (size_t)(end - host));
		port = port ? port : end;
		ok = take(t->host, sizeof(t->host), host, (size_t)(port - host), WORD);
	}
	if (!ok)
		return hodo_why(why, -EINVAL, "the host is letters, digits and ._-, or an address in [], and does "
				"not begin with '-'");
	if (port == end)
		return 0;
	if (!take(t->port, sizeof(t->port), port + 1, (size_t)(end - port - 1), "0123456789") ||
	    hodo_parse_number(t->port, 65535, &number) < 0 || number == 0)
		return hodo_why(why, -EINVAL, "the port is a number from 1 to 65535");
	return 0;
}

static int check_dir(const char *dir, struct hodo_why *why)
{
	for (const char *p = dir; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return hodo_why(why, -EINVAL, "the directory has a control character in its name");
	return dir[strspn(dir, "/")] ? 0 : hodo_why(why, -EINVAL, "it names no directory: put one behind the host, as in "
						    "ssh://host/srv/hodo");
}

/*
 * "[USER@]HOST:DIR", as scp has it, of which nobody wants a directory here: what it is called here. A directory of that
 * name that exists is meant, and so is one with a slash before the colon.
 */
static int refuse_scp(const char *text, struct hodo_why *why)
{
	size_t len = strcspn(text, "/"), host = strcspn(text, "[:");
	const char *end = text[host] == '[' ? memchr(text, ']', len) : text, *colon, *dir;
	struct stat st;

	colon = end && end < text + len ? memchr(end, ':', len - (size_t)(end - text)) : NULL;
	if (!colon || colon == text || (stat(text, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	dir = colon + 1;
	return hodo_why(why, -EINVAL, "did you mean ssh://%.*s/%s%s? A directory of this machine is ./%s",
			(int)(colon - text), text, *dir == '/' ? "" : "~/", dir + strspn(dir, "/"), text);
}

int hodo_send_target_parse(const char *text, struct hodo_send_target *t, struct hodo_why *why)
{
	const char *at = text + sizeof(SCHEME) - 1, *slash;
	int err;

	*t = (struct hodo_send_target){ .ssh = strncmp(text, SCHEME, sizeof(SCHEME) - 1) == 0 };
	if (strlen(text) >= sizeof(t->dir))
		return hodo_why(why, -EINVAL, "it is too long");
	snprintf(t->text, sizeof(t->text), "%s", text);
	if (!t->ssh && strstr(text, "://"))
		return hodo_why(why, -EINVAL, "it is ssh://[USER@]HOST[:PORT]/DIR or a directory");
	if (!t->ssh) {
		if (!*text)
			return hodo_why(why, -EINVAL, "it names no directory");
		snprintf(t->dir, sizeof(t->dir), "%s", text);
		err = check_dir(t->dir, why);
		return err ? err : refuse_scp(text, why);
	}
	slash = strchr(at, '/');
	err = parse_where(t, at, slash ? (size_t)(slash - at) : strlen(at), why);
	if (err)
		return err;
	snprintf(t->dir, sizeof(t->dir), "%s", slash ? slash : "");
	if (!hodo_percent_decode(t->dir))
		return hodo_why(why, -EINVAL, "a %% in it is not followed by two hexadecimal digits: write %%25");
	if (strncmp(t->dir, "/~/", 3) == 0)
		memmove(t->dir, t->dir + 3, strlen(t->dir + 3) + 1);
	return check_dir(t->dir, why);
}

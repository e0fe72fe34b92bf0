/* SPDX-License-Identifier: MIT */
/* message.c - messages to the user, and what to do about a system error. */
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <record/write/names.h>

static const struct {
	int err;
	const char *text;
} remedies[] = {
	{ EACCES, "check its permissions, or become its owner" },
	{ EPERM, "become its owner, or root" },
	{ ENOENT, "check the path" },
	{ ENOTDIR, "check the path: a part of it is not a directory" },
	{ EISDIR, "give a file" },
	{ EEXIST, "choose another name" },
	{ ENOTEMPTY, "another process writes to it: choose another place" },
	{ ELOOP, "check the path's symbolic links" },
	{ ENAMETOOLONG, "choose a shorter name" },
	{ EXDEV, "choose a place on the same disk" },
	{ EBUSY, "it is in use: choose another place" },
	{ EROFS, "choose a place that is writable" },
	{ ENOSPC, "make room, or choose another disk" },
	{ EDQUOT, "make room, or choose another disk" },
	{ EFBIG, "raise the limit on file sizes: ulimit -f" },
	{ EMFILE, "raise the limit on open files: ulimit -n" },
	{ ENFILE, "end other programs" },
	{ ENOMEM, "end other programs, or take less at a time" },
	{ EAGAIN, "end other programs, and try again" },
	{ EIO, "check the disk: dmesg says what is wrong" },
	{ ESRCH, "the process has ended: give one that runs" },
	{ EBADMSG, "try babeltrace2, or a copy of it" },
};

const char *hodo_remedy(int err)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].err == (err < 0 ? -err : err))
			return remedies[i].text;
	return "'hodo doctor' checks what works here";
}

void hodo_report(const struct hodo_reporter *r, const char *format, ...)
{
	char raw[1024], line[sizeof(raw) * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	hodo_name_printable(line, sizeof(line), raw);
	r->report(r->arg, line);
}

int hodo_fail(char *why, size_t size, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return err;
}

int hodo_fail_system(char *why, size_t size, int err)
{
	return hodo_fail(why, size, err, "%s: %s", strerror(err < 0 ? -err : err), hodo_remedy(err));
}

int hodo_fail_errno(char *why, size_t size, int err, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(why, size, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len + 2 < size) {
		memcpy(why + len, ": ", 2);
		hodo_fail_system(why + len + 2, size - (size_t)len - 2, err);
	}
	return err;
}

int hodo_fail_memory(char *why, size_t size)
{
	return hodo_fail(why, size, -ENOMEM, "out of memory: %s", hodo_remedy(ENOMEM));
}

int hodo_fail_text(char *why, size_t size, const char *text, size_t len, const char *reason)
{
	char shown[64];

	hodo_name_printable(shown, sizeof(shown), text);
	return hodo_fail(why, size, -EINVAL, "'%.*s': %s", (int)(len < sizeof(shown) ? len : sizeof(shown) - 1), shown,
			 reason);
}

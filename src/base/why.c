/* SPDX-License-Identifier: MIT */
/* why.c - messages to the user: why something failed, and what to do about it. */
#include "why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"

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
	hodo_printable(line, sizeof(line), raw);
	if (r->report)
		r->report(r->arg, line);
}

/* Returns how much of the text is used. */
static size_t say(struct hodo_why *why, const char *format, va_list args)
{
	char text[sizeof(why->text)];
	int len = vsnprintf(text, sizeof(text), format, args);
	size_t used = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;

	memcpy(why->text, text, used);
	why->text[used] = '\0';
	return used;
}

int hodo_why(struct hodo_why *why, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (why)
		say(why, format, args);
	va_end(args);
	return err;
}

int hodo_why_errno(struct hodo_why *why, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (why) {
		size_t used = say(why, format, args);

		snprintf(why->text + used, sizeof(why->text) - used, ": %s: %s", strerror(err < 0 ? -err : err),
			 hodo_remedy(err));
	}
	va_end(args);
	return err;
}

int hodo_why_system(struct hodo_why *why, int err)
{
	return hodo_why(why, err, "%s: %s", strerror(err < 0 ? -err : err), hodo_remedy(err));
}

int hodo_why_memory(struct hodo_why *why)
{
	return hodo_why(why, -ENOMEM, "out of memory: %s", hodo_remedy(ENOMEM));
}

int hodo_why_text(struct hodo_why *why, const char *text, size_t len, const char *reason)
{
	char shown[64];

	hodo_printable(shown, sizeof(shown), text);
	return hodo_why(why, -EINVAL, "'%.*s': %s", (int)(len < sizeof(shown) ? len : sizeof(shown) - 1), shown,
			reason);
}

/* SPDX-License-Identifier: MIT */
/* message.c - why something failed, for a buffer of any size. */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <base/escape.h>

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

	hodo_printable(shown, sizeof(shown), text);
	return hodo_fail(why, size, -EINVAL, "'%.*s': %s", (int)(len < sizeof(shown) ? len : sizeof(shown) - 1), shown,
			 reason);
}

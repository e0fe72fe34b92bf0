/* SPDX-License-Identifier: MIT */
/* recover_report.c - what hodo recover says on its way. */
#include "recover.h"

#include <stdarg.h>
#include <stdio.h>

#include "names.h"

void hodo_recover_report(struct hodo_recover *r, const char *format, ...)
{
	char raw[1024], line[sizeof(raw) * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	hodo_name_printable(line, sizeof(line), raw);
	r->report(r->arg, line);
}

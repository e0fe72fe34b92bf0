/* SPDX-License-Identifier: MIT */
/* formats.c - the list of formats, by name. */
#include "export.h"

#include <string.h>

const struct hodo_export_format *const hodo_export_formats[] = {
	&hodo_export_callgrind,
	&hodo_export_chrome,
	&hodo_export_csv,
	&hodo_export_firefox,
	&hodo_export_folded,
	&hodo_export_jsonl,
	&hodo_export_perfetto,
	&hodo_export_pprof,
	&hodo_export_speedscope,
	NULL,
};

const struct hodo_export_format *hodo_export_format(const char *name)
{
	for (unsigned i = 0; hodo_export_formats[i]; i++)
		if (strcmp(hodo_export_formats[i]->name, name) == 0)
			return hodo_export_formats[i];
	return NULL;
}

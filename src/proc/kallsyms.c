/* SPDX-License-Identifier: MIT */
/* kallsyms.c - takes the lines of /proc/kallsyms apart:
 *
 *	ffffffff8136f4c0 T vfs_read
 *	ffffffffc0123000 t ext4_sync_fs	[ext4]
 */
#include "kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int hodo_kallsyms_open(struct hodo_kallsyms *k)
{
	*k = (struct hodo_kallsyms){ .file = fopen("/proc/kallsyms", "re") };
	return k->file ? 0 : -errno;
}

bool hodo_kallsyms_next(struct hodo_kallsyms *k, struct hodo_kallsym *s)
{
	while (k->file && getline(&k->line, &k->room, k->file) > 0) {
		char *name, *end;
		int at;

		if (sscanf(k->line, "%" SCNx64 " %c %n", &s->address, &s->type, &at) != 2 || !strchr("tTwW", s->type))
			continue;
		name = k->line + at;
		end = name + strcspn(name, " \t\n");
		s->name = name;
		s->module = *end == '\t' && end[1] == '[' ? end + 2 : "";
		if (*s->module)
			end[2 + strcspn(s->module, "]\n")] = '\0';
		*end = '\0';
		if (*name)
			return true;
	}
	return false;
}

void hodo_kallsyms_close(struct hodo_kallsyms *k)
{
	free(k->line);
	if (k->file)
		fclose(k->file);
	*k = (struct hodo_kallsyms){ .file = NULL };
}

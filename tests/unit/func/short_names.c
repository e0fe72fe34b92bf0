/* SPDX-License-Identifier: MIT */
/* short_names.c - for each line of standard input, its short name. */
#include <stdio.h>
#include <string.h>
#include <func/names/mangled.h>

int main(void)
{
	static char line[1 << 16], out[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (hodo_mangled_name(line, out, sizeof(out)) >= sizeof(out))
			return 1;
		puts(out);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* reopen.c LIBRARY - opens and closes a library again and again while it is traced: all calls are always there, and no
 * executable memory is left behind. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "slots.h"

static long mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "r-xp") && !strchr(line, '/') && !strchr(line, '[');
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long last = 0, each = 0;
	long first = 0, now;

	if (slots_on(0))
		return 1;
	for (int i = 0; i < 40; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		long (*work)(int) = library ? (long (*)(int))dlsym(library, "w_work") : 0;

		if (!work || work(30) != 12255) {
			printf("FAILED %s\n", library ? "result" : dlerror());
			return 1;
		}
		dlclose(library);
		if (i == 0)
			each = slots_total();
		if (slots_total() - last != each) {
			printf("FAILED cycle %d: %lu entries, not %lu\n", i, slots_total() - last, each);
			return 1;
		}
		last = slots_total();
		now = mappings();
		if (i == 5)
			first = now;
	}
	slots_off();
	if (now > first) {
		printf("FAILED %ld mappings, then %ld\n", first, now);
		return 1;
	}
	printf("%lu entries each time\n", each);
	return each == 461 ? 0 : 1;
}

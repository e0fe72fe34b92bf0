/* SPDX-License-Identifier: MIT */
/* unload.c - unload LIBHODO: opens and closes the library, as closing a plugin linked with it would, and continues. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < 3; i++) {
		void *library = dlopen(argv[1], RTLD_NOW), *other;

		if (!library || dlclose(library) != 0) {
			fprintf(stderr, "unload: %s\n", dlerror());
			return 1;
		}
		other = dlopen("libm.so.6", RTLD_NOW);
		if (!other || dlclose(other) != 0)
			return 1;
	}
	return argc == 2 ? 0 : 2;
}

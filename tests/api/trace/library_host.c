/* SPDX-License-Identifier: MIT */
/* library_host.c - opens all_c.c as a library and runs it: library_host LIBRARY ROUNDS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*run)(int) = library ? (int (*)(int))dlsym(library, "run_all") : NULL;

	if (!run) {
		fprintf(stderr, "library_host: %s\n", argc == 3 ? dlerror() : "usage");
		return 1;
	}
	return run(atoi(argv[2]));
}

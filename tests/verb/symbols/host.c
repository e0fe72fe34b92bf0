/* SPDX-License-Identifier: MIT */
/* host.c - host ROUNDS LIBRARY...: loads each library, calls its run(), and gives it back, again and again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int use(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*run)(int) = library ? (int (*)(int))dlsym(library, "run") : NULL;
	int n;

	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	n = run(1);
	dlclose(library);
	return n;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		for (int k = 2; k < argc; k++)
			n += use(argv[k]);
	printf("%d\n", n);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* unit.c - the main() of all unit tests: see unit.h. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

/* The linker's bounds of the section of unit.h. */
extern const struct unit_test *const __start_hodo_unit_tests[];
extern const struct unit_test *const __stop_hodo_unit_tests[];

/* For programs without TEST_PROGRAM(). */
__attribute__((weak)) const struct unit_program unit_program;

static int by_place(const void *a, const void *b)
{
	const struct unit_test *const *x = a, *const *y = b;
	int files = strcmp((*x)->file, (*y)->file);

	return files ? files : (*x)->line - (*y)->line;
}

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_hodo_unit_tests - __start_hodo_unit_tests);
	const char *lacking = unit_program.lacks ? unit_program.lacks() : NULL;
	const struct unit_test **sorted;
	struct CMUnitTest *tests;
	int failed;

	if (argc > 1 && unit_program.command)
		return unit_program.command(argc, argv);
	if (lacking) {
		printf("skipped: %s\n", lacking);
		return SKIPPED;
	}
	sorted = malloc(n * sizeof(*sorted));
	tests = calloc(n, sizeof(*tests));
	if (!sorted || !tests)
		abort();
	memcpy(sorted, __start_hodo_unit_tests, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_place);
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ sorted[i]->name, sorted[i]->run, sorted[i]->setup,
						sorted[i]->teardown, NULL };
	failed = _cmocka_run_group_tests(argv[0], tests, n, unit_program.setup, unit_program.teardown);
	free(tests);
	free(sorted);
	return failed;
}

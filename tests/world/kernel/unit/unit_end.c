/* SPDX-License-Identifier: MIT */
/* unit_end.c - the end of the section of tests: see unit.c. */
#include <lib/unit.h>

extern const struct unit_test *const hodo_unit_end;
const struct unit_test *const hodo_unit_end __attribute__((section("hodo_unit_tests"), used)) = NULL;

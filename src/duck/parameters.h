/* SPDX-License-Identifier: MIT */
/* parameters.h - the values that statements get, and whether all of them were wanted. */
#pragma once

#include "duck_impl.h"

#include <base/near.h>
#include <base/why.h>
#include <stdlib.h>

struct duck_parameters {
	const struct hodo_duck_parameter *given;
	uint32_t n;
	bool *used;             /* some statement has it */
	bool any;               /* some statement has parameters */
	struct hodo_near *near; /* names of the statements' like it */
};

int duck_parameters_start(struct duck_parameters *p, const struct hodo_duck_parameter *given, uint32_t n);
void duck_parameters_end(struct duck_parameters *p);
/* Gives a statement its values. 0, or a negative errno: it has one that was not given. */
int duck_parameters_bind(struct duck_parameters *p, duck_handle statement, struct hodo_why *e);
/* After all statements were bound: 0, or -EINVAL: none has one that was given. */
int duck_parameters_check(struct duck_parameters *p, struct hodo_why *e);

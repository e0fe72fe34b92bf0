/* SPDX-License-Identifier: MIT */
/* value.h - one value of a result as text. */
#pragma once

#include "duck_impl.h"

/* A column's type, taken apart once. */
struct duck_value_type {
	int id, stored; /* enum duck_type; stored: of decimals */
	uint8_t scale;  /* of decimals: digits behind the point */
	uint32_t n;        /* of lists 1, of maps 2, of structs their members */
	struct duck_value_type *members;
	char **keys; /* of structs */
};

/* False: there is no text for values of this type, or no memory. To be freed in any case. */
bool duck_value_type(struct duck_value_type *t, duck_handle type, unsigned depth);
void duck_value_type_free(struct duck_value_type *t);
bool duck_value_is_number(const struct duck_value_type *t);
/* Appends the value of a row; false: there is none, and null is appended in JSON. */
bool duck_value_put(struct hodo_text *to, duck_handle vector, const struct duck_value_type *t, uint64_t row,
		    enum hodo_duck_form form);

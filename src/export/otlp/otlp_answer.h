/* SPDX-License-Identifier: MIT */
/* otlp_answer.h - what a receiver did not take of a request that it took. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hodo_otlp_answer {
	uint64_t rejected; /* items */
	char why[200];     /* UTF-8 that can be shown; "" */
};

/* type: the answer's Content-Type; "": there is none. What is no such answer rejects nothing. */
void hodo_otlp_answer_read(struct hodo_otlp_answer *answer, const char *type, const void *data, size_t len);

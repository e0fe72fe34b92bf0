/* SPDX-License-Identifier: MIT */
/* function_names.h - names of functions, as the verbs that read recordings use them. */
#ifndef HODO_EXPORT_FUNCTION_NAMES_H
#define HODO_EXPORT_FUNCTION_NAMES_H

#include "symbols.h"

/* For hodo_read_symbols(); data is a struct hodo_symbols. NULL where there is nothing better than the address. */
const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address);
/* Whether two addresses lie in one function, as far as that is known. */
bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b);
/* Whether a name is of the glob, with its parameters or without. */
bool hodo_function_is(const char *glob, const char *name);

#endif

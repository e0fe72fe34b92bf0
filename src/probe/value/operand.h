/* SPDX-License-Identifier: MIT */
/* operand.h - the arguments of static probes, as fields whose fetch programs a slot runs (event_code.h). */
#ifndef HODO_PROBE_VALUE_OPERAND_H
#define HODO_PROBE_VALUE_OPERAND_H

#include <elf/sdt.h>

#include "value.h"

/*
 * The field of a static probe's n-th argument, from 1. frame: rbp is the frame pointer there. 0; -ENOENT: it is not understood, or its symbol is not in the file's data; -ENOMEM. Free it in any
 * case.
 */
int hodo_probe_operand(struct hodo_probe_field *f, const struct hodo_elf *e, const struct hodo_sdt_arg *arg,
		       bool frame, unsigned n);

#endif

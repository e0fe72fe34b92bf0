/* SPDX-License-Identifier: MIT */
/* operand.h - the arguments of static probes, as fields whose fetch programs a slot runs (event_code.h). */
#ifndef HODO_PROBE_OPERAND_H
#define HODO_PROBE_OPERAND_H

#include <elf/sdt.h>

#include "value.h"

/*
 * The field of a static probe's argument, which is the n-th, from 1. What the program itself could read there cannot
 * fault. 0; -ENOENT: it is not understood, or has a symbol that is not one of the file's data; -ENOMEM. It is to be
 * freed in any case.
 */
int hodo_probe_operand(struct hodo_probe_field *f, const struct hodo_elf *e, const struct hodo_sdt_arg *arg,
		       unsigned n);

#endif

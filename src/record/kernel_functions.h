/* SPDX-License-Identifier: MIT */
/* kernel_functions.h - which functions of the kernel are meant, and what readers need to name them. */
#ifndef HODO_RECORD_KERNEL_FUNCTIONS_H
#define HODO_RECORD_KERNEL_FUNCTIONS_H

#include "catalog.h"
#include "functions.h"

/* The path of the object that stands for the kernel and its modules. */
#define HODO_KERNEL_OBJECT "[kernel]"

/*
 * Looks for them in the kernel's own list. Where the kernel has no fprobe, functions that are few are named by their
 * addresses from now on: only so are their exits reported; and so are those that the list has under another name.
 * 0; -ESRCH: there is none; other errno. With a line in why.
 */
int hodo_kernel_functions_resolve(struct hodo_functions *f, char *why, size_t size);

/* Adds the object. 0 or negative errno. */
int hodo_kernel_functions_object(struct hodo_catalog *catalog);

#endif

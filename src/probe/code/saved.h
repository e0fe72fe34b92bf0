/* SPDX-License-Identifier: MIT */
/*
 * saved.h - what decoding an object found, as bytes: its functions, exits and marks, without the code itself. For the
 * same file, at any time, and the same build of this program.
 */
#pragma once

#include "object.h"

/* Of an object that hodo_probe_object_open() has just opened: it has no window of a plan. 0 or -ENOMEM; the caller
 * frees *bytes. */
int hodo_probe_object_save(const struct hodo_probe_object *o, uint8_t **bytes, size_t *n);
/*
 * Like hodo_probe_object_open(), without decoding: e is the file. The bytes are hostile. 0; -EBADMSG: they do not fit
 * the file, or contradict themselves; errors of reading the file. After an error the object is closed.
 */
int hodo_probe_object_restore(struct hodo_probe_object *o, const struct hodo_elf *e, const uint8_t *bytes, size_t n);

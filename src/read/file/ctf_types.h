/* SPDX-License-Identifier: MIT */
/* ctf_types.h - types in the TSDL that record and export write. */
#ifndef HODO_READ_FILE_CTF_TYPES_H
#define HODO_READ_FILE_CTF_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include <base/text.h>

/* Declares all that hodo_ctf_type() has. */
void hodo_ctf_declare_types(struct hodo_text *t);
/* The name of a type in enum hodo_type, or of an array's elements. */
const char *hodo_ctf_type(uint8_t type);
/* Whether a field of that type may have labels: an integer. */
bool hodo_ctf_has_labels(uint8_t type);
/* An integer type with n labels, whose values are converted to the type, as in C. */
void hodo_ctf_enum(struct hodo_text *t, uint8_t type, uint32_t n, const char *const *labels, const int64_t *values);
void hodo_ctf_uuid(struct hodo_text *t, const uint8_t uuid[16]);

#endif

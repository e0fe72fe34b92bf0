/* SPDX-License-Identifier: MIT */
/* gen_identity.h - recordings in which one thing is easily taken for another. */
#ifndef HODO_TESTS_GEN_IDENTITY_H
#define HODO_TESTS_GEN_IDENTITY_H

void gen_ids(const char *top);
void gen_names(const char *top);

#endif

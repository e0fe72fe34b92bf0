/* SPDX-License-Identifier: MIT */
/*
 * preload.h - how the command's environment names the libraries to preload.
 */
#ifndef HODO_RECORD_JOIN_PRELOAD_H
#define HODO_RECORD_JOIN_PRELOAD_H

#include <base/text.h>

/* Makes LD_PRELOAD's text for library, one path or two separated by a colon; text must be empty. */
void hodo_preload_text(struct hodo_text *text, const char *library);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * preload.h - how the environment of the command names the libraries that its loader is to load.
 */
#ifndef HODO_RECORD_PRELOAD_H
#define HODO_RECORD_PRELOAD_H

#include <base/text.h>

/* LD_PRELOAD's text for library, which is one path or two with a colon between; text is empty. */
void hodo_preload_text(struct hodo_text *text, const char *library);

#endif

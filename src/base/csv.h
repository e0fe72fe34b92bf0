/* SPDX-License-Identifier: MIT */
/* csv.h - cells of a table of comma separated values (RFC 4180). */
#pragma once

#include "text.h"

/*
 * A text as a cell; one that is empty has quotes, unlike a value that is not there. A spreadsheet computes what begins
 * like a formula: that has a ' before it, and what begins with one has another, so that the first can be taken off. Not
 * for numbers, which may begin with a minus.
 */
void hodo_csv_text(struct hodo_text *out, const char *text, size_t len);

/* SPDX-License-Identifier: MIT */
/* overview.h - what hodo PROGRAM shows at the end. */
#ifndef HODO_CLI_OVERVIEW_H
#define HODO_CLI_OVERVIEW_H

#include <stdio.h>

/* The table of the recording's events, and which commands show more. */
void hodo_overview(FILE *f, const char *dir, char **command);

#endif

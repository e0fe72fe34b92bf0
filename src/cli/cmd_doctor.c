/* SPDX-License-Identifier: MIT */
/* hodo doctor. */
#include "cli.h"

#include <stdio.h>

int hodo_cmd_doctor(int argc, char **argv)
{
	(void)argc;
	fprintf(stderr, "hodo: %s: not built yet\n", argv[0]);
	return 1;
}

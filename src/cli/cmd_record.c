/* SPDX-License-Identifier: MIT */
/* hodo record. */
#include "cli.h"

#include <stdio.h>

int hodo_cmd_record(int argc, char **argv)
{
	(void)argc;
	fprintf(stderr, "hodo: %s: not built yet\n", argv[0]);
	return 1;
}

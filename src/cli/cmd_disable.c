/* SPDX-License-Identifier: MIT */
/* cmd_disable.c - hodo disable. */
#include "cli.h"
#include "switch.h"

static const char help[] =
	"usage: hodo disable [options] PID EVENT[,EVENT...]...\n\n"
	"Switches events of the process PID off, until 'hodo enable' switches them on\n"
	"again: in this recording and in later ones. EVENT is PROVIDER:NAME, with\n"
	"* ? [...].\n\n"
	"  -q, --quiet      do not tell how many\n"
	"  -h, --help\n";

int hodo_cmd_disable(int argc, char **argv)
{
	return hodo_switch_events(argc, argv, false, help);
}

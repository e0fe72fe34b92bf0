/* SPDX-License-Identifier: MIT */
/* cmd_enable.c - hodo enable. */
#include "cli.h"
#include "switch.h"

static const char help[] =
	"usage: hodo enable [options] PID EVENT[,EVENT...]...\n\n"
	"Switches events of the process PID on, which is being recorded: also such as its\n"
	"recording left out, or 'hodo disable' switched off. EVENT is PROVIDER:NAME, with\n"
	"* ? [...].\n\n"
	"  -q, --quiet      do not tell how many\n"
	"  -h, --help\n";

int hodo_cmd_enable(int argc, char **argv)
{
	return hodo_switch_events(argc, argv, true, help);
}

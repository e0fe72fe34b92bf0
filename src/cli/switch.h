/* SPDX-License-Identifier: MIT */
/* switch.h - what hodo enable and hodo disable share. */
#ifndef HODO_CLI_SWITCH_H
#define HODO_CLI_SWITCH_H

#include <stdbool.h>

/* argv: [options] PID EVENT... The exit status. */
int hodo_switch_events(int argc, char **argv, bool on, const char *help);

#endif

/* SPDX-License-Identifier: MIT */
/* on_signal.h - a signal that asks a verb to end: it finishes or removes what it writes, and says what there is. */
#pragma once

#include <signal.h>

extern volatile sig_atomic_t hodo_stopped; /* by this signal; 0: by none */

/* SIGINT, SIGTERM and SIGHUP set it, unless they are ignored; once: who is in a hurry sends another one. */
void hodo_stop_by_signals(void);

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "on_signal.h"

volatile sig_atomic_t hodo_stopped;

static void on_signal(int signum)
{
	hodo_stopped = signum;
}

void hodo_stop_by_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND }, old;

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

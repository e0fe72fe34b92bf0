/* SPDX-License-Identifier: MIT */
/* app.c - a program with events: app [COUNT [STATUS | -SIGNAL]]. It prints one line. */
#include <hodo/trace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 3, end = argc > 2 ? atoi(argv[2]) : 0;

	printf("app: pid %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < count; i++)
		HODO_EVENT(app, tick, i);
	if (count > 0)
		HODO_MARK(app, done, "%d ticks", count);
	if (count < 0)
		HODO_EVENT(other, never, count);
	if (getenv("APP_WAIT"))
		pause();
	if (end < 0)
		raise(-end);
	return end;
}

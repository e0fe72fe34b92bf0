/* SPDX-License-Identifier: MIT */
/*
 * hazards.c - hazards SCENE|all: runs a scene, or all except those that end the process. With TICK_US in the
 * environment, a signal handler, which is traced too, runs every TICK_US microseconds meanwhile.
 */
#include "hazards.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

COUNT(main);
COUNT(on_tick);
COUNT(tick_inner);

static const struct scene {
	const char *name;
	int (*run)(void);
	int alone; /* "all" does not run it */
} scenes[] = {
	{"longjmp", scene_longjmp, 0},
	{"longjmp_handler", scene_longjmp_handler, 0},
	{"longjmp_altstack", scene_longjmp_altstack, 0},
	{"coroutines", scene_coroutines, 0},
	{"coroutines_threads", scene_coroutines_threads, 0},
	{"altstack", scene_altstack, 0},
	{"threads", scene_threads, 0},
	{"cancel", scene_cancel, 0},
	{"pthread_exit", scene_pthread_exit, 0},
	{"fork", scene_fork, 0},
	{"vfork", scene_vfork, 0},
	{"values", scene_values, 0},
	{"tail_calls", scene_tail_calls, 0},
	{"callbacks", scene_callbacks, 0},
	{"ifunc", scene_ifunc, 0},
	{"leaves", scene_leaves, 0},
	{"backtrace", scene_backtrace, 0},
	{"deep", scene_deep, 1},
	{"storm", scene_storm, 1},
	{"cancel_anywhere", scene_cancel_anywhere, 1},
	{"exec_thread", scene_exec_thread, 1},
	{"child", scene_child, 1},
};

static volatile int ticks;

TRACED static int tick_inner(int n)
{
	ENTER(tick_inner);
	int r = n + 1;

	LEAVE(tick_inner);
	return r;
}

TRACED static void on_tick(int sig)
{
	ENTER(on_tick);
	ticks = tick_inner(sig);
	LEAVE(on_tick);
}

int main(int argc, char **argv)
{
	ENTER(main);
	const char *us = getenv("TICK_US");
	int status = 2;

	if (argc == 2 && us && strcmp(argv[1], "child") != 0)
		counts_ticks(atol(us), on_tick);
	for (unsigned i = 0; argc == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (!strcmp(argv[1], scenes[i].name) || (!strcmp(argv[1], "all") && !scenes[i].alone)) {
			int r = scenes[i].run();

			status = status == 2 ? r : status | r;
		}
	}
	if (status == 2)
		fprintf(stderr, "usage: hazards SCENE\n");
	fflush(stdout);
	LEAVE(main);
	return status;
}

/* SPDX-License-Identifier: MIT */
/* output_aside.h - temporary output: it gets its name when it is complete, and is removed if a signal ends
 * us. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* From now on, write errors do not end the process, so that nothing incomplete is left behind. */
void hodo_aside_prepare(void);
/* Makes the file or directory, which must not exist; path must stay valid until hodo_aside_over(). Its
 * descriptor, or -1 and errno. */
int hodo_aside_make(const char *path, mode_t mode, bool directory);
/* Gives it its name; replace: an existing one. 0 or a negative errno: -EEXIST. */
int hodo_aside_place(const char *aside, const char *path, bool replace);
/* A line to be written to standard error if a signal ends us meanwhile; NULL: none. */
void hodo_aside_say(const char *line);
/*
 * Removes what a process that was killed has left: directories PATH.PID.part or PATH.PID-N.part beside path, of
 * processes that are gone and hold no lock there, and says so unless quiet.
 */
void hodo_aside_sweep(const char *path, bool quiet);
/* Removes it with all that is in it. */
void hodo_aside_remove(const char *aside);
/* It has its name, or has been removed. */
void hodo_aside_over(void);

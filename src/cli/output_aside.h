/* SPDX-License-Identifier: MIT */
/* output_aside.h - what a verb writes aside: it gets its name when it is whole, and is removed if a signal ends us. */
#ifndef HODO_CLI_OUTPUT_ASIDE_H
#define HODO_CLI_OUTPUT_ASIDE_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on writing fails where the system would end us for it: nothing half written is left behind. */
void hodo_aside_prepare(void);
/* The file or directory, which must not exist; path stays until hodo_aside_over(). Its descriptor, or -1 and errno. */
int hodo_aside_make(const char *path, mode_t mode, bool directory);
/* Gives it its name; replace: what is there. 0 or a negative errno: -EEXIST. */
int hodo_aside_place(const char *aside, const char *path, bool replace);
/* It has its name, or has been removed. */
void hodo_aside_over(void);

#endif

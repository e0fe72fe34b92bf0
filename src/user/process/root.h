/* SPDX-License-Identifier: MIT */
/* root.h - LD_PRELOAD of an image in a root directory where its libraries are not. */
#pragma once

#include <user/user.h>

HODO_HIDDEN void hodo_root_init(char *const *envp); /* in the constructor */

/* Whether libhodo can be opened by the name under which this process preloaded it, or it did not. Signal safe. */
HODO_HIDDEN bool hodo_root_has_library(void);

struct hodo_root {
	size_t at; /* which entry LD_PRELOAD is */
	char preload[4096]; /* that entry; "": it goes */
};
/*
 * Where it cannot: asks the recorder for copies, and makes an LD_PRELOAD with these in place of our libraries, or
 * without any. How many pointers the changed environment has, its NULL counted; 0: it stays as it is. Signal safe.
 */
HODO_HIDDEN size_t hodo_root_change(struct hodo_root *root, char *const *envp);
HODO_HIDDEN void hodo_root_environment(struct hodo_root *root, char *const *envp, char **changed);

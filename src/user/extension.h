/* SPDX-License-Identifier: MIT */
/* extension.h - function tracing (func/), as the rest of libhodo knows it. */
#ifndef HODO_USER_EXTENSION_H
#define HODO_USER_EXTENSION_H

#include <hodo/abi_plan.h>
#include <hodo/tracer.h>
#include <link.h>
#include <stdbool.h>
#include <arch/writer.h>

enum hodo_plan_step {
	HODO_PLAN_FIRST = 0,
	HODO_PLAN_STOOD = 1, /* all threads have stood for the last one */
	HODO_PLAN_ANEW = 2,  /* it is in place of all that the recording had */
};

/* All that the rest calls in it. Under the control lock, but for the last five. */
struct hodo_extension {
	void (*init)(void);       /* before all others */
	void (*scan_begin)(void); /* each object once, then scan_end: those not seen are unloaded */
	/* How many functions it has; the complement of that: nobody wants functions. note: NULL: it has no stubs.
	 * is_short: its calls may be written as those of objects that are short. */
	int64_t (*object)(const struct dl_phdr_info *info, const struct hodo_note_functions *note, bool is_short);
	void (*scan_end)(void);
	void (*states)(void), (*forked)(void); /* adds its states to what events have; in a fork child, at first */
	/*
	 * Takes in the plan that has come, and answers: 0 or -errno; -EINPROGRESS: again, stood; -EEXIST: ask again;
	 * -ELIBACC: ask again with the libraries in `load`, each with a newline behind it.
	 */
	int (*plan)(int fd, enum hodo_plan_step step, char load[HODO_PLAN_LOAD_MAX]);
	void (*recording)(void);  /* a recording has begun or ended, or could not begin in a fork child */
	bool (*inside)(void);     /* the calling thread is in a tracer, or a handler that interrupted one */
	bool (*settle)(void);     /* no tracer runs that went before; false: a thread stays inside */
	int (*tracer_register)(struct hodo_tracer *tracer); /* as <hodo/tracer.h> says */
	int (*tracer_unregister)(struct hodo_tracer *tracer);
	int (*function_name)(const void *address, char *name, size_t bytes);
};
/* In libhodo-func.so, or in the same library. */
extern const struct hodo_extension hodo_extension HODO_SHARED __attribute__((weak));
/* That one while it is there, NULL: there is none, or not yet. */
extern HODO_HIDDEN const struct hodo_extension *hodo_func;

/* functions.c: loads libhodo-func.so, unless it is there. 0 or negative errno. Not under the control lock; takes the
 * loader's. */
HODO_HIDDEN int hodo_functions_load(void);
/* functions.c: likewise, libraries of somebody's, which stay; each has a newline behind it, which becomes a NUL. */
HODO_HIDDEN void hodo_libraries_load(char *paths);

#endif

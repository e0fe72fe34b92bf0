/* SPDX-License-Identifier: MIT */
/* extension.h - function tracing (func/), as the rest of libhodo sees it. */
#pragma once

#include <hodo/abi_plan.h>
#include <hodo/tracer.h>
#include <link.h>
#include <stdbool.h>
#include <arch/writer.h>

enum hodo_plan_step {
	HODO_PLAN_FIRST = 0,
	HODO_PLAN_STOOD = 1, /* all threads have been stopped since the last one */
	HODO_PLAN_ANEW = 2,  /* it replaces all that the recording had */
};

/* All that the rest calls in it. Under the control lock, except for the last five. */
struct hodo_extension {
	void (*init)(void);       /* before all others */
	void (*scan_begin)(void); /* then each object once, then scan_end: objects not seen are unloaded */
	/* Returns how many functions it has, or the complement of that: nobody wants functions. note: NULL:
	 * it has no stubs. is_short: its calls may be recorded in the short form. */
	int64_t (*object)(const struct dl_phdr_info *info, const struct hodo_note_functions *note, bool is_short);
	void (*scan_end)(void);
	void (*states)(void), (*forked)(void); /* adds its states to those of events; first in a fork child */
	/*
	 * Takes the plan that has arrived, and answers: 0 or -errno; -EINPROGRESS: again, stood; -EEXIST: ask
	 * again; -ELIBACC: ask again with the libraries in `load`, each followed by a newline.
	 */
	int (*plan)(int fd, enum hodo_plan_step step, char load[HODO_PLAN_LOAD_MAX]);
	void (*recording)(void);  /* a recording has begun or ended, or could not begin in a fork child */
	bool (*inside)(void);     /* the calling thread is in a tracer, or in a handler that interrupted one */
	bool (*settle)(void);     /* no former tracer still runs; false: a thread stays inside */
	int (*tracer_register)(struct hodo_tracer *tracer); /* see <hodo/tracer.h> */
	int (*tracer_unregister)(struct hodo_tracer *tracer);
	int (*function_name)(const void *address, char *name, size_t bytes);
};
/* In libhodo-func.so, or in the same library. */
extern const struct hodo_extension hodo_extension HODO_SHARED __attribute__((weak));
/* The extension, or NULL: there is none, or not yet. */
extern HODO_HIDDEN const struct hodo_extension *hodo_func;

/* functions.c: loads libhodo-func.so unless it is loaded. 0 or negative errno. Not under the control lock;
 * takes the loader's. */
HODO_HIDDEN int hodo_functions_load(void);
/* hodo_functions_load(), if our own library is a copy, which may not be there for long. */
HODO_HIDDEN void hodo_functions_load_copy(void);
/* functions.c: loads other libraries, which stay; each is followed by a newline, which becomes a NUL. Takes the
 * loader's lock, not under the control lock. */
HODO_HIDDEN void hodo_libraries_load(char *paths);

/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the loaded objects, their sites and slots, stores into their code, and probes on tracepoints.
 */
#pragma once

#include <link.h>
#include <user/event/event.h>

/* A loaded object. */
struct hodo_object {
	uintptr_t base, start, end, text, text_end; /* mapped; text: executable segments, first to last */
	const struct hodo_site *sites, *sites_end;
	uint32_t functions; /* with slots */
	bool seen;          /* in the current scan */
	bool known, planned; /* it was scanned before; the recording's plans cover it, if they should */
	bool idle;          /* its slots were made no-ops */
	bool sent;          /* to the recorder: HODO_RECORD_OBJECT */
	bool is_short;      /* the recorder knows it as short (hodo/abi.h) */
};
#define HODO_OBJECTS_MAX 4096

/* objects.c; under the control lock */
extern HODO_HIDDEN struct hodo_object hodo_objects[HODO_OBJECTS_MAX];
extern HODO_HIDDEN uint32_t hodo_nobjects;
/* All sites that have an event. */
HODO_HIDDEN void hodo_objects_each(void (*f)(const struct hodo_site *site, struct hodo_state *state, void *data),
				   void *data);
/* Makes it the current object; NULL: there is no room, or its unloading would not be noticed. */
HODO_HIDDEN struct hodo_object *hodo_objects_look_at(const struct dl_phdr_info *info);
HODO_SHARED bool hodo_objects_idle(void); /* its slots were made no-ops here */
HODO_SHARED size_t hodo_objects_room(uintptr_t p, uint32_t flags); /* bytes from p to the end of its segment */
HODO_SHARED const char *hodo_objects_path(const struct dl_phdr_info *info);
HODO_HIDDEN void hodo_objects_set_planned(void); /* the present objects are in the requested plan */
HODO_SHARED void hodo_objects_notes(const struct dl_phdr_info *info, const char *name,
				    void (*found)(const struct dl_phdr_info *info, uint32_t type, const void *desc,
						  size_t size, void *data),
				    void *data);
/* Where a self-relative field points. */
#define HODO_TARGET(field) ((uintptr_t)&(field) + (uintptr_t)(intptr_t)(field))

/* scan.c; under the control lock */
HODO_HIDDEN void hodo_objects_prepare(void); /* without the lock: takes the loader's */
HODO_SHARED void hodo_objects_scan(void);
HODO_HIDDEN void hodo_objects_scan_once(void); /* if they are not known yet */
HODO_SHARED void hodo_state_bind(struct hodo_state *state, struct hodo_event *event, const struct hodo_desc *desc);
/* Another libhodo serves an object (linked, beside a preloaded one); an object has events of another version. */
extern HODO_HIDDEN bool hodo_objects_foreign, hodo_objects_refused;

/* sites.c; under the control lock */
HODO_HIDDEN int hodo_sites_patch(void); /* makes each site jump or not, as its event wants. 0 or negative errno */
HODO_HIDDEN void hodo_sites_rebind(void); /* states' on pointers, after the recording changed */

/* patch.c; under the control lock */
HODO_HIDDEN void hodo_patch_init(void);
HODO_HIDDEN void hodo_patch_register(void); /* for barriers, unless that was done */
HODO_HIDDEN void hodo_patch_forked(void);
HODO_HIDDEN bool hodo_patch_has_rseq_barrier(void);
HODO_HIDDEN void hodo_patch_rseq_barrier(void); /* restarts every thread's restartable sequence */
HODO_SHARED bool hodo_patch_possible(void); /* false: running code must not be changed on this processor */
HODO_SHARED bool hodo_patch_barrier(void);
/*
 * Called after about so many ns of work: sleeps briefly now and then, so that a thread of the program that
 * had this CPU need not wait for the scheduler's next tick, up to 10 ms.
 */
HODO_SHARED void hodo_rest(uint32_t work_ns);

/* Stores many bytes into code: begin, any number of stores (cheapest in ascending order), end. */
struct hodo_patch {
	long mem;        /* /proc/self/mem, or negative errno */
	uintptr_t page;  /* the page whose copy is in bytes, 0: none */
	uint32_t first, last; /* its changed span; first > last: none */
	unsigned stored;
	int error;
	uint8_t bytes[HODO_PAGE];
};
HODO_SHARED void hodo_patch_begin(struct hodo_patch *p);
HODO_SHARED void hodo_patch_page(struct hodo_patch *p, uintptr_t page); /* continues with that page's bytes */
HODO_SHARED void hodo_patch_store(struct hodo_patch *p, uintptr_t addr, const void *bytes, size_t len);
/* Writes into one page where no thread runs what changes: no barriers. 0 or negative errno. */
HODO_HIDDEN int hodo_patch_write(uintptr_t addr, const void *bytes, size_t len);
HODO_SHARED int hodo_patch_end(struct hodo_patch *p); /* 0 or negative errno; cores have serialised */
static inline void hodo_patch_byte(struct hodo_patch *p, uintptr_t addr, uint8_t byte)
{
	uint32_t at = (uint32_t)(addr & (HODO_PAGE - 1));

	if (addr - at != p->page)
		hodo_patch_page(p, addr - at);
	p->bytes[at] = byte;
	p->first = at < p->first ? at : p->first;
	p->last = at > p->last ? at : p->last;
}
HODO_HIDDEN void hodo_patch_quiesce(void); /* waits for writers that saw an earlier on word */

/* loaded.c; under the control lock: in each scan begin, then each object, then end */
HODO_HIDDEN void hodo_loaded_begin(void);
/* object: NULL, or the current one. */
HODO_HIDDEN void hodo_loaded_object(struct hodo_object *object, const struct dl_phdr_info *info,
				    const struct hodo_note_functions *note);
HODO_HIDDEN bool hodo_loaded_end(void); /* whether objects with sites have gone that events still refer to */

/* The functions that libhodo interposes before other libraries'; see arch/x86_64/imports.S. */
enum hodo_replaced { HODO_CYG_ENTER, HODO_CYG_EXIT, HODO_MCOUNT, HODO_FENTRY, HODO_REPLACED };
struct hodo_interposed {
	uintptr_t at;   /* where a reference to the name leads; 0: nowhere */
	uintptr_t next; /* the next definition after libhodo */
	bool foreign;   /* that is not libc's */
};
/* As the loader resolved them when libhodo came up. */
extern HODO_SHARED struct hodo_interposed hodo_interposed[HODO_REPLACED];
extern HODO_SHARED void hodo_x86_enter(void), hodo_x86_exit(void), hodo_x86_mcount(void), hodo_x86_fentry(void);
extern HODO_SHARED void *hodo_x86_enter_to, *hodo_x86_exit_to, *hodo_x86_mcount_to, *hodo_x86_fentry_to;

/* loader.c */
HODO_HIDDEN void hodo_loader_hook(void);
/* Objects come and go unnoticed: those loaded after the start may be unloaded at any time. */
extern HODO_SHARED bool hodo_loader_blind;

/* probes.c */
HODO_HIDDEN const struct hodo_probes *hodo_probe_enter(struct hodo_state *state, uint32_t *token);
HODO_HIDDEN void hodo_probe_leave(uint32_t token);
HODO_HIDDEN int hodo_probe_register(const struct hodo_desc *desc, void (*func)(void), void *data);
HODO_HIDDEN int hodo_probe_unregister(const struct hodo_desc *desc, void (*func)(void), void *data);
HODO_HIDDEN void hodo_probe_after_fork(void);

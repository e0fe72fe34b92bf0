/* SPDX-License-Identifier: MIT */
/*
 * user.h - what the parts of libhodo share. All of it is hidden in the library; the public side is <hodo/trace.h> and
 * <hodo/control.h>.
 *
 * Locking: hodo_control_lock() guards the registry, the sites and the recording's state; it is held with all signals
 * blocked, taken after the loader's lock where both are held, and never by a writer. The writers' own exclusion is
 * described in core/ring.h.
 */
#ifndef HODO_USER_H
#define HODO_USER_H

#include <hodo/abi.h>
#include <hodo/tracer.h>
#include <link.h>
#include <stdbool.h>
#include <time.h>
#include <arch/writer.h>
#include <core/atomic.h>
#include <core/condition.h>
#include <core/config.h>
#include <core/ring.h>

/* ------------------------------------------------------------------- events */

struct hodo_event {
	const struct hodo_filter *filter; /* 0: refuse.S knows */
	struct hodo_probes *probes; /* 8: site.S knows. NULL or the current list, read inside probe_enter/leave */
	uint16_t room, id;          /* 16: room and plan (emit.h), writer.S knows */
	uint8_t plan[HODO_TRACE_FIELDS_MAX + 1], varying; /* varying: how many texts and arrays */
	uint8_t kind;
	uint8_t nfields;
	uint8_t types[HODO_TRACE_FIELDS_MAX];
	bool matched, disabled; /* a pattern of the recording names it; hodo_disable() does */
	bool filtered;  /* filter is in use */
	uint32_t bound; /* the recording, as rules.c counts them, of filter and rules */
	struct hodo_rules_event *rules; /* this event's conditions and spans; NULL: none */
	uint32_t states; /* states of loaded objects that refer to it */
	uint32_t nprobes;
	uint32_t record; /* offset of its record in the private catalogue */
};

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

/* ---------------------------------------------------------------- recording */

struct hodo_recording {
	bool on;               /* a recorder has this process's buffers, or they are our own file */
	bool awaits_start;            /* no event is recorded before a start trigger */
	bool stopped;          /* a stop trigger was met: no more events are recorded */
	bool waits;            /* writers wait for room in a full ring (wait.c) */
	bool semaphores;       /* the program has some: HODO_WANTS_GUARD */
	uint32_t by;           /* enum hodo_recorded_by */
	uint32_t recorder;     /* its pid, 0: not known */
	struct hodo_layout layout;
	struct hodo_ring_config ring;
	uint8_t *shm;          /* NULL: none */
	struct hodo_view *views; /* a table (writer.h); wiped in a fork child */
	struct hodo_msg_config config; /* as far as its texts go */
};
extern HODO_SHARED struct hodo_recording hodo_recording;

/* The view of a ring; the last is the fallback ring. */
static inline struct hodo_view *hodo_view_of(uint32_t ring)
{
	return &hodo_recording.views[ring == hodo_recording.layout.rings - 1 ? HODO_VIEWS : ring];
}
extern HODO_SHARED uint32_t hodo_zero_on; /* stays 0 */

static inline struct hodo_shm *hodo_shm(void) { return (struct hodo_shm *)hodo_recording.shm; }
static inline uint32_t *hodo_on_words(void) { return (uint32_t *)(hodo_recording.shm + HODO_SHM_ON); }

/* A semaphore may be raised while there is a recording, this one or another. Under the control lock. */
static inline void hodo_want_guard(void)
{
	hodo_recording.semaphores = true;
	if (hodo_recording.on && !(hodo_load(&hodo_shm()->wants) & HODO_WANTS_GUARD))
		__atomic_fetch_or(&hodo_shm()->wants, HODO_WANTS_GUARD, __ATOMIC_RELAXED);
}

/* state.c. In a section: asks for a snapshot; its number, 0: there is no recording. why may be NULL. */
HODO_HIDDEN uint32_t hodo_snapshot_want(const char *why);

/* lock.c */
HODO_SHARED uint64_t hodo_control_lock(void); /* returns the signal mask to restore */
HODO_SHARED void hodo_control_unlock(uint64_t mask);
/* Lets others take the lock while its holder waits for them; signals stay blocked. */
HODO_HIDDEN void hodo_control_release(void);
HODO_HIDDEN void hodo_control_retake(void);
/* A thread that is about to fork lends its lock to code that the loader calls. */
HODO_HIDDEN void hodo_control_lend(void);
HODO_HIDDEN void hodo_control_take_back(void);
/* As lock and unlock; under the loader's lock. */
HODO_HIDDEN uint64_t hodo_control_borrow(bool *borrowed);
HODO_HIDDEN void hodo_control_give_back(uint64_t mask, bool borrowed);
/* From now on, forks are noticed; false: that is not possible. set_up runs in a child, under the control
 * lock. */
HODO_HIDDEN bool hodo_process_watch_forks(void (*set_up)(void));
/* Whether this process is set up for the recording, or is a fork child, whose mark the kernel has wiped. */
enum hodo_fork_mark { HODO_FORKED = 0, HODO_SET_UP = 1, HODO_SETTING_UP = 2 };
extern HODO_SHARED const uint32_t *hodo_fork_mark;
/* Whether this is a fork child that has not been set up. */
static inline bool hodo_process_forked(void)
{
	return __builtin_expect(hodo_load_acquire(hodo_fork_mark) != HODO_SET_UP, 0);
}
HODO_SHARED void hodo_process_after_fork(void);
static inline void hodo_process_check_fork(void)
{
	if (hodo_process_forked())
		hodo_process_after_fork();
}
/*
 * Whether there is a recording to write to, with signals blocked: a handler that interrupted the slow path may have
 * forked and come back here in the child, which has neither its parent's rings nor its views. Until signals
 * are unblocked none can, so pointers to them stay valid.
 */
static inline bool hodo_process_recording(void)
{
	hodo_process_check_fork();
	return hodo_recording.on;
}
HODO_HIDDEN void hodo_process_set_up_child(void); /* in a fork handler */
HODO_HIDDEN void hodo_process_views(void); /* maps the table of views for a new recording */

/* ------------------------------------------------------------------- the system */

/* text.c: both append to the NUL-terminated text in size bytes; false: it was cut. Signal safe. */
HODO_HIDDEN bool hodo_text_add(char *to, size_t size, const char *text);
HODO_HIDDEN bool hodo_text_number(char *to, size_t size, uint64_t n);

/* file.c */
HODO_HIDDEN long hodo_file_read(long dir, const char *path, void *to, size_t size); /* bytes, or negative errno */
/* Its first line without the newline, always NUL-terminated. Bytes, or negative errno. */
HODO_HIDDEN long hodo_file_line(long dir, const char *path, char *text, size_t size);
HODO_HIDDEN int hodo_file_write(long fd, const void *data, uint64_t len, uint64_t at); /* 0 or negative errno */
HODO_HIDDEN void hodo_file_remove(const char *path);
/* 0, or the negative errno that a file of that size would meet, without raising SIGXFSZ. */
HODO_HIDDEN int hodo_file_limit(uint64_t bytes);
HODO_SHARED void hodo_file_each(long dir, void (*each)(long dir, const char *name, void *arg), void *arg);

/* socket.c: packet sockets, which never block. */
HODO_HIDDEN long hodo_socket_new(void); /* or negative errno */
HODO_HIDDEN long hodo_socket_send(int fd, const void *data, size_t len, int passed); /* passed: a descriptor, or -1 */
HODO_HIDDEN bool hodo_socket_peer(int fd, uint32_t *pid, uint32_t *uid); /* pid 0: not known here */

/* thread.c: starts one of ours, with all signals blocked. 0 or negative errno. */
HODO_HIDDEN int hodo_thread_start(void *(*run)(void *));

/* libc.c: whether the program's C library is glibc, not musl. */
HODO_HIDDEN bool hodo_libc_is_glibc(void);
HODO_HIDDEN const struct r_debug *hodo_libc_debug(void); /* musl's loader's; NULL: there is none */
HODO_HIDDEN char **hodo_libc_environment(char **argument); /* in a constructor; argument: its third */
HODO_HIDDEN uint64_t hodo_libc_signals(void); /* that no thread may block */
HODO_HIDDEN void hodo_libc_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));
/* The present objects of hodo_libc_debug() stay; in the constructor, or called by the loader. */
HODO_HIDDEN void hodo_libc_objects_settle(void);
/* Finds the object's program headers; false: not possible. */
HODO_HIDDEN bool hodo_libc_headers(const struct link_map *map, struct dl_phdr_info *info);
/* Replaces dl_iterate_phdr() if there is hodo_libc_debug(): all objects, without the loader's lock. */
HODO_HIDDEN int hodo_libc_objects_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* clone.c: in the constructor. */
HODO_HIDDEN void hodo_clone_prepare(void);

/* machine.c */
HODO_HIDDEN bool hodo_have_tsc(void);
HODO_HIDDEN uint32_t hodo_possible_cpus(void);
HODO_HIDDEN void hodo_process_name(char comm[16]);
HODO_HIDDEN void hodo_process_exe(char *path, size_t size);
HODO_HIDDEN const char *hodo_environment(char *const *envp, const char *name); /* value or NULL */

/* clock.c */
HODO_HIDDEN void hodo_clock_init(void);
HODO_HIDDEN int64_t hodo_clock_ns(clockid_t id);
HODO_HIDDEN uint64_t hodo_clock_read(uint32_t clock); /* ticks of enum hodo_clock, ordered after older loads */
HODO_SHARED uint64_t hodo_clock_now(void); /* likewise, of the recording's */
HODO_SHARED uint64_t hodo_ticks_now(void); /* of the recording's clock, or the TSC if there is none; in no order */
extern HODO_SHARED uint64_t hodo_ticks_per_s; /* as the recorder says; 0: it does not */

/* -------------------------------------------------------------------- recording */

/* recording.c: beginning and ending; under the control lock. */
struct hodo_memory {
	struct hodo_layout layout;
	uint8_t *shm;
	uint32_t by, recorder; /* as in struct hodo_recording */
};
HODO_HIDDEN int hodo_recording_possible(void); /* 0; -EBUSY: there is one; -EAGAIN: the last one is still ending */
/* Maps the file as the memory of memory->layout, still empty. 0 or negative errno. */
HODO_HIDDEN int hodo_recording_map(struct hodo_memory *memory, int fd);
HODO_HIDDEN bool hodo_config_valid(const struct hodo_msg_config *c, long len, struct hodo_layout *layout);
/* Takes the configuration and the memory, without beginning; afterwards the catalogue is in it. */
HODO_HIDDEN int hodo_recording_take(const struct hodo_msg_config *c, const struct hodo_memory *memory);
HODO_HIDDEN void hodo_recording_drop(void); /* … and gives them up again */
HODO_HIDDEN int hodo_recording_begin(void); /* events are on when it returns; 0 or an error of patching */
/*
 * Events are off when it returns; releases the lock in between. 0; -ENOTCONN: none, or it is ending; -EAGAIN:
 * a thread is still inside, the memory stays.
 */
HODO_HIDDEN int hodo_recording_end(void);
HODO_HIDDEN void hodo_recording_forked(void); /* in a fork child: the memory was not inherited */

/*
 * section.c: what runs between enter and leave may use the recording's memory and filters: the end of the
 * recording waits for it. Signal safe; sections nest. Returns a token for leave, 0: there is no recording.
 */
HODO_SHARED uint32_t hodo_section_enter(void);
HODO_SHARED void hodo_section_leave(uint32_t token);
/* Under the control lock. close: false if a thread stayed inside for two seconds. */
HODO_HIDDEN void hodo_section_open(void);
HODO_HIDDEN bool hodo_section_close(void);
HODO_HIDDEN bool hodo_section_empty(void);
HODO_HIDDEN void hodo_section_forked(void);

/* session.c: the session with the recorder. 0 or negative errno. */
HODO_HIDDEN int hodo_session_start(enum hodo_start start); /* on the socket in the environment, if any */
/* On a connection, which stays open. */
HODO_HIDDEN int hodo_session_converse(int fd, enum hodo_start start, uint32_t recorder);
/* Copies of the recorder's libraries for the root directory that the caller has: it waits for them. Signal safe. */
HODO_HIDDEN int hodo_session_libraries(struct hodo_msg_libraries *answer);
HODO_HIDDEN void hodo_session_join(const char *path); /* where fork children join; "": nowhere */
HODO_HIDDEN bool hodo_session_dead(void); /* the recorder of the present recording has exited */

/* listen.c */
enum hodo_listens { HODO_LISTENS_WANTED = 1, HODO_LISTENS_MADE = 2 }; /* the program wants it; it was made to */
HODO_HIDDEN void hodo_listener_init(char *const *envp);
HODO_HIDDEN int hodo_listener_start(uint32_t why);
HODO_HIDDEN void hodo_listener_lost(void);   /* in a fork child: the thread stayed in the parent */
HODO_HIDDEN void hodo_listener_forked(void); /* … after it: without the lock, in a fork handler */

/* keeper.c: the calling thread may be the first one, and a thread listens now. */
HODO_HIDDEN void hodo_keeper_watch(void);
HODO_HIDDEN void hodo_privileges_prepare(void); /* privileges.c: finds libc's functions */

/* control.c; under the control lock */
HODO_HIDDEN int hodo_control_set(const char *pattern, bool on);

/* flight.c; under the control lock, except for init (constructor) and start */
HODO_HIDDEN void hodo_flight_init(char *const *envp);
HODO_HIDDEN int hodo_flight_begin(enum hodo_start start); /* from the environment; -ENOTCONN: none is wanted */
HODO_HIDDEN int hodo_flight_copy(const char *why); /* a snapshot beside the file; its number or negative errno */
HODO_HIDDEN const char *hodo_flight_path(void);
HODO_HIDDEN void hodo_flight_clocks(void); /* notes the clocks; signal safe */
HODO_HIDDEN void hodo_flight_note_end(void);
extern HODO_HIDDEN bool hodo_flight_wanted; /* begin in this process and its fork children when possible */
HODO_HIDDEN void hodo_flight_objects(void); /* objects were loaded: their events may be the first */

/* rules.c: patterns, conditions and filters; under the control lock, except for pass and act. */
HODO_HIDDEN void hodo_rules_prepare(void); /* a recording begins: before events are selected */
HODO_HIDDEN void hodo_rules_select(struct hodo_event *event); /* what the recording wants of it */
/* In a section: what to do with the event, HODO_VERDICT_*. May change on words (start triggers). */
HODO_HIDDEN uint32_t hodo_rules_pass(struct hodo_event *event, uint32_t on, const struct hodo_piece *pieces,
				    size_t count);
HODO_HIDDEN void hodo_rules_act(const struct hodo_event *event, uint32_t verdict); /* in a section */
extern HODO_HIDDEN bool hodo_rules_filters; /* a hint: the recording has a filter */

/* pool.c; under the control lock */
HODO_HIDDEN void hodo_pool_reset(void); /* a recording begins */
HODO_HIDDEN void *hodo_pool_take(uint64_t size); /* NULL: no memory */
HODO_HIDDEN void *hodo_pool_copy(const void *from, size_t size);

/* buffers.c: one for each event under construction. */
#define HODO_BUFFERS 64u
struct hodo_buffers {
	uint8_t *memory;
	uint64_t bytes, stride;
	uint32_t process; /* that mapped them */
	struct {
		uint64_t since; /* 0: free */
		uint64_t pad[7]; /* each in a cache line of its own */
	} taken[HODO_BUFFERS];
};
/* When a recording begins: of that many bytes each. 0, or -ENOMEM. */
HODO_HIDDEN int hodo_buffers_make(struct hodo_buffers *b, uint64_t size);
HODO_HIDDEN void *hodo_buffers_take(struct hodo_buffers *b); /* in a section; NULL: all are taken */
HODO_HIDDEN void hodo_buffers_release(struct hodo_buffers *b, const void *buffer);

/* context.c: what comes before an event's fields. */
struct hodo_context {
	struct hodo_piece *piece; /* in the caller's room */
	uint32_t n;
	size_t total;
	uint32_t flags, fixed; /* what is wanted, and the part of the room with values stored nowhere else */
	void *buffer;
};
HODO_HIDDEN bool hodo_context_valid(const uint8_t *at, uint32_t len);
HODO_HIDDEN int hodo_context_prepare(void); /* a recording begins; 0 or negative errno */
HODO_HIDDEN void hodo_context_end(void);    /* it has ended; nobody gathers */
/* In a section: how many pieces of room it needs, besides the event's own, which follow. */
HODO_HIDDEN uint32_t hodo_context_room(struct hodo_context *c);
/* ip, sp, bp of the function that contains the event. */
HODO_HIDDEN void hodo_context_gather(struct hodo_context *c, struct hodo_piece *room, uintptr_t ip, uintptr_t sp,
				     uintptr_t bp);
HODO_HIDDEN void hodo_context_release(struct hodo_context *c); /* the event is written */
HODO_HIDDEN bool hodo_context_addresses(void); /* parts of it are code addresses, or lead to some */

/* counters.c. prepare: closes the threads' counters; NULL: no counters. Under the control lock, and nobody is
 * in put. */
HODO_HIDDEN void hodo_counters_prepare(const struct hodo_context_config *config);
/* Appends the calling thread's counters; opens them at the first event of a recording (epoch). In a section. */
HODO_HIDDEN uint8_t *hodo_counters_put(uint8_t *at, uint32_t epoch);

/* registry.c; all under the control lock */
extern HODO_HIDDEN struct hodo_event *hodo_events; /* [1 .. hodo_nevents]; mapped for the first one */
extern HODO_HIDDEN uint32_t hodo_nevents;
HODO_SHARED struct hodo_event *hodo_registry_add(const struct hodo_desc *desc, size_t room, const char *object);
HODO_HIDDEN struct hodo_event *hodo_registry_find(const struct hodo_desc *desc);
/* The n-th text of a descriptor of which room bytes may be read; "" if missing. */
HODO_HIDDEN const char *hodo_registry_text(const struct hodo_desc *desc, size_t room, unsigned n);
/* labels.c, also the next: takes the labels of a HODO_LABELS, and of an event's descriptor (core/labels.h).
 * */
HODO_HIDDEN void hodo_registry_labels(const struct hodo_desc *desc, size_t room);
HODO_HIDDEN void hodo_registry_event_labels(const struct hodo_event *event, const struct hodo_desc *desc,
					    size_t room);
#define HODO_EVENT_NAME_MAX (2u * HODO_NAME_MAX + 16u) /* bytes, the NUL included */
/* Stores its on word, from its state. Also in a section, without the lock; see rules.c. */
HODO_SHARED void hodo_registry_publish(struct hodo_event *event);
/* Whether a pattern names the event itself, or the span that it begins or ends. */
HODO_HIDDEN bool hodo_registry_matches(const char *pattern, const void *event);
/* Length of the span's name, which is the event's without .begin or .end; 0: not of a span. */
HODO_HIDDEN size_t hodo_registry_span_len(const struct hodo_event *event);
/* The value of a label of the event's field; false: no such label. Also in labels.c. */
HODO_HIDDEN bool hodo_registry_label(const struct hodo_event *event, const char *field, const char *label, size_t len,
				     int64_t *value);
HODO_HIDDEN const char *hodo_registry_name(const struct hodo_event *event);

/*
 * catalog.c; all under the control lock. What a recorder learns of a process's events, in records (abi.h). Kept
 * twice: in private memory, from which a fork child's new recording is filled, and in the recording's shared memory.
 */
#define HODO_CATALOG_RECORD_MAX 8192 /* bytes of one record: texts are cut to stay below */

/* The record under construction. */
struct hodo_catalog_build {
	uint32_t used;
	uint8_t bytes[HODO_CATALOG_RECORD_MAX] __attribute__((aligned(8)));
};
extern HODO_HIDDEN struct hodo_catalog_build hodo_catalog_build;

/* Begins a record with these bytes; the rest is zero. */
HODO_HIDDEN void hodo_catalog_begin(const void *head, size_t size);
/* Appends text, cut to what a record holds, and a NUL. */
HODO_HIDDEN void hodo_catalog_text(const char *text);
/* Appends n names of fields or labels. */
HODO_HIDDEN void hodo_catalog_names(const char *names, unsigned n);
/* Its place, or 0: there is no room. */
HODO_HIDDEN uint32_t hodo_catalog_append(void);
/* The record there. Moves when the catalogue grows. */
HODO_HIDDEN const uint8_t *hodo_catalog_at(uint32_t place);
HODO_HIDDEN const uint8_t *hodo_catalog_bytes(uint64_t *len); /* the private one */
HODO_SHARED void hodo_catalog_warning(const char *const *parts, unsigned n);
/* Adds a record that is complete except for its size; texts are its NUL-terminated texts. Cut to what a
 * record holds. */
HODO_HIDDEN void hodo_catalog_add(const struct hodo_record *record, size_t size, const char *text);
HODO_HIDDEN void hodo_catalog_export(void); /* copies it into a new recording's shared memory */

/* scan.c; under the control lock */
HODO_HIDDEN void hodo_objects_prepare(void); /* without the lock: takes the loader's */
HODO_SHARED void hodo_objects_scan(void);
HODO_HIDDEN void hodo_objects_scan_once(void); /* if they are not known yet */
/* Another libhodo serves an object (linked, beside a preloaded one); an object has events of another version.
 * */
extern HODO_HIDDEN bool hodo_objects_foreign, hodo_objects_refused;

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
HODO_SHARED void hodo_objects_notes(const struct dl_phdr_info *info, const char *name,
				    void (*found)(const struct dl_phdr_info *info, uint32_t type, const void *desc,
						  size_t size, void *data),
				    void *data);
/* Where a self-relative field points. */
#define HODO_TARGET(field) ((uintptr_t)&(field) + (uintptr_t)(intptr_t)(field))

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

/* roles.c */
#define HODO_ROLE_MAX 64u /* bytes of a role's name */
/* The role with that name; it stays valid. NULL: too many. Any thread, and signal handlers. */
HODO_SHARED const char *hodo_role_intern(const char *name, uint32_t length);
HODO_HIDDEN int hodo_role_set(const char *role); /* the calling thread's */

/* loaded.c; under the control lock: in each scan begin, then each object, then end */
HODO_HIDDEN void hodo_loaded_begin(void);
/* object: NULL, or the current one. */
HODO_HIDDEN void hodo_loaded_object(struct hodo_object *object, const struct dl_phdr_info *info,
				    const struct hodo_note_functions *note);
HODO_HIDDEN bool hodo_loaded_end(void); /* whether objects with sites have gone that events still refer to */

/* The functions that libhodo interposes before other libraries'; see arch/x86_64/imports.S. */
enum hodo_replaced { HODO_CYG_ENTER, HODO_CYG_EXIT, HODO_MCOUNT, HODO_FENTRY, HODO_REPLACED };
struct hodo_place {
	uintptr_t at;   /* where a reference to the name leads; 0: nowhere */
	uintptr_t next; /* the next definition after libhodo */
	bool foreign;   /* that is not libc's */
};
extern HODO_SHARED struct hodo_place hodo_places[HODO_REPLACED]; /* as the loader resolved them when libhodo came up */
extern HODO_SHARED void hodo_x86_enter(void), hodo_x86_exit(void), hodo_x86_mcount(void), hodo_x86_fentry(void);
extern HODO_SHARED void *hodo_x86_enter_to, *hodo_x86_exit_to, *hodo_x86_mcount_to, *hodo_x86_fentry_to;

/* namespaces.c: the loader's namespaces other than libhodo's; in the callback of dl_iterate_phdr(), except
 * for unload. */
HODO_HIDDEN void hodo_namespaces_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data);
HODO_HIDDEN const struct r_debug *hodo_namespaces_debug(void); /* of the first; NULL: there is no loader */
HODO_HIDDEN bool hodo_namespaces_unload(void); /* whether objects are vanishing from one of them */

/* loader.c */
HODO_HIDDEN void hodo_loader_hook(void);
/* Objects come and go unnoticed: those loaded after the start may be unloaded at any time. */
extern HODO_SHARED bool hodo_loader_blind;

/* view.c; with signals blocked. */
HODO_HIDDEN bool hodo_view_setup(uint32_t ring); /* makes it usable; false: not now */
/* Touches the pages of packets up to one ahead of seq, once per ring. */
HODO_HIDDEN void hodo_view_populate_ahead(struct hodo_view *v, uint64_t seq);
HODO_HIDDEN bool hodo_view_too_old(const struct hodo_view *v, uint64_t word); /* the open packet is */

/* fallback.c */
HODO_HIDDEN int hodo_fallback_prepare(void); /* a recording begins; 0 or -ENOMEM */
/* Writes the event to the fallback ring, or counts it as lost. In a section; the pieces fit in a packet. */
HODO_HIDDEN void hodo_fallback_write(struct hodo_state *state, const struct hodo_piece *pieces, size_t count);

/* emit.c */
HODO_HIDDEN void hodo_emit_init(void);
extern HODO_SHARED const struct hodo_ops hodo_user_ops;
HODO_SHARED void hodo_emit_slow(struct hodo_state *state, const void *data, size_t len);

/* probes.c */
HODO_HIDDEN const struct hodo_probes *hodo_probe_enter(struct hodo_state *state, uint32_t *token);
HODO_HIDDEN void hodo_probe_leave(uint32_t token);
HODO_HIDDEN int hodo_probe_register(const struct hodo_desc *desc, void (*func)(void), void *data);
HODO_HIDDEN int hodo_probe_unregister(const struct hodo_desc *desc, void (*func)(void), void *data);
HODO_HIDDEN void hodo_probe_after_fork(void);

#endif

/* SPDX-License-Identifier: MIT */
/* story_impl.h - what the files of the story share. */
#ifndef HODO_EXPORT_STORY_IMPL_H
#define HODO_EXPORT_STORY_IMPL_H

#include "function_names.h"
#include "pointer_map.h"
#include "scheduling.h"
#include "story.h"

/* What an event class means to the story. */
enum story_role { ROLE_INSTANT, ROLE_SPAN_BEGIN, ROLE_SPAN_END, ROLE_SYSCALL_BEGIN, ROLE_SYSCALL_END, ROLE_ASYNC_BEGIN,
		  ROLE_ASYNC_END, ROLE_COUNTER, ROLE_CALL };

struct story_class {
	enum story_role role;
	const char *name;        /* without ".begin", ".end" */
	struct hodo_track *track; /* ASYNC, COUNTER; made when first needed */
	struct story_class *base; /* the first class of that name and sort; ASYNC, COUNTER: it has the track */
};

/* An open slice. */
struct story_node {
	struct hodo_slice slice; /* first */
	struct hodo_place place;
	uint64_t inside_ns; /* of the slices inside of it */
	uint32_t level;     /* its index on its thread's stack */
	uint32_t splits;    /* how often it was split */
	bool listed;        /* in the table of story_open.c */
	bool gone;          /* a call whose slice has ended before it: told no more */
	uint64_t key;       /* in the table: ASYNC: its id; SPAN: the number of its name */
	struct story_node *next, *prev;   /* in its chain of the table; among gone calls; next: among free nodes, too */
	struct story_node *newer, *older; /* ASYNC: all */
};

/* A call that is known at its end only. */
struct story_whole {
	int64_t begin_ns, end_ns;
	uint64_t function;
	uint32_t depth, flags;
	uint32_t parent, child, next; /* of all that are kept; STORY_NO_CALL: none */
};
#define STORY_NO_CALL UINT32_MAX

struct story_thread {
	struct hodo_track track; /* first */
	struct story_process *process;
	struct story_node **stack;
	uint32_t nstack, room;
	int64_t told_ns; /* the latest time told of it */
	struct story_whole *wholes;
	uint32_t nwholes, wholes_room;
	struct story_thread *next;  /* in its chain */
	struct story_thread *later; /* the one that came next, of all */
};

struct story_process {
	const struct hodo_read_process *pub;
	struct story_class *classes; /* as pub->classes */
	uint32_t *index;             /* by class id: 1 + place in classes */
	uint32_t nindex;
	uint32_t number;
	bool lossy;
	struct story_thread *others; /* beyond HODO_STORY_TRACKS_MAX */
	struct story_process *next;
};

/* Open slices by what ends them. */
struct story_open {
	struct story_node **chains; /* 1 << bits */
	uint32_t bits, n;
};

struct story_threads {
	struct story_thread **chains; /* 1 << bits */
	uint32_t bits, n;
	struct story_thread *first, *last, *recent;
};

struct hodo_story {
	struct hodo_read *reader;
	struct hodo_symbols *symbols;
	struct hodo_story_ops ops;
	void *data;
	struct hodo_read_calls *calls;
	struct hodo_sched *sched;
	struct hodo_story_totals totals;
	const struct hodo_read_event *event; /* that is being told */
	int64_t now_ns;
	int error; /* what an op returned, or a negative errno */
	struct story_process *processes, *last;
	struct hodo_pointer_map by_pub;
	uint32_t nprocesses;
	struct story_threads threads;
	struct hodo_track **cpus;
	uint32_t ncpus, ntracks;
	struct story_open open;
	uint64_t seed[2]; /* of hashes */
	struct story_node *oldest, *newest; /* ASYNC */
	struct story_node *gone, *free;
	uint32_t nasync;
	struct story_name *names; /* all, to be freed */
};

/* story.c */
struct story_process *story_process(struct hodo_story *s, const struct hodo_read_process *pub); /* NULL: error is set */
struct story_class *story_class(struct story_process *p, const struct hodo_read_class *cls);
const char *story_name(struct hodo_story *s, const char *text, size_t len); /* NULL: error is set */
void story_track(struct hodo_story *s, struct hodo_track *track);
void story_instant(struct hodo_story *s, struct story_thread *t, bool unpaired); /* the event that is being told */
void story_fail(struct hodo_story *s, int error);

/* story_threads.c */
struct story_thread *story_thread(struct hodo_story *s, struct story_process *p, uint32_t pid, uint32_t tid,
				  const char *comm); /* NULL: error is set */
void story_threads_free(struct hodo_story *s);

/* story_stack.c: slices that nest */
struct story_node *story_push(struct hodo_story *s, struct story_thread *t, enum hodo_slice_kind kind, const char *name,
			      int64_t begin_ns); /* NULL: too deep, or error is set; not told yet */
void story_begin(struct hodo_story *s, struct story_node *node, const struct hodo_read_event *event);
void story_pop(struct hodo_story *s, struct story_thread *t, struct story_node *node, int64_t end_ns, uint32_t flags,
	       const struct hodo_read_event *event);
void story_end(struct hodo_story *s, struct story_node *node, const struct hodo_read_event *event); /* frees it */
struct story_node *story_node(struct hodo_story *s); /* NULL: error is set */
void story_close(struct hodo_story *s, struct story_thread *t); /* all, as OPEN */
void story_forget(struct hodo_story *s, struct story_node *node); /* a call that is gone: frees it */

/* story_open.c: a track's latest slice that has a key */
void story_seed(struct hodo_story *s);
uint64_t story_hash(const struct hodo_story *s, uint64_t a, uint64_t b, uint32_t bits); /* of bits bits, 1 to 63 */
bool story_open_put(struct hodo_story *s, struct story_node *node, uint64_t key); /* false: error is set */
struct story_node *story_open_find(const struct hodo_story *s, const struct hodo_track *track, uint64_t key);
void story_open_take_out(struct hodo_story *s, struct story_node *node); /* story_end() does it as well */

/* story_async.c: slices that are paired by what identifies them */
void story_async_begin(struct hodo_story *s, struct story_process *p, struct story_class *c);
void story_async_end(struct hodo_story *s, struct story_process *p, struct story_class *c, struct story_thread *t);
void story_async_close(struct hodo_story *s);
void story_async_free(struct hodo_story *s);

/* story_calls.c */
int story_calls_open(struct hodo_story *s); /* 0 or -ENOMEM */
void story_wholes(struct hodo_story *s, struct story_thread *t); /* tells those that are kept */

#endif

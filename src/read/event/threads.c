/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the names of threads. The metadata has the last name of each. In the kernel's trace, events of
 * the scheduler and of tasks have the current name: it holds until the next one. A forked thread has its
 * parent's name until execve, which gives it that of the file.
 */
#include "threads.h"
#include "fields.h"

#include <base/intern.h>
#include <base/map.h>
#include <core/search.h>
#include <read/file/class.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define THREADS_MAX (1u << 17)
#define NAMES_MAX   (1u << 16)
#define NAME_BYTES  63u
#define KERNEL_NAME_BYTES 15u

struct name {
	uint64_t tid;
	const char *comm;
	uint32_t len; /* of comm */
};

const struct hodo_read_thread *hodo_read_thread(const struct hodo_read_process *p, uint32_t tid)
{
	uint32_t i = hodo_search(k, p->nthreads, p->threads[k].tid >= tid);

	return i < p->nthreads && p->threads[i].tid == tid ? &p->threads[i] : NULL;
}

static bool is_tid(const struct hodo_read_field *f)
{
	return f->type == HODO_TYPE_I32 || f->type == HODO_TYPE_U32;
}

void hodo_read_names_bind(struct hodo_class *c)
{
	static const char *const pairs[CLASS_NAMES_MAX][2] = {
		{ "prev_pid", "prev_comm" },  { "next_pid", "next_comm" }, { "parent_pid", "parent_comm" },
		{ "child_pid", "child_comm" }, { "pid", "comm" },          { "pid", "newcomm" },
		{ "pid", "filename" }, /* of an exec event */
	};

	if (strncmp(c->pub.name, "sched:", 6) != 0 && strncmp(c->pub.name, "task:", 5) != 0)
		return;
	/* It has the waiter's name, but the tid of the thread waited for. */
	if (strcmp(c->pub.name, "sched:sched_process_wait") == 0)
		return;
	c->executes = strcmp(c->pub.name, "sched:sched_process_exec") == 0;
	for (unsigned i = 0; i < CLASS_NAMES_MAX - !c->executes; i++) {
		int tid = hodo_read_field(&c->pub, pairs[i][0]), comm = hodo_read_field(&c->pub, pairs[i][1]);

		if (tid < 0 || comm < 0 || !is_tid(&c->fields[tid]) || c->fields[comm].type != HODO_TYPE_STR)
			continue;
		c->names[c->nnames].tid = (uint8_t)tid;
		c->names[c->nnames++].comm = (uint8_t)comm;
	}
	c->renames = hodo_read_field(&c->pub, "newcomm") >= 0;
}

/* The kernel's name for a thread that executes the file at this path: its last component, cut. */
static struct hodo_read_value name_of_file(const struct hodo_read_value *path)
{
	struct hodo_read_value v = *path;
	const char *slash = v.count ? memrchr(v.data, '/', v.count) : NULL;

	if (slash) {
		v.count -= (uint32_t)(slash + 1 - (const char *)v.data);
		v.data = slash + 1;
	}
	if (v.count > KERNEL_NAME_BYTES)
		v.count = KERNEL_NAME_BYTES;
	return v;
}

struct hodo_known_thread *hodo_read_know_thread(struct hodo_thread_names *names, const struct hodo_read_process *p,
						uint32_t tid)
{
	struct hodo_known_thread *known = &names->recent[tid % 32];
	const struct name *name = hodo_map_find_u64(&names->by_tid, tid);
	const struct hodo_read_thread *thread = hodo_read_thread(p, tid);

	*known = (struct hodo_known_thread){ true, tid, thread ? thread->pid : 0, name ? name->len : UINT32_MAX,
					     name ? name->comm : thread ? thread->comm : NULL };
	return known;
}

static int learn(struct hodo_thread_names *names, const struct hodo_read_process *p, uint32_t tid,
		 const struct hodo_read_value *v)
{
	struct hodo_known_thread *known = hodo_read_known_thread(names, p, tid);
	uint32_t len = v->count < NAME_BYTES ? v->count : NAME_BYTES, text;
	struct name *name;

	if (v->null || (known->len == len && hodo_hash_same(known->comm, v->data, len)))
		return 0;
	if (names->by_tid.n >= THREADS_MAX || names->texts.map.n >= NAMES_MAX)
		return 0; /* those use the last name */
	text = hodo_strings_add_bytes(&names->texts, v->data, len);
	name = text == HODO_STRINGS_NONE ? NULL : hodo_map_add_u64(&names->by_tid, tid, NULL);
	if (!name)
		return -ENOMEM;
	name->comm = known->comm = hodo_strings_at(&names->texts, text);
	name->len = known->len = len;
	names->changes++;
	return 0;
}

int hodo_read_names_learn(struct hodo_thread_names *names, const struct hodo_read_process *p,
			  const struct hodo_class *c, const struct hodo_read_value *values)
{
	int err = 0;

	for (unsigned i = 0; i < c->nnames && !err; i++) {
		const struct hodo_read_value *name = &values[c->names[i].comm];
		uint32_t tid = (uint32_t)values[c->names[i].tid].u;
		struct hodo_read_value file;

		if (c->executes) {
			file = name_of_file(name);
			name = &file;
		}
		if (tid)
			err = learn(names, p, tid, name);
	}
	return err;
}

void hodo_read_names_clear(struct hodo_thread_names *names)
{
	hodo_hash_seed();
	memset(names->recent, 0, sizeof(names->recent));
	hodo_map_clear(&names->by_tid);
	names->by_tid.entry_bytes = sizeof(struct name);
	names->by_tid.key_bytes = sizeof(uint64_t);
	names->changes++;
}

void hodo_read_names_free(struct hodo_thread_names *names)
{
	hodo_map_free(&names->by_tid);
	hodo_strings_free(&names->texts);
}

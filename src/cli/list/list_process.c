/* SPDX-License-Identifier: MIT */
/* list_process.c - hodo list PID: by the process's own answer, else by the files that it has mapped. */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <base/arena.h>
#include <base/file.h>
#include <base/scope.h>
#include <record/record.h>

#include <plan/process_files.h>
#include <cli/target.h>

/* ------------------------------------------------------------ what it says itself */

static const struct hodo_read_labels *find_labels(const struct hodo_catalog *c, struct hodo_arena *memory,
						  const struct hodo_catalog_event *e, const char *field)
{
	const struct hodo_catalog_labels *found = hodo_catalog_labels_of(c, e, field);
	struct hodo_read_labels *labels = found ? hodo_must(hodo_arena_alloc(memory, sizeof(*labels))) : NULL;

	if (labels)
		*labels = (struct hodo_read_labels){ found->n, found->value, found->label };
	return labels;
}

/* The events of a catalogue as the reader's classes. */
static void add_catalog(struct hodo_list *l, const struct hodo_catalog *c, struct hodo_arena *memory)
{
	for (uint32_t i = 0; i < c->events; i++) {
		const struct hodo_catalog_event *e = c->event[i];
		struct hodo_read_field *fields = hodo_arena_alloc(memory, (e->nfields + 1u) * sizeof(*fields));
		const struct hodo_read_class class = {
			.size = sizeof(class), .id = e->id, .kind = e->kind, .name = e->name, .format = e->format,
			.file = e->file, .func = e->function, .line = e->line, .nfields = e->nfields, .fields = fields,
		};

		for (uint32_t k = 0; k < e->nfields; k++)
			hodo_must(fields)[k] = (struct hodo_read_field){ e->field[k], e->type[k],
							      find_labels(c, memory, e, e->field[k]) };
		hodo_list_add_class(l, &class, e->object);
	}
}

/* A copy, since the process may still change it. Its length, or a negative errno. */
static ssize_t copy_list(int fd, uint8_t *to, size_t size)
{
	struct stat st;
	ssize_t len;

	/* Anything else could keep us waiting. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EPROTO;
	len = hodo_file_read_at(fd, to, size, 0);
	return len < 0 || len >= HODO_EVENTS_MAX ? len : -EPROTO;
}

static int put_answer(const struct hodo_list_args *a, const struct hodo_target *t, int fd,
		      const struct hodo_msg_answer *answer)
{
	size_t size = HODO_EVENTS_MAX + HODO_CATALOG_SIZE;
	HODO_AUTO_FREE uint8_t *bytes = hodo_must(aligned_alloc(64, size));
	HODO_AUTO(hodo_list_free) struct hodo_list l = { .states = bytes, .answer = answer, .pid = t->pid };
	HODO_AUTO(hodo_catalog_free) struct hodo_catalog catalog = { 0 };
	HODO_AUTO(hodo_arena_free) struct hodo_arena memory = { 0 };
	ssize_t err = copy_list(fd, bytes, size);

	if (err >= 0)
		err = hodo_catalog_read(&catalog, bytes + HODO_EVENTS_MAX, (size_t)err - HODO_EVENTS_MAX);
	if (err == -ENOMEM)
		return hodo_no_memory();
	if (err < 0 || catalog.broken)
		return hodo_error("process %d sent a damaged list of events: check its libhodo",
				  (int)t->pid);
	for (uint32_t i = 0; i < catalog.warnings && !a->args.quiet; i++)
		hodo_warning("%s", catalog.warning[i]);
	add_catalog(&l, &catalog, &memory);
	return hodo_list_put(&l, a);
}

static int list_listener(const struct hodo_list_args *a, struct hodo_target *t)
{
	struct hodo_msg_answer answer;
	HODO_AUTO_CLOSE int fd = -1;

	if (hodo_target_ask(t, HODO_CONTROL_LIST, NULL, &answer, &fd) < 0)
		return hodo_error("%s", t->why.text);
	if (fd < 0)
		return hodo_error("process %d sent no list of events: check its libhodo", (int)t->pid);
	return put_answer(a, t, fd, &answer);
}

/* ---------------------------------------------------------------------- its files */

struct adding {
	struct hodo_list *list;
	const struct hodo_list_args *args;
};

static int add_file(void *arg, const struct hodo_process_file *file)
{
	const struct adding *a = arg;
	const struct hodo_read_options silent = { .size = sizeof(silent) };

	if (file->ours)
		return hodo_list_add_file(a->list, file->ours, file->path, &silent, a->args) == -ENOMEM ? -ENOMEM : 0;
	if (!a->args->args.quiet)
		hodo_warning("%s: was replaced or removed: its events are not listed", file->path);
	return 0;
}

static int list_files(const struct hodo_list_args *a, pid_t pid, bool listens)
{
	HODO_AUTO(hodo_list_free) struct hodo_list l = { .pid = pid };
	struct adding adding = { &l, a };
	int err = hodo_process_files(pid, add_file, &adding);

	if (!err && !a->args.quiet && !listens)
		hodo_warning("process %d does not listen: these are the events of its files: 'hodo record -p %d'"
			     " records them", (int)pid, (int)pid);
	return err ? hodo_cannot_read(a->path, err) : hodo_list_put(&l, a);
}

int hodo_list_process(const struct hodo_list_args *a)
{
	HODO_AUTO(hodo_target_close) struct hodo_target t = { .fd = -1, .pidfd = -1 };
	pid_t pid;
	int err = hodo_target_parse("list", a->path, &pid);

	if (err)
		return err;
	err = hodo_target_open(&t, pid);
	if (err && err != -ECONNREFUSED)
		return hodo_error("%s", t.why.text);
	/* It does not list functions and static probes itself. */
	return err || a->functions || a->sdt ? list_files(a, pid, !err) : list_listener(a, &t);
}

/* SPDX-License-Identifier: MIT */
/* list_process.c - hodo list PID: by what the process says itself, else by the files that it has mapped. */
#define _GNU_SOURCE
#include "list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/vec.h>
#include <record/record.h>

#include "cli.h"
#include "target.h"

#define FILES_MAX 1024u

/* ------------------------------------------------------------ what it says itself */

/* The events of a catalogue as the reader's classes. */
struct classes {
	struct hodo_catalog catalog;
	struct hodo_read_class *class;
	struct hodo_read_field *field; /* HODO_FIELDS_MAX a class */
	struct hodo_read_labels *labels; /* one a record of labels */
	const struct hodo_read_class **all;
};

static const struct hodo_read_labels *find_labels(const struct classes *c, const struct hodo_catalog_event *e,
						  const char *field)
{
	size_t provider = strcspn(e->name, ":");

	for (uint32_t i = 0; i < c->catalog.labels_count; i++) {
		const struct hodo_catalog_labels *l = c->catalog.labels[i];

		if (strlen(l->provider) == provider && strncmp(l->provider, e->name, provider) == 0 &&
		    strcmp(l->field, field) == 0)
			return &c->labels[i];
	}
	return NULL;
}

static int fill_classes(struct classes *c)
{
	uint32_t n = c->catalog.events, labels = c->catalog.labels_count;

	c->class = calloc(n + 1, sizeof(*c->class));
	c->field = calloc((size_t)n + 1, sizeof(*c->field) * HODO_FIELDS_MAX);
	c->labels = calloc(labels + 1, sizeof(*c->labels));
	c->all = calloc(n + 1, sizeof(*c->all));
	if (!c->class || !c->field || !c->labels || !c->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < labels; i++) {
		const struct hodo_catalog_labels *l = c->catalog.labels[i];

		c->labels[i] = (struct hodo_read_labels){ l->n, l->value, l->label };
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct hodo_catalog_event *e = c->catalog.event[i];
		struct hodo_read_field *fields = &c->field[(size_t)i * HODO_FIELDS_MAX];

		for (uint32_t k = 0; k < e->nfields; k++)
			fields[k] = (struct hodo_read_field){ e->field[k], e->type[k], find_labels(c, e, e->field[k]) };
		c->class[i] = (struct hodo_read_class){
			.size = sizeof(c->class[i]), .id = e->id, .kind = e->kind, .name = e->name, .format = e->format,
			.file = e->file, .func = e->function, .object = e->object, .line = e->line,
			.nfields = e->nfields, .fields = fields,
		};
		c->all[i] = &c->class[i];
	}
	return 0;
}

static void free_classes(struct classes *c)
{
	hodo_catalog_free(&c->catalog);
	free(c->class);
	free(c->field);
	free(c->labels);
	free(c->all);
}

/* A copy, since the process may change it still. len: of what is there, in the end. 0 or negative errno. */
static int copy_list(int fd, uint8_t *to, size_t size, size_t *len)
{
	struct stat st;
	ssize_t n;

	/* Anything else could keep us waiting. */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EPROTO;
	for (*len = 0; *len < size; *len += (size_t)n) {
		n = pread(fd, to + *len, size - *len, (off_t)*len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -errno;
		else if (n == 0)
			break;
	}
	return *len < HODO_EVENTS_MAX ? -EPROTO : 0;
}

static int put_answer(const struct hodo_list_args *a, const struct hodo_target *t, int fd,
		      const struct hodo_msg_answer *answer)
{
	size_t size = HODO_EVENTS_MAX + HODO_CATALOG_SIZE, len;
	uint8_t *bytes = aligned_alloc(64, size);
	struct classes c = { 0 };
	int status, err = bytes ? copy_list(fd, bytes, size, &len) : -ENOMEM;

	if (!err)
		err = hodo_catalog_read(&c.catalog, bytes + HODO_EVENTS_MAX, len - HODO_EVENTS_MAX);
	err = err == -ENOMEM ? err : c.catalog.broken ? -EPROTO : err < 0 ? err : fill_classes(&c);
	if (err && err != -ENOMEM) {
		hodo_error("process %d sent a list of events that is damaged: its libhodo is not what it should be",
			   (int)t->pid);
		status = HODO_EXIT_FAILURE;
	} else if (err) {
		status = hodo_list_failed(a->path, err);
	} else {
		struct hodo_list l = { .classes = c.all, .n = c.catalog.events, .states = bytes, .answer = answer,
				       .pid = t->pid };

		status = hodo_list_put(&l, a);
	}
	free_classes(&c);
	free(bytes);
	return status;
}

const char *hodo_list_recorded_by(const struct hodo_msg_answer *a, char *buffer, size_t size)
{
	if (a->by == HODO_BY_FLIGHT)
		snprintf(buffer, size, " by itself, in %s", a->path);
	else if (a->by == HODO_BY_NOBODY)
		buffer[0] = 0;
	else if (a->recorder)
		snprintf(buffer, size, " by hodo (process %u)", a->recorder);
	else
		snprintf(buffer, size, " by hodo");
	return buffer;
}

void hodo_list_recorded_by_json(struct hodo_json *j, const struct hodo_msg_answer *a)
{
	static const char *const by[] = { "nobody", "hodo", "flight" };

	hodo_json_string(j, "recorded_by", by[a->by <= HODO_BY_FLIGHT ? a->by : HODO_BY_NOBODY]);
	if (a->recorder)
		hodo_json_u64(j, "recorder", a->recorder);
	if (a->by == HODO_BY_FLIGHT)
		hodo_json_string(j, "flight", a->path);
}

static int list_listener(const struct hodo_list_args *a, struct hodo_target *t)
{
	struct hodo_msg_answer answer;
	char why[HODO_WHY_MAX];
	int fd, status;

	if (hodo_target_ask(t, HODO_CONTROL_LIST, NULL, &answer, &fd, why, sizeof(why)) < 0) {
		hodo_error("%s", why);
		if (fd >= 0)
			close(fd);
		return HODO_EXIT_FAILURE;
	}
	if (fd < 0)
		return hodo_error("process %d sent no list of events: its libhodo is not what it should be", (int)t->pid);
	status = put_answer(a, t, fd, &answer);
	close(fd);
	return status;
}

/* ---------------------------------------------------------------------- its files */

struct file {
	char path[PATH_MAX]; /* as the process sees it */
	char ours[PATH_MAX + 32];
	struct hodo_read_elf *elf;
	struct hodo_function_list functions;
};

struct files {
	struct file **file;
	uint32_t n;
	struct hodo_read_class *class; /* copies, whose object is what the process calls it */
	size_t classes;
	struct hodo_list list;
};

static bool has(const struct files *f, const char *path)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(f->file[i]->path, path) == 0)
			return true;
	return false;
}

/* Another file may have its name by now. */
static bool is_inode(const char *path, uint64_t inode)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == inode;
}

static int add_file(struct files *f, const struct hodo_list_args *a, pid_t pid, const char *path, uint64_t inode)
{
	struct file *file = calloc(1, sizeof(*file)), **at;
	struct hodo_read_options o = { .size = sizeof(o) };

	if (!file)
		return -ENOMEM;
	snprintf(file->path, sizeof(file->path), "%s", path);
	snprintf(file->ours, sizeof(file->ours), "/proc/%d/root%s", (int)pid, path);
	/* The program itself can be had whatever has become of its name. */
	if (!is_inode(file->ours, inode)) {
		snprintf(file->ours, sizeof(file->ours), "/proc/%d/exe", (int)pid);
		if (!is_inode(file->ours, inode)) {
			if (!a->args.quiet)
				hodo_warning("%s: is another file by now, or gone: its events are not listed", path);
			free(file);
			return 0;
		}
	}
	at = hodo_vec_add(f->file, f->n);
	if (!at) {
		free(file);
		return -ENOMEM;
	}
	*at = file;
	return hodo_read_elf_open(&file->elf, file->ours, &o) == -ENOMEM ? -ENOMEM : 0;
}

/* What is executable in its memory, once each. */
static int find_files(struct files *f, const struct hodo_list_args *a, pid_t pid)
{
	char path[32], *line = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return -errno;
	while (!err && f->n < FILES_MAX && (len = getline(&line, &room, maps)) > 0) {
		char perms[8], *name = strchr(line, '/');
		uint64_t inode;

		line[len - 1] = 0;
		if (!name || sscanf(line, "%*s %7s %*s %*s %" SCNu64, perms, &inode) != 2 || perms[2] != 'x' ||
		    strlen(name) >= PATH_MAX || has(f, name))
			continue;
		err = add_file(f, a, pid, name, inode);
	}
	free(line);
	fclose(maps);
	return err;
}

static int gather(struct files *f, const struct hodo_list_args *a)
{
	size_t n = 0;
	int err = 0;

	for (uint32_t i = 0; i < f->n; i++)
		n += f->file[i]->elf ? hodo_read_elf_nclasses(f->file[i]->elf) : 0;
	f->class = calloc(n + 1, sizeof(*f->class));
	f->list.classes = calloc(n + 1, sizeof(*f->list.classes));
	if (!f->class || !f->list.classes)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n && !err; i++) {
		struct file *file = f->file[i];

		for (uint32_t k = 0; file->elf && k < hodo_read_elf_nclasses(file->elf); k++) {
			f->class[f->list.n] = *hodo_read_elf_class(file->elf, k);
			f->class[f->list.n].object = file->path;
			f->list.classes[f->list.n] = &f->class[f->list.n];
			f->list.n++;
		}
		if (file->elf && !a->events)
			err = hodo_function_list_file(&file->functions, file->elf, file->ours);
		if (!err)
			err = hodo_function_list_merge(&f->list.functions, &file->functions, file->path);
	}
	return err;
}

static void free_files(struct files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		hodo_function_list_free(&f->file[i]->functions);
		hodo_read_elf_close(f->file[i]->elf);
		free(f->file[i]);
	}
	hodo_function_list_free(&f->list.functions);
	free(f->list.classes);
	free(f->class);
	free(f->file);
}

static int list_files(const struct hodo_list_args *a, pid_t pid, bool listens)
{
	struct files f = { .list.pid = pid };
	int err = find_files(&f, a, pid), status;

	if (!err)
		err = gather(&f, a);
	if (err) {
		status = hodo_list_failed(a->path, err);
	} else {
		if (!a->args.quiet && !listens)
			hodo_warning("process %d does not listen: these are the events of its files: 'hodo record -p %d'"
				     " records them", (int)pid, (int)pid);
		status = hodo_list_put(&f.list, a);
	}
	free_files(&f);
	return status;
}

int hodo_list_process(const struct hodo_list_args *a)
{
	struct hodo_target t;
	char why[HODO_WHY_MAX];
	pid_t pid;
	int err = hodo_target_parse("list", a->path, &pid), status;

	if (err)
		return err;
	err = hodo_target_open(&t, pid, why, sizeof(why));
	if (err && err != -ECONNREFUSED)
		return hodo_error("%s", why);
	/* Functions it does not list itself. */
	status = err || a->functions ? list_files(a, pid, !err) : list_listener(a, &t);
	hodo_target_close(&t);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * record_plan.c - see record_plan.h. All files that a process has mapped as code are looked at: those whose functions
 * are asked for, and those with system calls that its libhodo must see (src/probe/build.h). Decoding is what takes
 * time: a file is decoded once a recording, whichever processes have it.
 */
#define _GNU_SOURCE
#include "record_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>
#include <elf/slots.h>
#include <probe/arguments.h>
#include <probe/build.h>
#include <probe/events.h>
#include <probe/plan.h>
#include <probe/sdt.h>
#include <probe/select.h>
#include <probe/syscalls.h>

#include "cli.h"
#include "process_files.h"
#include "record_traps.h"

#define MAPS_MAX (64u << 20)
#define PAGE 4096ull

struct hodo_plan_file {
	dev_t dev;
	ino_t inode;
	off_t bytes;
	struct timespec changed;
	bool decoded;
	struct hodo_probe_object *object; /* NULL: refused */
	char *path; /* of the image */
	struct hodo_probe_image *image; /* NULL: not opened */
	bool slots_known, slots; /* it has functions that were built to be traced */
	bool calls_known, calls; /* it may have system calls that its libhodo must see */
	bool by_default; /* its functions were asked for in a process that was */
	bool said;       /* why it is refused */
	bool said_sources; /* that it has no debug information */
	char *soname;    /* NULL: not looked at */
	bool seen;       /* in planner->seen */
	enum hodo_probe_reason why;
	int err;
	uint32_t nsegments;
	struct {
		uint64_t address, offset; /* of pages */
	} segments[8]; /* of code */
};

/* A process while its plan is made. */
struct planning {
	struct hodo_planner *planner;
	pid_t pid;
	const struct hodo_plan_request *request;
	bool by_default;
	const char **patterns, **sdt;
	struct hodo_probe_target *targets;
	uint32_t ntargets;
	bool meant;      /* some file is */
	uint32_t wanted; /* functions */
};

/* -------------------------------------------------------------------------- files */

static void find_segments(struct hodo_plan_file *f, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && f->nsegments < sizeof(f->segments) / sizeof(f->segments[0]); i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		f->segments[f->nsegments].address = p.p_vaddr & ~(PAGE - 1);
		f->segments[f->nsegments++].offset = p.p_offset & ~(PAGE - 1);
	}
}

static bool has_slots(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_slots_free) struct hodo_elf_slots slots = { 0 };
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->slots_known && hodo_elf_open(&e, path) == 0)
		f->slots = hodo_elf_slots_find(&slots, &e) == 0 && slots.n;
	f->slots_known = true;
	return f->slots;
}

static bool may_call(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->calls_known && hodo_elf_open(&e, path) == 0)
		f->calls = hodo_probe_may_call(&e);
	f->calls_known = true;
	return f->calls;
}

static const char *soname_of(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->soname)
		f->soname = strdup(hodo_elf_open(&e, path) == 0 ? hodo_elf_soname(e.elf) : "");
	return f->soname ? f->soname : "";
}

static void decode(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (f->decoded)
		return;
	f->decoded = true;
	f->err = hodo_elf_open(&e, path);
	f->object = f->err ? NULL : calloc(1, sizeof(*f->object));
	if (!f->object)
		return;
	find_segments(f, e.elf);
	f->err = hodo_probe_object_open(f->object, &e, &f->why);
	if (f->err) {
		free(f->object);
		f->object = NULL;
	}
}

/* NULL: it is gone. */
static struct hodo_plan_file *file_of(struct hodo_planner *p, const char *path)
{
	struct hodo_plan_file *f;
	struct stat st;

	if (stat(path, &st) < 0)
		return NULL;
	for (uint32_t i = 0; i < p->nfiles; i++) {
		f = &p->files[i];
		if (f->dev == st.st_dev && f->inode == st.st_ino && f->bytes == st.st_size &&
		    !memcmp(&f->changed, &st.st_mtim, sizeof(f->changed)))
			return f;
	}
	f = hodo_vec_add(p->files, p->nfiles);
	if (!f)
		return NULL;
	f->dev = st.st_dev;
	f->inode = st.st_ino;
	f->bytes = st.st_size;
	f->changed = st.st_mtim;
	return f;
}

void hodo_planner_free(struct hodo_planner *p)
{
	for (uint32_t i = 0; i < p->nfiles; i++) {
		if (p->files[i].object)
			hodo_probe_object_close(p->files[i].object);
		free(p->files[i].object);
		free(p->files[i].soname);
		if (p->files[i].image)
			hodo_probe_image_close(p->files[i].image);
		free(p->files[i].image);
		free(p->files[i].path);
	}
	free(p->files);
	p->files = NULL;
	p->nfiles = 0;
}

/* ------------------------------------------------------------------------ a process */

static bool is_program(pid_t pid, const struct hodo_plan_file *f)
{
	char exe[32];
	struct stat st;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	return stat(exe, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->inode;
}

/* False: the file is not mapped there as its headers say. */
static bool find_bias(const struct hodo_plan_file *f, const struct hodo_process_file *mapped, uint64_t *bias)
{
	for (uint32_t i = 0; i < f->nsegments; i++) {
		if (f->segments[i].offset != mapped->offset)
			continue;
		*bias = mapped->start - f->segments[i].address;
		return true;
	}
	return false;
}

static const char *why_refused(const struct hodo_plan_file *f)
{
	return f->err == -EOPNOTSUPP ? hodo_probe_reason_text(f->why) : strerror(-f->err);
}

/* Once a file. */
static void say_refused(struct hodo_plan_file *f, const char *path)
{
	if (!f->said)
		hodo_warning("%s: its functions are not traced: %s", path,
			     why_refused(f));
	f->said = true;
}

/* Likewise. */
static void say_sourceless(struct hodo_plan_file *f, const char *path)
{
	if (!f->said_sources)
		hodo_warning("%s: its functions cannot be chosen by source file: it has no debug information", path);
	f->said_sources = true;
}

static struct hodo_probe_choice choice_of(const struct planning *p, struct hodo_plan_file *f,
					  const struct hodo_process_file *mapped)
{
	struct hodo_probe_choice choice = { .patterns = p->patterns, .npatterns = p->planner->functions->patterns.n,
					    .min_bytes = p->planner->min_bytes };

	choice.path = mapped->path;
	choice.soname = soname_of(f, mapped->ours);
	if (is_program(p->pid, f)) {
		f->by_default |= p->by_default;
		choice.by_default = f->by_default && !has_slots(f, mapped->ours);
	}
	return choice;
}

static bool is_asked_for(const struct planning *p, const struct hodo_process_file *mapped)
{
	const struct hodo_plan_request *r = p->request;

	for (uint32_t i = 0; i < r->n; i++)
		if (mapped->start >= (r->object[i].start & ~(PAGE - 1)) && mapped->start < r->object[i].end)
			return mapped->ours;
	return r->n == 0 && mapped->ours;
}

/* Whether something may be asked for that is in it. */
static bool is_meant(const struct planning *p, const struct hodo_probe_choice *choice)
{
	return hodo_probe_select_means(choice) || p->planner->sdt->n ||
	       hodo_record_probes_mean(p->planner->probes, choice->path, choice->soname);
}

/* A slot's call is not the engine's, which events are. */
static void say_slots(const struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped)
{
	if (f->said || !p->planner->arguments->n || !is_program(p->pid, f) || !has_slots(f, mapped->ours))
		return;
	hodo_warning("%s: arguments and results are not recorded: its compiler left room for tracing its functions; "
		     "build it without", mapped->path);
	f->said = true;
}

/* Before anything is decoded. */
static int look_at_file(void *arg, const struct hodo_process_file *mapped)
{
	struct planning *p = arg;
	struct hodo_plan_file *f = is_asked_for(p, mapped) ? file_of(p->planner, mapped->ours) : NULL;
	struct hodo_probe_choice choice;

	if (f) {
		choice = choice_of(p, f, mapped);
		p->meant |= is_meant(p, &choice);
		say_slots(p, f, mapped);
	}
	return 0;
}

/* For probes' texts, from the first one on. 0, -ENOMEM, or why it cannot be read. */
static int open_image(struct hodo_plan_file *f, const char *path)
{
	int err;

	if (f->image)
		return 0;
	f->path = strdup(path);
	f->image = calloc(1, sizeof(*f->image));
	err = f->path && f->image ? hodo_probe_image_open(f->image, f->path, NULL) : -ENOMEM;
	if (err) {
		free(f->image);
		free(f->path);
		f->image = NULL;
		f->path = NULL;
		return err;
	}
	f->image->code = f->object;
	return 0;
}

static int add_probes(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		      struct hodo_probe_target *t)
{
	struct hodo_record_probes *probes = p->planner->probes;
	const char *path = mapped->path, *soname = soname_of(f, mapped->ours);
	int err;

	if (!hodo_record_probes_mean(probes, path, soname))
		return 0;
	if (!f->object)
		return hodo_record_probes_take(probes, path, soname, NULL, why_refused(f), t);
	err = open_image(f, mapped->ours);
	if (err)
		return err == -ENOMEM ? err : hodo_record_probes_take(probes, path, soname, NULL, strerror(-err), t);
	return hodo_record_probes_take(probes, path, soname, f->image, NULL, t);
}

/* Of functions that are traced. That a pattern names none of them is nothing to be said: there are other files. */
static int add_arguments(const struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
			 struct hodo_probe_target *t)
{
	const struct hodo_pattern_list *patterns = p->planner->arguments;
	char error[HODO_SPEC_ERROR] = "";
	int err = patterns->n && t->nfunctions ? open_image(f, mapped->ours) : -ENOENT;

	for (uint32_t i = 0; i < patterns->n && !err; i++) {
		err = hodo_probe_arguments_add(t, f->image, patterns->pattern[i].text, error);
		if (err == -EINVAL && f->image->debug.dwarf)
			err = 0;
	}
	if (err && err != -ENOENT && err != -ENOMEM && !f->said)
		hodo_warning("%s: %s", mapped->path, *error ? error : strerror(-err));
	f->said |= err == -EINVAL;
	return err == -ENOMEM ? err : 0;
}

static int add_file(void *arg, const struct hodo_process_file *mapped)
{
	struct planning *p = arg;
	struct hodo_plan_file *f = is_asked_for(p, mapped) ? file_of(p->planner, mapped->ours) : NULL;
	struct hodo_probe_choice choice;
	struct hodo_probe_target *t;
	uint32_t *list = NULL;
	int err = 0;

	if (!f)
		return 0;
	choice = choice_of(p, f, mapped);
	if (!is_meant(p, &choice) && !may_call(f, mapped->ours))
		return 0;
	decode(f, mapped->ours);
	if (!f->object) {
		if (hodo_probe_select_means(&choice))
			say_refused(f, mapped->path);
		return f->err == -ENOMEM ? -ENOMEM : add_probes(p, f, mapped, NULL);
	}
	t = hodo_vec_add(p->targets, p->ntargets);
	if (!t)
		return -ENOMEM;
	*t = (struct hodo_probe_target){ .object = f->object, .system_calls = true };
	if (!find_bias(f, mapped, &t->bias)) {
		p->ntargets--;
		return 0;
	}
	if (hodo_probe_select_means(&choice)) {
		p->planner->seen += f->seen ? 0 : f->object->nfunctions;
		f->seen = true;
		err = hodo_probe_select(&choice, f->object, mapped->ours, &list, &t->nfunctions);
		if (choice.sourceless)
			say_sourceless(f, mapped->path);
	}
	t->functions = list;
	if (!err)
		err = hodo_probe_sdt(t, mapped->ours, p->sdt, p->planner->sdt->n);
	if (!err)
		err = add_probes(p, f, mapped, t);
	if (!err)
		err = add_arguments(p, f, mapped, t);
	p->wanted += t->nfunctions + t->nevents;
	return err;
}

/* ------------------------------------------------------------------------- the plan */

static int read_space(struct hodo_probe_space *space, pid_t pid)
{
	HODO_AUTO(hodo_text_free) struct hodo_text maps = { 0 };
	HODO_AUTO_CLOSE int fd = -1;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : hodo_file_read(fd, MAPS_MAX, &maps);
	return err ? err : hodo_probe_space_maps(space, hodo_text_string(&maps));
}

static int build(const struct planning *p, struct hodo_probe_built *built)
{
	HODO_AUTO(hodo_probe_space_free) struct hodo_probe_space space = { 0 };
	int err = read_space(&space, p->pid);

	if (!err)
		err = hodo_probe_build(p->targets, p->ntargets, &space, built);
	for (uint32_t i = 0; i < p->ntargets; i++)
		hodo_probe_plan_forget(p->targets[i].object);
	return err;
}

static const char *flaw(int err, const struct hodo_probe_built *built)
{
	return err == -EOPNOTSUPP ? hodo_probe_reason_text(built->reason) : strerror(-err);
}

static const char **texts_of(const struct hodo_pattern_list *list)
{
	const char **texts = calloc(list->n + 1, sizeof(*texts));

	for (uint32_t i = 0; texts && i < list->n; i++)
		texts[i] = list->pattern[i].text;
	return texts;
}

static void free_target(struct hodo_probe_target *t)
{
	free((void *)t->functions);
	hodo_probe_events_free(t);
}

int hodo_planner_plan(void *arg, const struct hodo_plan_request *request)
{
	struct hodo_planner *planner = arg;
	const pid_t pid = request->pid;
	struct planning p = { .planner = planner, .pid = pid, .request = request,
			      .by_default = planner->functions->tracers && (request->came || pid == planner->command) };
	const struct hodo_pattern_list *patterns = &planner->functions->patterns;
	struct hodo_probe_built built = { .fd = -1 };
	int err = -ENOMEM;

	p.patterns = texts_of(patterns);
	p.sdt = texts_of(planner->sdt);
	if (p.patterns && p.sdt)
		err = hodo_process_files(pid, look_at_file, &p);
	/* Where there is a plan already, there are traps: what is opened must have its system calls seen. */
	p.meant |= request->n > 0;
	if (!err && p.meant)
		err = hodo_process_files(pid, add_file, &p);
	if (!err)
		err = p.wanted || (request->n && p.ntargets) ? build(&p, &built) : -ENOENT;
	if (!err || err == -ENOENT)
		hodo_record_probes_look(planner->probes, p.targets, p.ntargets, request->came && !request->n);
	if (!err && !built.windows) {
		close(built.fd);
		err = -ENOENT;
	}
	if (!err)
		hodo_record_traps_look(p.targets, p.ntargets, &planner->said_traps);
	if (err && err != -ENOENT && err != -ESRCH)
		hodo_warning("process %d: functions that were not built to be traced are not: %s", (int)pid,
			     flaw(err, &built));
	for (uint32_t i = 0; i < p.ntargets; i++)
		free_target(&p.targets[i]);
	free(p.targets);
	free(p.patterns);
	free(p.sdt);
	return err ? err : built.fd;
}

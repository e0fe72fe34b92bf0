/* SPDX-License-Identifier: MIT */
/*
 * planner.c - examines all files that a process has mapped as code: those with selected functions, and those with
 * system calls that libhodo must see (probe/patch/build.h).
 */
#include "planner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <probe/value/arguments.h>
#include <probe/patch/build.h>
#include <probe/code/landings.h>
#include <probe/value/sdt.h>
#include <probe/text/select.h>

#include "report.h"

#define PAGE 4096ull

/* Where a target comes from. */
struct origin {
	struct hodo_plan_file *file;
	const struct hodo_process_file *mapped;
	bool by_default;
};

/* A process while its plan is made. */
struct planning {
	struct hodo_planner *planner;
	pid_t pid;
	struct hodo_plan_request *request;
	bool by_default;
	const char **patterns, **arguments, **sdt;
	struct hodo_text maps;
	struct hodo_process_files files;
	struct hodo_rights rights;
	struct stat exe; /* its program; all zero: gone */
	struct hodo_probe_target *targets;
	struct origin *origins; /* of the targets */
	uint32_t ntargets, norigins;
	uint64_t start;  /* where its program begins */
	uint32_t program; /* index of its program in targets */
	bool meant;      /* some file is */
	bool chosen;     /* of some file, functions with slots are chosen here (probe/text/select.h) */
	bool traced;     /* functions of some file are: they have slots, or get some */
	bool lands;      /* some file may leave calls, by exceptions and the like */
	bool landings;   /* so the places where it does are planned */
	uint32_t wanted; /* functions */
};

void hodo_planner_free(struct hodo_planner *p)
{
	hodo_plan_files_free(&p->files);
}

/* ------------------------------------------------------------------------ a process */

static bool is_program(const struct planning *p, const struct hodo_plan_file *f)
{
	return p->exe.st_dev == f->stat.st_dev && p->exe.st_ino == f->stat.st_ino;
}

static const char *why_refused(const struct hodo_plan_file *f)
{
	return f->err == -EOPNOTSUPP ? hodo_probe_reason_text(f->why) : strerror(-f->err);
}

static struct hodo_probe_choice choice_of(const struct planning *p, struct hodo_plan_file *f,
					  const struct hodo_process_file *mapped)
{
	struct hodo_probe_choice choice = { .patterns = p->patterns, .npatterns = p->planner->functions->n,
					    .min_bytes = p->planner->min_bytes };

	choice.path = mapped->path;
	choice.soname = hodo_plan_file_soname(f, mapped->ours);
	if (is_program(p, f)) {
		f->by_default |= p->by_default;
		choice.by_default = f->by_default && !hodo_plan_file_has_slots(f, mapped->ours);
	}
	if (hodo_probe_choice_by_source(&choice))
		choice.has_slots = hodo_plan_file_has_slots(f, mapped->ours);
	/* A slot's call does not have arguments. */
	if (p->planner->arguments->n && hodo_plan_file_has_slots(f, mapped->ours)) {
		choice.in_slots = p->arguments;
		choice.nin_slots = p->planner->arguments->n;
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

/* NULL: not selected, or gone, or no memory. */
static struct hodo_plan_file *file_of(const struct planning *p, const struct hodo_process_file *mapped)
{
	return is_asked_for(p, mapped) ? hodo_plan_files_get(&p->planner->files, &mapped->stat) : NULL;
}

/* Whether it may contain something selected. */
static bool is_meant(const struct planning *p, const struct hodo_probe_choice *choice,
		     const struct hodo_process_file *mapped)
{
	return hodo_probe_choice_wants_functions(choice) || p->planner->sdt->n ||
	       hodo_planner_probes_may_be_in(p->planner->probes, choice->path, choice->soname) ||
	       hodo_planner_replacements_may_be_in(p->planner->replacements, mapped, choice->soname);
}

/* For calls that are left (probe/code/landings.h), which must be of traced functions. */
static void look_for_landings(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
			      const struct hodo_probe_choice *choice)
{
	const unsigned how = HODO_PROBE_LANDS_REFERS | (is_program(p, f) ? HODO_PROBE_LANDS_DEFINES : 0);

	if (!p->planner->traces)
		return;
	p->traced = p->traced || hodo_probe_choice_wants_functions(choice) || hodo_plan_file_has_slots(f, mapped->ours);
	p->lands = p->lands || hodo_plan_file_landings(f, mapped->ours) & how;
}

/* Before anything is decoded. */
static void look_at_file(struct planning *p, const struct hodo_process_file *mapped)
{
	struct hodo_plan_file *f = file_of(p, mapped);
	struct hodo_probe_choice choice;

	hodo_planner_replacements_find_library(p->planner->replacements, mapped);
	if (f) {
		choice = choice_of(p, f, mapped);
		p->meant |= is_meant(p, &choice, mapped);
		p->chosen |= hodo_probe_choice_wants_slots(&choice);
		look_for_landings(p, f, mapped, &choice);
	}
}

/* t: NULL: it is refused. */
static int add_probes(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		      struct hodo_probe_target *t)
{
	struct hodo_planner_replacements *replacements = p->planner->replacements;
	struct hodo_planner_probes *probes = p->planner->probes;
	const char *path = mapped->path, *soname = hodo_plan_file_soname(f, mapped->ours), *flaw;
	int err;

	if (!hodo_planner_probes_may_be_in(probes, path, soname) &&
	    !hodo_planner_replacements_may_be_in(replacements, mapped, soname))
		return 0;
	err = f->object ? hodo_plan_file_image(f, mapped->ours) : 0;
	if (err == -ENOMEM)
		return err;
	flaw = f->object ? strerror(-err) : why_refused(f);
	err = hodo_planner_probes_resolve(probes, path, soname, f->image, flaw, t);
	return err ? err : hodo_planner_replacements_resolve(replacements, mapped, soname, f->image, flaw, t);
}

/* For traced functions. A pattern without a match is not reported: there are other files. */
static int add_arguments(const struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
			 struct hodo_probe_target *t)
{
	const struct hodo_pattern_list *patterns = p->planner->arguments;
	struct hodo_why why = { "" };
	int err = patterns->n && t->nfunctions ? hodo_plan_file_image(f, mapped->ours) : -ENOENT;

	for (uint32_t i = 0; i < patterns->n && !err; i++) {
		err = hodo_probe_arguments_add(t, f->image, patterns->pattern[i].text, &why);
		if (err == -EINVAL && f->image->debug.dwarf)
			err = 0;
	}
	if (err && err != -ENOENT && err != -ENOMEM && !f->said)
		hodo_plan_warn(&p->planner->reporter, "%s: %s", mapped->path, why.text[0] ? why.text : strerror(-err));
	f->said |= err == -EINVAL;
	return err == -ENOMEM ? err : 0;
}

/* Which functions are wanted. */
static int choose(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		  struct hodo_probe_choice *choice, struct hodo_probe_target *t)
{
	uint32_t *list = NULL;
	int err = 0;

	p->planner->seen += f->seen ? 0 : f->object->nfunctions;
	f->seen = true;
	err = hodo_probe_select(choice, f->object, mapped->ours, &list, &t->nfunctions);
	t->functions = list;
	t->slotted = choice->slotted;
	t->nslotted = choice->nslotted;
	if (choice->sourceless)
		hodo_plan_warn_once(&f->said_sources, &p->planner->reporter, "%s: its functions cannot be chosen by "
				    "source file: it has no debug information", mapped->path);
	if (choice->fixed)
		hodo_plan_warn_once(&f->said, &p->planner->reporter, "%s: arguments and results of %u function%s are "
				    "not recorded: the compiler's tracing code there cannot be turned off; build with "
				    "other flags (docs/functions.md), or none", mapped->path, choice->fixed,
				    choice->fixed == 1 ? "" : "s");
	for (uint32_t i = 0; i < t->nfunctions && !err; i++)
		hodo_probe_function_take_slots(f->object, &f->object->functions[list[i]]);
	return err;
}

/* Of a program that has just started, where it asks again (look_at_libraries()), whatever it is that is replaced. */
static bool may_ask_again(const struct planning *p, const struct hodo_plan_file *f)
{
	return p->request->starts && p->planner->replacements->n && is_program(p, f);
}

/* Where the target's events are, if they may be where slots are: the caller frees choice->probed. */
static int see_probed(const struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		      const struct hodo_probe_target *t, struct hodo_probe_choice *choice)
{
	uint64_t *list;

	if (!p->planner->traces || !t->nevents || !hodo_plan_file_has_slots(f, mapped->ours))
		return 0;
	list = calloc(t->nevents, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nevents; i++)
		list[i] = t->events[i].addr;
	hodo_order_sort(list, t->nevents, hodo_order_u64);
	choice->probed = list;
	choice->nprobed = t->nevents;
	return 0;
}

/* What is wanted of the file, and where that is. */
static int find_wanted(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		       struct hodo_probe_choice *choice, struct hodo_probe_target *t)
{
	int err = hodo_probe_sdt(t, mapped->ours, p->sdt, p->planner->sdt->n, &p->planner->sites);

	if (!err)
		err = add_probes(p, f, mapped, t);
	if (!err)
		err = see_probed(p, f, mapped, t, choice);
	if (!err && (hodo_probe_choice_wants_functions(choice) || hodo_probe_choice_wants_slots(choice)))
		err = choose(p, f, mapped, choice, t);
	free((void *)choice->probed);
	return err ? err : add_arguments(p, f, mapped, t);
}

/* From an earlier process, if it wanted the same of the file: then only the bias differs. */
static bool take_kept(const struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		      const struct hodo_probe_choice *choice, struct hodo_probe_target *t)
{
	struct hodo_plan_kept *k = &f->kept;

	if (!k->target.object || k->changes != p->planner->changes || k->by_default != choice->by_default ||
	    k->target.system_calls != t->system_calls || k->target.landings != t->landings ||
	    strcmp(k->path, mapped->path) != 0)
		return false;
	k->target.bias = t->bias;
	*t = k->target;
	k->target = (struct hodo_probe_target){ 0 };
	hodo_plan_kept_free(k);
	return true;
}

static int add_target(struct planning *p, struct hodo_plan_file *f, const struct hodo_process_file *mapped,
		      struct hodo_probe_choice *choice, bool landings)
{
	struct hodo_probe_target t = { .object = f->object, .system_calls = p->meant, .landings = landings };
	const struct origin origin = { f, mapped, choice->by_default };
	int err = 0;

	if (!hodo_code_segments_bias(&f->segments, mapped, &t.bias))
		return 0;
	if (f->entry && is_program(p, f)) {
		p->start = f->entry;
		p->program = p->ntargets;
	}
	if (take_kept(p, f, mapped, choice, &t)) {
		p->planner->files.moved++;
	} else {
		p->planner->files.resolved++;
		err = find_wanted(p, f, mapped, choice, &t);
	}
	p->wanted += t.nfunctions + t.nslotted + t.nevents + t.nreplacements;
	if (!err)
		err = hodo_vec_push(p->origins, p->norigins, origin);
	if (!err)
		err = hodo_vec_push(p->targets, p->ntargets, t);
	if (err)
		hodo_plan_kept_free(&(struct hodo_plan_kept){ .target = t });
	return err;
}

static int add_file(struct planning *p, const struct hodo_process_file *mapped)
{
	struct hodo_plan_file *f = file_of(p, mapped);
	struct hodo_probe_choice choice;
	bool landings, functions;
	int err;

	if (!f)
		return 0;
	choice = choice_of(p, f, mapped);
	functions = hodo_probe_choice_wants_functions(&choice) || hodo_probe_choice_wants_slots(&choice);
	landings = p->landings && hodo_plan_file_landings(f, mapped->ours) & HODO_PROBE_LANDS_DEFINES;
	if (!functions && !is_meant(p, &choice, mapped) && !landings && !may_ask_again(p, f) &&
	    !(p->meant && hodo_plan_file_may_call(f, mapped->ours)))
		return 0;
	err = hodo_plan_file_decode(&p->planner->files, f, mapped->ours, &p->rights);
	if (err)
		return err;
	if (f->object)
		return add_target(p, f, mapped, &choice, landings);
	if (functions)
		hodo_plan_warn_once(&f->said, &p->planner->reporter, "%s: its functions are not traced: %s",
				    mapped->path, why_refused(f));
	return f->err == -ENOMEM ? -ENOMEM : add_probes(p, f, mapped, NULL);
}

static int add_files(struct planning *p)
{
	struct hodo_planner *planner = p->planner;
	int err = 0;

	for (uint32_t i = 0; i < p->files.n; i++)
		look_at_file(p, &p->files.list[i]);
	/* With an earlier plan there are traps: the system calls of opened libraries must be seen. */
	p->meant |= p->request->n > 0;
	/* An opened library may land in calls of functions in earlier files. */
	p->landings = planner->traces && ((p->traced && p->lands) || p->request->n);
	p->meant |= p->landings;
	for (uint32_t i = 0; i < p->files.n && !err && (p->meant || p->chosen); i++)
		err = add_file(p, &p->files.list[i]);
	return err;
}

/* With the process's rights. */
static int look_at_process(struct planning *p)
{
	char exe[32];
	int err = hodo_process_files_list(&p->files, p->pid, &p->maps, &p->rights);

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)p->pid);
	if (stat(exe, &p->exe) < 0)
		p->exe = (struct stat){ 0 };
	hodo_planner_replacements_begin(p->planner->replacements);
	err = err ? err : add_files(p);
	hodo_rights_end(&p->rights);
	return err;
}

/* ------------------------------------------------------------------------- the plan */

static int build(struct planning *p, struct hodo_probe_built *built)
{
	HODO_AUTO(hodo_probe_space_free) struct hodo_probe_space space = { 0 };
	int err = hodo_probe_space_maps(&space, hodo_text_string(&p->maps));

	return err ? err : hodo_probe_build(p->targets, p->ntargets, &space, built);
}

/* only_left: only the places where calls are left were to be planned. */
static void say_flaw(pid_t pid, int err, const struct hodo_probe_built *built, bool only_left,
		     const struct hodo_reporter *r)
{
	if (only_left)
		hodo_plan_warn(r, "process %d: calls that exceptions and longjmp() leave are noticed late, and "
			     "seem to last longer: %s", (int)pid,
			     err == -EOPNOTSUPP ? hodo_probe_reason_text(built->reason) : strerror(-err));
	else if (err == -EOPNOTSUPP)
		hodo_plan_warn(r, "process %d: nothing is patched in it: the system call at 0x%llx of its file, "
			     "which may change signal masks, cannot be replaced: %s",
			     (int)pid, (unsigned long long)built->call,
			     hodo_probe_reason_text(built->reason));
	else
		hodo_plan_warn(r, "process %d: functions that were not built for tracing are not traced: %s",
			     (int)pid,
			     strerror(-err));
}

static const char **texts_of(const struct hodo_pattern_list *list)
{
	const char **texts = calloc(list->n + 1, sizeof(*texts));

	for (uint32_t i = 0; texts && i < list->n; i++)
		texts[i] = list->pattern[i].text;
	return texts;
}

/* For the next process. Replacements lead to libraries, which are elsewhere there; only some ask for a first stop. */
static void keep(const struct planning *p, uint32_t i, bool good)
{
	const struct hodo_process_file *mapped = p->origins[i].mapped;
	struct hodo_plan_kept k = { .target = p->targets[i], .path = strdup(mapped->path),
				    .by_default = p->origins[i].by_default, .changes = p->planner->changes };
	struct hodo_plan_file *f = p->origins[i].file;

	if (!good || !k.path || k.target.start ||
	    hodo_planner_replacements_may_be_in(p->planner->replacements, mapped,
						hodo_plan_file_soname(f, mapped->ours)))
		f = NULL;
	hodo_plan_kept_free(f ? &f->kept : &k);
	if (f)
		f->kept = k;
}

static void end_planning(struct planning *p, bool good)
{
	for (uint32_t i = 0; i < p->ntargets; i++)
		keep(p, i, good);
	free(p->targets);
	free(p->origins);
	free(p->patterns);
	free(p->arguments);
	free(p->sdt);
	hodo_text_free(&p->maps);
	hodo_process_files_free(&p->files);
}

/*
 * Libraries with replacement functions are loaded first, even if they are already loaded, so that they stay;
 * if the process cannot load them yet, at the program's first instruction.
 */
static int look_at_libraries(struct planning *p)
{
	struct hodo_plan_request *r = p->request;

	if (r->n || !hodo_planner_replacements_libraries(p->planner->replacements, r->load))
		return 0;
	if (r->starts && p->start) {
		p->targets[p->program].start = p->start;
		p->wanted++;
	}
	return r->loads ? -ELIBACC : 0;
}

static void say_missing(const struct planning *p)
{
	const struct hodo_planner *planner = p->planner;
	bool attached = p->request->came && !p->request->n;

	hodo_planner_probes_report(planner->probes, p->targets, p->ntargets, attached, &planner->reporter);
	hodo_planner_replacements_report(planner->replacements, p->targets, p->ntargets,
				      p->request->starts && p->start ? 0 : p->pid, attached, &planner->reporter);
}

int hodo_planner_plan(struct hodo_planner *planner, struct hodo_plan_request *request)
{
	const pid_t pid = request->pid;
	struct planning p = { .planner = planner, .pid = pid, .request = request,
			      .by_default = planner->traces && (request->came || pid == planner->command) };
	struct hodo_probe_built built = { .fd = -1 };
	int err = -ENOMEM;

	p.patterns = texts_of(planner->functions);
	p.arguments = texts_of(planner->arguments);
	p.sdt = texts_of(planner->sdt);
	if (p.patterns && p.arguments && p.sdt)
		err = look_at_process(&p);
	err = err ? err : look_at_libraries(&p);
	if (!err)
		err = p.wanted || p.landings || (request->n && p.ntargets) ? build(&p, &built) : -ENOENT;
	if (!err || err == -ENOENT)
		say_missing(&p);
	if (!err && (!(built.windows || built.slotted) || !(p.wanted || request->n || built.landings))) {
		close(built.fd);
		err = -ENOENT;
	}
	if (!err)
		hodo_plan_report_traps(p.targets, p.ntargets, &planner->said_traps, &planner->reporter);
	if (!err && !planner->quiet)
		hodo_plan_report_missed(&built, &planner->said_missed, &planner->reporter);
	if (err && err != -ENOENT && err != -ESRCH && err != -ELIBACC)
		say_flaw(pid, err, &built, !p.wanted && !request->n, &planner->reporter);
	end_planning(&p, !err || err == -ENOENT);
	return err ? err : built.fd;
}

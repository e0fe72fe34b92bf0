/* SPDX-License-Identifier: MIT */
/*
 * replace.c - finds functions and their replacements in files. The replacement's address in a process follows from
 * its file and the file's mapping; so it need not be exported.
 */
#include "replace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/scope.h>
#include <base/vec.h>
#include <elf/symbols.h>
#include <probe/patch/reason.h>
#include <probe/value/resolve.h>

#include "report.h"

#define POINTER "_original"

/* --------------------------------------------------------------------- the library */

/* Whether it stays writable while the program runs. */
static bool is_variable(Elf *elf, const GElf_Sym *symbol)
{
	bool writable = false, later = false;
	GElf_Phdr p;

	if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size != sizeof(uint64_t) ||
	    symbol->st_value % sizeof(uint64_t))
		return false;
	for (size_t i = 0; hodo_elf_segment(elf, &i, PT_NULL, 0, &p);) {
		if (symbol->st_value - p.p_vaddr >= p.p_memsz)
			continue;
		writable |= p.p_type == PT_LOAD && p.p_flags & PF_W;
		later |= p.p_type == PT_GNU_RELRO;
	}
	return writable && !later;
}

static int find_functions(struct hodo_planner_replacement *x, Elf *elf, struct hodo_why *why)
{
	HODO_AUTO_FREE char *pointer = NULL;
	GElf_Sym symbol;

	if (asprintf(&pointer, "%s" POINTER, x->name) < 0)
		return -ENOMEM;
	if (!hodo_elf_find_symbol(elf, x->name, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
		return hodo_why(why, -EINVAL, "--replace %s: %s has no function %s", x->text, x->library, x->name);
	x->to = symbol.st_value;
	if (!hodo_elf_find_symbol(elf, pointer, &symbol))
		return 0;
	if (!is_variable(elf, &symbol))
		return hodo_why(why, -EINVAL, "--replace %s: %s of %s receives the address of the replaced "
				  "function: declare it as a non-const pointer",
				  x->text, pointer, x->library);
	x->original = symbol.st_value;
	return 0;
}

static int open_library(struct hodo_planner_replacement *x, const char *path, struct hodo_why *why)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;
	struct stat st;
	int err;

	x->library = realpath(path, NULL);
	err = x->library ? hodo_elf_open(&e, x->library) : -errno;
	if (err == -ENOEXEC)
		return hodo_why(why, -EINVAL, "--replace %s: %s is not a library: build one with cc -shared -fPIC",
				  x->text, path);
	if (err)
		return err == -ENOMEM ? err : hodo_why_errno(why, err, "%s: cannot be read", path);
	if (strchr(x->library, '\n') || strlen(x->library) >= PATH_MAX / 4)
		return hodo_why(why, -EINVAL, "--replace: the path of the library is too long, or has a newline");
	hodo_code_segments_find(&x->segments, e.elf);
	if (stat(x->library, &st) < 0 || !x->segments.n)
		return hodo_why(why, -EINVAL, "--replace %s: %s has no code", x->text, path);
	x->dev = st.st_dev;
	x->inode = st.st_ino;
	return find_functions(x, e.elf, why);
}

/* ------------------------------------------------------------------------ the text */

/* FUNCTION may be operator==, LIBRARY may have an = or a : in it. */
static int split(struct hodo_planner_replacement *x, char *text, struct hodo_why *why)
{
	char *colon = strrchr(text, ':'), *equals;
	int err;

	if (colon)
		*colon = 0;
	equals = strrchr(text, '=');
	if (!colon || !equals || equals == text || !equals[1] || !colon[1])
		return hodo_why(why, -EINVAL, "--replace %s: give it as F=LIB:G, as in"
				  " --replace 'hash=./mine.so:my_hash'", x->text);
	*equals = 0;
	x->name = strdup(colon + 1);
	err = x->name ? hodo_spec_parse(&x->spec, text, why) : -ENOMEM;
	if (err)
		return err == -ENOMEM ? err : hodo_why(why, err, "--replace %s: %s", x->text, why->text);
	if ((x->spec.place != HODO_SPEC_FUNCTION && x->spec.place != HODO_SPEC_ADDRESS) || x->spec.listed ||
	    (x->spec.place == HODO_SPEC_FUNCTION && hodo_spec_is_glob(x->spec.name)))
		return hodo_why(why, -EINVAL, "--replace %s: give only a function or its address, nothing else of "
				  "a probe",
				  x->text);
	return open_library(x, equals + 1, why);
}

int hodo_planner_replacements_add(struct hodo_planner_replacements *r, const char *text, struct hodo_why *why)
{
	struct hodo_planner_replacement *x = hodo_vec_add(r->list, r->n);
	HODO_AUTO_FREE char *copy = strdup(text);

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_planner_replacement){ .text = strdup(text) };
	return x->text && copy ? split(x, copy, why) : -ENOMEM;
}

void hodo_planner_replacements_free(struct hodo_planner_replacements *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		hodo_spec_free(&r->list[i].spec);
		free(r->list[i].text);
		free(r->list[i].name);
		free(r->list[i].library);
		free(r->list[i].why);
	}
	free(r->list);
	*r = (struct hodo_planner_replacements){ 0 };
}

/* -------------------------------------------------------------------------- a plan */

void hodo_planner_replacements_begin(struct hodo_planner_replacements *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		r->list[i].taken = r->list[i].loaded = false;
}

static bool is_library(const struct hodo_planner_replacement *x, const struct hodo_process_file *mapped)
{
	struct stat st;

	return mapped->ours && stat(mapped->ours, &st) == 0 && st.st_dev == x->dev && st.st_ino == x->inode;
}

void hodo_planner_replacements_find_library(struct hodo_planner_replacements *r, const struct hodo_process_file *mapped)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct hodo_planner_replacement *x = &r->list[i];

		if (is_library(x, mapped) && hodo_code_segments_bias(&x->segments, mapped, &x->bias))
			x->loaded = true;
	}
}

static bool means(const struct hodo_planner_replacement *x, const struct hodo_process_file *mapped, const char *soname)
{
	return hodo_spec_is_of(&x->spec, mapped->path, soname) && !is_library(x, mapped);
}

bool hodo_planner_replacements_may_be_in(const struct hodo_planner_replacements *r,
					 const struct hodo_process_file *mapped, const char *soname)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (means(&r->list[i], mapped, soname))
			return true;
	return false;
}

/* A compiler's clone of a function for some callers, f.constprop.0, has another calling convention. */
static bool is_copy(const struct hodo_planner_replacement *x, const struct hodo_probe_point *p)
{
	return p->inlined || (x->spec.place == HODO_SPEC_FUNCTION && strchr(p->function, '.'));
}

/* The entry that is meant; NULL, and why not. */
static const struct hodo_probe_point *choose(struct hodo_planner_replacement *x, const struct hodo_probe_points *points,
					     struct hodo_why *why)
{
	const struct hodo_probe_point *chosen = NULL;
	uint32_t n = 0;

	x->copies = 0;
	for (uint32_t i = 0; i < points->n; i++) {
		const struct hodo_probe_point *p = &points->list[i];

		if (is_copy(x, p)) {
			x->copies++;
		} else if (p->entry) {
			chosen = p;
			n++;
		}
	}
	if (n == 1)
		return chosen;
	if (n)
		hodo_why(why, 0, "%" PRIu32 " functions have that name: give the address of one, as 'hodo probe show' "
			 "prints it", n);
	else
		hodo_why(why, 0, points->n ? "it has only copies, inlined or made for some callers" :
			 "no function begins there");
	return NULL;
}

static int add_to(struct hodo_planner_replacement *x, uint32_t number, uint64_t addr, struct hodo_probe_target *t)
{
	struct hodo_probe_replacement *to = hodo_vec_add(t->replacements, t->nreplacements);

	if (!to)
		return -ENOMEM;
	*to = (struct hodo_probe_replacement){ .addr = addr, .to = x->to + x->bias, .number = number };
	if (x->original)
		to->original = x->original + x->bias;
	return 0;
}

static int keep_why(struct hodo_planner_replacement *x, const char *path, const char *why)
{
	if (x->why)
		return 0;
	return asprintf(&x->why, "%s: %s", path, why) < 0 ? -ENOMEM : 0;
}

static int take(struct hodo_planner_replacement *x, uint32_t number, const struct hodo_process_file *mapped,
		const struct hodo_probe_image *image, struct hodo_probe_target *t)
{
	struct hodo_probe_points points = { 0 };
	const struct hodo_probe_point *p = NULL;
	struct hodo_why why;
	int err = hodo_probe_resolve(&points, image, &x->spec, &why);

	if (!err)
		p = choose(x, &points, &why);
	x->taken = p;
	if (p && x->loaded)
		err = add_to(x, number, p->address, t);
	else if (!p && err != -ENOMEM)
		err = keep_why(x, mapped->path, why.text);
	hodo_probe_points_free(&points);
	return err == -ENOMEM ? err : 0;
}

int hodo_planner_replacements_resolve(struct hodo_planner_replacements *r, const struct hodo_process_file *mapped,
				      const char *soname, const struct hodo_probe_image *image, const char *flaw,
				      struct hodo_probe_target *t)
{
	int err = 0;

	for (uint32_t i = 0; i < r->n && !err; i++) {
		struct hodo_planner_replacement *x = &r->list[i];

		if (x->taken || !means(x, mapped, soname))
			continue;
		err = image && t ? take(x, i + 1, mapped, image, t) : keep_why(x, mapped->path, flaw);
	}
	return err;
}

/* Whether the library is one of an earlier replacement that the process has, too. */
static bool is_listed(const struct hodo_planner_replacements *r, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (r->list[k].taken && strcmp(r->list[k].library, r->list[i].library) == 0)
			return true;
	return false;
}

bool hodo_planner_replacements_libraries(const struct hodo_planner_replacements *r, char load[HODO_PLAN_LOAD_MAX])
{
	size_t at = 0;

	load[0] = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		const char *path = r->list[i].library;
		size_t len = strlen(path);

		/* What has no room is not loaded, which is said then. */
		if (r->list[i].taken && at + len + 2 <= HODO_PLAN_LOAD_MAX && !is_listed(r, i))
			at += (size_t)sprintf(load + at, "%s\n", path);
	}
	return at;
}

static void say_nowhere(struct hodo_planner_replacement *x, const struct hodo_reporter *to)
{
	if (x->found || x->said || !x->why)
		return;
	hodo_plan_warn(to, "--replace %s: it cannot be replaced: %s", x->text, x->why);
	x->said = true;
}

static void say_copies(const struct hodo_planner_replacement *x, const struct hodo_reporter *to)
{
	if (x->copies && !x->said)
		hodo_plan_warn(to, "--replace %s: %" PRIu32 " cop%s of it, inlined or made for some callers, %s not replaced",
			     x->text, x->copies, x->copies == 1 ? "y" : "ies", x->copies == 1 ? "is" : "are");
}

static void report(struct hodo_planner_replacement *x, const struct hodo_probe_replacement *p,
		   const struct hodo_reporter *to)
{
	if (p->reason && !x->said)
		hodo_plan_warn(to, "--replace %s: it cannot be replaced: %s",
			     x->text, hodo_probe_reason_text(p->reason));
	else if (!p->reason)
		say_copies(x, to);
	if (!p->reason && p->trap && !x->said)
		hodo_plan_warn(to, "--replace %s: it takes a breakpoint, which costs 2 us for each call: %s",
			     x->text,
			     hodo_probe_reason_text(p->trap));
	x->found = x->said = true;
}

void hodo_planner_replacements_report(struct hodo_planner_replacements *r, const struct hodo_probe_target *targets,
				      uint32_t n, pid_t pid, bool attached, const struct hodo_reporter *to)
{
	for (uint32_t t = 0; t < n; t++)
		for (uint32_t k = 0; k < targets[t].nreplacements; k++)
			report(&r->list[targets[t].replacements[k].number - 1], &targets[t].replacements[k], to);
	for (uint32_t i = 0; i < r->n; i++) {
		struct hodo_planner_replacement *x = &r->list[i];

		if (pid && x->taken && !x->loaded && !x->said) {
			hodo_plan_warn(to, "--replace %s: process %d cannot load %s: 'LD_PRELOAD=%s PROGRAM' says why", x->text,
				     (int)pid, x->library, x->library);
			x->said = true;
		}
		if (attached)
			say_nowhere(x, to);
	}
}

void hodo_planner_replacements_report_unfound(struct hodo_planner_replacements *r, const struct hodo_reporter *to)
{
	for (uint32_t i = 0; i < r->n; i++)
		say_nowhere(&r->list[i], to);
}

/* SPDX-License-Identifier: MIT */
/* plan.c - takes plans, files that somebody else has made: see engine.h. */
#include "engine.h"

#include <core/search.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <user/objects/objects.h>

#define INT3 0xcc
#define APART 0x4c0000000000ull

static struct hodo_engine_plan *youngest; /* the last one taken */
static uint32_t number; /* the place of the one being taken */

static uintptr_t imports[HODO_PLAN_IMPORTS] = {
	[HODO_IMPORT_SYSCALL] = (uintptr_t)hodo_x86_engine_syscall,
	[HODO_IMPORT_SITE] = (uintptr_t)hodo_x86_site,
	[HODO_IMPORT_READ] = (uintptr_t)hodo_x86_engine_read,
	[HODO_IMPORT_START] = (uintptr_t)hodo_x86_engine_start,
	[HODO_IMPORT_FIND] = (uintptr_t)hodo_x86_engine_find,
};

void hodo_engine_import(enum hodo_plan_import import, uintptr_t address)
{
	imports[import] = address;
}

/* ------------------------------------------------------------------------ the file */

/*
 * Maps memory far from code: at an address of the kernel's choice, it could occupy the place of this plan's
 * slots, or a later plan's. If the address is in use, the kernel chooses.
 */
static void *map_apart(uint64_t bytes, int rights, int flags, int fd)
{
	uint64_t at = APART + number * 2 * HODO_PLAN_BYTES_MAX + (fd < 0 ? HODO_PLAN_BYTES_MAX : 0);

	return (void *)hodo_sys6(SYS_mmap, (long)at, (long)bytes, rights, MAP_PRIVATE | MAP_NORESERVE | flags, fd, 0);
}

static int map_file(struct hodo_engine_plan *p, int fd, uint64_t *bytes)
{
	const long seals = F_SEAL_WRITE | F_SEAL_SHRINK; /* what was checked cannot change */
	struct stat st;
	long error = hodo_sys4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);

	if (error)
		return (int)error;
	if ((hodo_sys3(SYS_fcntl, fd, F_GET_SEALS, 0) & seals) != seals || st.st_size < (off_t)sizeof(*p->head) ||
	    (uint64_t)st.st_size > HODO_PLAN_BYTES_MAX)
		return -EPROTO;
	*bytes = (uint64_t)st.st_size;
	p->file = map_apart(*bytes, PROT_READ, 0, fd);
	if (hodo_is_error(p->file))
		return (int)(long)p->file;
	p->head = (const struct hodo_plan *)p->file;
	return 0;
}

static void unmap_pages(const struct hodo_engine_plan *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hodo_sys2(SYS_munmap, p->pages[i].addr, p->pages[i].bytes);
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Before Linux 4.17, the address is only a hint. */
static int map_pages(const struct hodo_engine_plan *p, int fd)
{
	for (uint32_t i = 0; i < p->head->pages.n; i++) {
		const struct hodo_plan_pages *x = &p->pages[i];
		int rights = PROT_READ | (x->flags & HODO_PLAN_DATA ? PROT_WRITE : PROT_EXEC);
		long at = hodo_sys6(SYS_mmap, (long)x->addr, (long)x->bytes, rights,
				    MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, (long)x->offset);

		if (at == (long)x->addr)
			continue;
		if (!hodo_is_error((void *)at))
			hodo_sys2(SYS_munmap, at, x->bytes);
		unmap_pages(p, i);
		return hodo_is_error((void *)at) ? (int)at : -EEXIST;
	}
	return 0;
}

/* --------------------------------------------------------------------- what it is about */

/* Memory of this process, which may not be mapped. */
struct view {
	long mem; /* /proc/self/mem */
	uint64_t page;
	uint8_t bytes[HODO_PAGE];
};

/* One byte; -1: not mapped. */
static int look(struct view *v, uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(HODO_PAGE - 1);

	if (v->page != page && hodo_sys4(SYS_pread64, v->mem, v->bytes, HODO_PAGE, page) != HODO_PAGE)
		return -1;
	v->page = page;
	return v->bytes[addr - page];
}

/*
 * The program's byte under a window of an earlier plan that is on; -1: none is. Windows that stay are not
 * replaced.
 */
static int look_below(uint64_t addr)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];
		uint32_t k = hodo_engine_window_index(p, addr);
		const struct hodo_plan_window *w = &p->windows[k];

		if (k < p->head->windows.n && p->state[k] & HODO_ENGINE_ON && hodo_engine_is(w, true) &&
		    !(w->flags & (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS)))
			return w->bytes[addr - w->addr];
	}
	return -1;
}

static bool as_planned(struct view *v, const struct hodo_plan_window *w)
{
	for (unsigned k = 0; k < w->len; k++) {
		int byte = look(v, w->addr + k);

		if (byte != w->bytes[k] && (byte < 0 || look_below(w->addr + k) != w->bytes[k]))
			return false;
	}
	return true;
}

/*
 * Whether the byte belongs to an earlier plan's window, complete or half written: its outside writer may have
 * been killed.
 */
static bool is_part_of(struct view *v, const struct hodo_plan_window *w)
{
	int byte = look(v, w->addr);

	if (byte != w->bytes[0] && byte != w->jump[0] && byte != INT3)
		return false;
	for (unsigned k = 1; k < w->len; k++) {
		byte = look(v, w->addr + k);
		if (byte != w->bytes[k] && (k >= sizeof(w->jump) || byte != w->jump[k]))
			return false;
	}
	return true;
}

/* whole: it is on; else it may be half written, too. */
static bool is_of_earlier(struct view *v, uint64_t addr, bool whole)
{
	for (uint32_t i = 0; i < hodo_engine_nplans && look(v, addr) >= 0; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];

		for (uint32_t k = 0; k < p->nalways; k++) {
			const struct hodo_plan_window *w = &p->windows[p->always[k]];

			if (w->addr == addr && (whole ? hodo_engine_is(w, true) : is_part_of(v, w)))
				return true;
		}
	}
	return false;
}

/* 0; -EFAULT: a system call that must go through us cannot. */
static int look_at_windows(struct hodo_engine_plan *p, struct view *v)
{
	for (uint32_t i = 0; i < p->head->windows.n; i++) {
		bool always = p->windows[i].flags & HODO_PLAN_ALWAYS, fine;
		bool stays = p->windows[i].flags & (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS);

		if (always && hodo_engine_guarded && is_of_earlier(v, p->windows[i].addr, true))
			continue;
		fine = as_planned(v, &p->windows[i]) ||
		       (always && !hodo_engine_guarded && is_of_earlier(v, p->windows[i].addr, false));
		p->state[i] = !fine ? HODO_ENGINE_REFUSED : stays ? HODO_ENGINE_WANTED : 0;
		if (always && !fine)
			return -EFAULT;
		if (always)
			p->always[p->nalways++] = i;
	}
	return 0;
}

static int look_at_memory(struct hodo_engine_plan *p)
{
	static struct view view;
	int error;

	view.page = 0;
	view.mem = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
	if (view.mem < 0)
		return (int)view.mem;
	error = look_at_windows(p, &view);
	hodo_sys1(SYS_close, view.mem);
	return error;
}

static void write_fixes(const struct hodo_engine_plan *p)
{
	for (uint32_t i = 0; i < p->head->fixes.n; i++)
		*(uintptr_t *)p->fixes[i].addr = imports[p->fixes[i].import];
}

/* ---------------------------------------------------------------------------- taking */

static int set_up(struct hodo_engine_plan *p, int fd)
{
	int error;

	if (!p->head->windows.n)
		return 0; /* it only says which functions are wanted */
	p->heat = map_apart(hodo_engine_state_bytes(p->head), PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	if (hodo_is_error(p->heat))
		return -ENOMEM;
	p->always = (uint32_t *)(p->heat + p->head->windows.n);
	p->state = (uint8_t *)(p->always + p->head->windows.n);
	error = look_at_memory(p);
	if (!error)
		error = map_pages(p, fd);
	if (error) {
		hodo_sys2(SYS_munmap, p->heat, hodo_engine_state_bytes(p->head));
		return error;
	}
	write_fixes(p);
	hodo_engine_events(p);
	return 0;
}

static bool always_is(const struct hodo_engine_plan *p, uint8_t flag)
{
	for (uint32_t i = 0; i < p->nalways; i++) {
		if (!(p->state[p->always[i]] & flag))
			return false;
	}
	return true;
}

/* In a process with one thread, or if no other thread blocks the signals. */
static int switch_always(const struct hodo_engine_plan *p)
{
	bool guarded = hodo_engine_guarded;
	int error;

	if (!guarded)
		hodo_engine_set_guarded(true);
	error = p->nalways ? hodo_engine_apply() : 0;
	if (!error && !always_is(p, HODO_ENGINE_ON))
		error = -EFAULT;
	if (error)
		hodo_engine_set_guarded(guarded);
	else if (!guarded)
		hodo_engine_clean_handlers();
	return error;
}

void hodo_engine_absent(void)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++)
		hodo_engine_plans[i].present = false;
}

/* A free place. NULL: there are too many plans. */
static struct hodo_engine_plan *find_place(void)
{
	for (uint32_t i = 0; i < hodo_engine_nplans; i++) {
		if (hodo_engine_plans[i].head == &hodo_engine_nothing)
			return &hodo_engine_plans[i];
	}
	return hodo_engine_nplans < HODO_ENGINE_PLANS_MAX ? &hodo_engine_plans[hodo_engine_nplans] : 0;
}

/* Its traps will find it: the windows are written later, and their barriers order both. */
static void publish(struct hodo_engine_plan *place, struct hodo_engine_plan *plan)
{
	const struct hodo_plan *head = plan->head;
	uint32_t age = youngest ? youngest->age + 1 : 0;

	plan->head = &hodo_engine_nothing;
	plan->age = age;
	plan->present = true;
	*place = *plan;
	__atomic_store_n(&place->head, head, __ATOMIC_RELEASE);
	if (place == &hodo_engine_plans[hodo_engine_nplans])
		hodo_store_release(&hodo_engine_nplans, hodo_engine_nplans + 1);
	youngest = place;
}

static int take_new(struct hodo_engine_plan *plan, int fd, bool more)
{
	struct hodo_engine_plan *place = find_place();
	int error = place ? set_up(plan, fd) : -ENOSPC;

	if (error)
		return error;
	if (!more)
		hodo_engine_absent();
	publish(place, plan);
	return 0;
}

/* Its slots are the ones in use now. */
static void take_again(struct hodo_engine_plan *p, bool more)
{
	if (!more)
		hodo_engine_absent();
	p->present = true;
	hodo_store(&p->age, youngest->age + 1);
	youngest = p;
}

int hodo_engine_take(int fd, bool more)
{
	struct hodo_engine_plan plan = { 0 }, *place, *same = 0;
	uint64_t bytes = 0;
	int error;

	hodo_engine_give_back();
	place = find_place();
	number = place ? (uint32_t)(place - hodo_engine_plans) : HODO_ENGINE_PLANS_MAX;
	if (!hodo_patch_possible() || !hodo_patch_barrier())
		return -ENOSYS;
	error = map_file(&plan, fd, &bytes);
	if (error)
		return error;
	error = !hodo_engine_check(&plan, bytes) ? -EPROTO : plan.head->windows.n ? hodo_engine_arm() : 0;
	if (!error)
		same = hodo_engine_same(&plan);
	if (!error && !same)
		error = take_new(&plan, fd, more);
	if (error || same)
		hodo_sys2(SYS_munmap, plan.file, bytes);
	if (error) {
		if (!hodo_engine_nplans)
			hodo_engine_disarm();
		return error;
	}
	if (same) {
		take_again(same, more);
		return 0;
	}
	if (!place->head->windows.n)
		return 0;
	return hodo_engine_guarded || hodo_engine_alone() ? switch_always(place) : -EINPROGRESS;
}

int hodo_engine_guard(void)
{
	struct hodo_engine_plan *p = youngest;

	if (hodo_engine_guarded)
		return 0;
	for (uint32_t i = 0; i < p->nalways; i++) {
		if (!hodo_engine_is(&p->windows[p->always[i]], true))
			return -EBUSY;
	}
	for (uint32_t i = 0; i < p->nalways; i++)
		p->state[p->always[i]] |= HODO_ENGINE_ON;
	hodo_engine_set_guarded(true);
	hodo_engine_clean_handlers();
	return 0;
}

const struct hodo_plan_function *hodo_engine_functions(unsigned plan, uint32_t *n)
{
	if (plan >= hodo_engine_nplans)
		return 0;
	*n = hodo_engine_plans[plan].present ? hodo_engine_plans[plan].head->functions.n : 0;
	return hodo_engine_plans[plan].functions;
}

bool hodo_engine_is_about(uintptr_t start, uintptr_t end)
{
	const struct hodo_engine_plan *p = youngest;
	uint32_t i = hodo_search(k, p->head->functions.n, p->functions[k].addr >= start);

	return i < p->head->functions.n && p->functions[i].addr < end;
}

const struct hodo_plan_window *hodo_engine_window(unsigned plan, uint32_t i)
{
	const struct hodo_engine_plan *p = &hodo_engine_plans[plan];

	return i < p->head->windows.n && !(p->state[i] & HODO_ENGINE_REFUSED) ? &p->windows[i] : 0;
}

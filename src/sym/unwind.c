/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - unwinds a saved stack by libdwfl, as a process with one thread whose memory is the saved piece
 * of stack.
 *
 * The modules are reported by their addresses, and their files opened once an address in them is needed: at
 * their paths, or, if they are not there or are other builds, elsewhere by build-id. No debug files are
 * searched: what unwinding needs is loaded, and so in the file itself; and libdwfl's own search may ask
 * servers.
 *
 * Only x86-64, because of the register numbers.
 */
#include "unwind.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <unistd.h>

#include <base/order.h>
#include <base/rights.h>
#include <base/scope.h>

#include "debuginfod.h"
#include "sym_impl.h"

#define THREAD 1
enum { DWARF_RBP = 6, DWARF_RSP = 7 };

struct module {
	struct hodo_sym_module sym;
	const struct hodo_sym_elsewhere *elsewhere;
};

struct hodo_sym_unwinder {
	Dwfl *dwfl;
	struct module *modules;
	uint32_t n;
	const struct hodo_sym_stack *stack; /* the one being unwound */
	uint64_t *addresses;
	uint32_t found, max;
};

/* ---------------------------------------------------------------------- modules */

/* The descriptor, or -1: it is not there, or another build. */
static int open_as(const char *path, const struct hodo_sym_module *module, uid_t owner)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	struct hodo_elf e;
	int fd;

	if (hodo_rights_of(&rights, owner) < 0 || hodo_elf_open(&e, path) < 0)
		return -1;
	fd = !module->build_id_len || hodo_elf_is(&e, module->build_id, module->build_id_len) ? dup(e.fd) : -1;
	hodo_elf_close(&e);
	return fd;
}

static char *find_elsewhere(const struct hodo_sym_module *module, const struct hodo_sym_elsewhere *elsewhere)
{
	char *path = NULL;

	if (elsewhere->store)
		path = hodo_store_find(elsewhere->store, module->build_id, module->build_id_len, HODO_STORE_EXECUTABLE);
	if (!path && elsewhere->debuginfod)
		path = hodo_debuginfod_find(elsewhere->debuginfod, module->build_id, module->build_id_len,
					    HODO_STORE_EXECUTABLE);
	return path;
}

static int find_elf(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, char **file_name, Elf **elf)
{
	const struct module *module = *data;
	char *path;
	int fd;

	if (!module)
		return -1;
	path = strdup(module->sym.path);
	fd = path ? open_as(path, &module->sym, module->sym.owner) : -1;
	if (fd < 0) {
		free(path);
		path = find_elsewhere(&module->sym, module->elsewhere);
		fd = path ? open_as(path, &module->sym, geteuid()) : -1;
	}
	if (fd >= 0)
		*file_name = path;
	else
		free(path);
	return fd;
}

static int find_nothing(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	return -1;
}

/* ----------------------------------------------------------------------- memory */

static pid_t next_thread(Dwfl *dwfl, void *data, void **thread)
{
	if (*thread)
		return 0;
	*thread = data;
	return THREAD;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *data)
{
	const struct hodo_sym_stack *s = ((const struct hodo_sym_unwinder *)data)->stack;
	uint64_t at = addr - s->sp, value;

	if (s->nbytes < sizeof(value) || at > s->nbytes - sizeof(value))
		return false;
	memcpy(&value, s->bytes + at, sizeof(value));
	*word = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *data)
{
	const struct hodo_sym_stack *s = ((const struct hodo_sym_unwinder *)data)->stack;
	const Dwarf_Word registers[2] = { s->bp, s->sp };

	_Static_assert(DWARF_RSP == DWARF_RBP + 1, "set together");
	/* Within the call, not after it: what follows may belong to another function. */
	dwfl_thread_state_register_pc(thread, s->ip - 1);
	return dwfl_thread_state_registers(thread, DWARF_RBP, 2, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* ------------------------------------------------------------------- new and free */

static int by_start(const void *a, const void *b)
{
	const struct hodo_sym_module *x = &((const struct module *)a)->sym, *y = &((const struct module *)b)->sym;

	return hodo_order(x->start, y->start) ?: hodo_order(x->end, y->end);
}

static bool report_modules(struct hodo_sym_unwinder *u)
{
	uint64_t end = 0;

	dwfl_report_begin(u->dwfl);
	for (uint32_t i = 0; i < u->n; i++) {
		const struct hodo_sym_module *m = &u->modules[i].sym;
		Dwfl_Module *reported;
		void **data;

		if (m->start < end || m->end <= m->start)
			continue;
		reported = dwfl_report_module(u->dwfl, m->path, m->start, m->end);
		if (!reported)
			continue;
		end = m->end;
		dwfl_module_info(reported, &data, NULL, NULL, NULL, NULL, NULL, NULL);
		*data = &u->modules[i];
	}
	return dwfl_report_end(u->dwfl, NULL, NULL) == 0;
}

struct hodo_sym_unwinder *hodo_sym_unwinder_new(const struct hodo_sym_module *modules, uint32_t n,
						const struct hodo_sym_elsewhere *elsewhere)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = find_nothing };
	struct hodo_sym_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->modules = calloc(n ? n : 1, sizeof(*u->modules));
	u->dwfl = dwfl_begin(&callbacks);
	for (uint32_t i = 0; i < n && u->modules; i++)
		u->modules[i] = (struct module){ modules[i], elsewhere };
	u->n = n;
	if (u->modules)
		hodo_order_sort(u->modules, n, by_start);
	if (!u->modules || !u->dwfl || !report_modules(u)) {
		hodo_sym_unwinder_free(u);
		return NULL;
	}
	return u;
}

void hodo_sym_unwinder_free(struct hodo_sym_unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->dwfl)
		dwfl_end(unwinder->dwfl);
	free(unwinder->modules);
	free(unwinder);
}

/* ----------------------------------------------------------------------- unwind */

static int take_frame(Dwfl_Frame *frame, void *data)
{
	struct hodo_sym_unwinder *u = data;
	Dwarf_Addr pc;

	if (u->found == u->max || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	u->addresses[u->found] = u->found ? pc : u->stack->ip;
	u->found++;
	return DWARF_CB_OK;
}

/* libdwfl determines the machine once, from some module's file. */
static bool attach(struct hodo_sym_unwinder *u)
{
	Dwfl_Module *m = dwfl_addrmodule(u->dwfl, u->stack->ip - 1);
	GElf_Addr bias;

	if (dwfl_pid(u->dwfl) >= 0)
		return true;
	return m && dwfl_module_getelf(m, &bias) && dwfl_attach_state(u->dwfl, NULL, THREAD, &thread_callbacks, u);
}

uint32_t hodo_sym_unwind(struct hodo_sym_unwinder *unwinder, const struct hodo_sym_stack *stack, uint64_t *addresses,
			 uint32_t max)
{
	struct hodo_sym_unwinder *u = unwinder;

	u->stack = stack;
	u->addresses = addresses;
	u->max = max;
	u->found = 0;
	if (attach(u))
		dwfl_getthread_frames(u->dwfl, THREAD, take_frame, u);
	if (u->found == 0 && max > 0)
		addresses[u->found++] = stack->ip;
	return u->found;
}

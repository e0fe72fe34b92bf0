/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - whether a stopped thread is inside a function that holds a lock
 * which dlopen(3) or pthread_create(3) would wait for: docs/design/attach.md, "Where the thread may stand".
 * The objects' .eh_frame is opened and parsed beforehand, not while the thread is stopped.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hodo/abi_plan.h>

#include "attach_impl.h"

#define STACK_MAX   (256u << 10)
#define FRAMES_MAX  512u
#define SCAN_MAX    (128u << 10)

struct hodo_attach_unwind {
	struct hodo_attach_target *target;
	Dwfl *dwfl;
	const struct hodo_attach_tracee *tracee;
	struct hodo_attach_stack *stack;
	struct walk {
		unsigned int frames;
		bool unnamed;      /* the frames up to here are unnamed code of libc */
		bool only_unnamed; /* no frame of other code has been seen */
		bool descends;     /* a frame is below the one that it called */
		bool calls;        /* the frames up to here are libhodo's, making a system call for the program */
		uint64_t last_sp, last_pc;
	} walk;
	uint64_t copied; /* bytes of the stack, from the thread's stack pointer on */
	uint8_t copy[STACK_MAX];
};

/* -------------------------------------------------------------------- memory */

/* The thread is stopped meanwhile: one call for all of its stack, or the part that is likely to be needed. */
static void copy_stack(struct hodo_attach_unwind *u)
{
	uint64_t sp = u->tracee->regs.rsp;
	const struct hodo_proc_map *m = hodo_attach_map_at(u->target, sp);

	u->copied = m ? m->end - sp < STACK_MAX ? m->end - sp : STACK_MAX : 0;
	if (!hodo_attach_read(u->target, sp, u->copy, u->copied))
		u->copied = 0;
}

static bool read_word(struct hodo_attach_unwind *u, uint64_t address, uint64_t *word)
{
	uint64_t at = address - u->tracee->regs.rsp;

	if (u->copied < sizeof(*word) || at > u->copied - sizeof(*word))
		return hodo_attach_read(u->target, address, word, sizeof(*word));
	memcpy(word, u->copy + at, sizeof(*word));
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	uint64_t word;

	if (!read_word(arg, address, &word))
		return false;
	*result = word;
	return true;
}

/* --------------------------------------------------------------- libdwfl's callbacks */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct hodo_attach_unwind *u = arg;

	if (*thread_arg || !u->tracee)
		return 0;
	*thread_arg = u;
	return u->tracee->tid;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *r = &((struct hodo_attach_unwind *)arg)->tracee->regs;
	const Dwarf_Word values[17] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
					r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip };

	return dwfl_thread_state_registers(thread, 0, 17, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file_name,
		    Elf **elf)
{
	const struct hodo_attach_object *o = *userdata;

	if (o->file.fd >= 0) {
		*file_name = strdup(o->name);
		return fcntl(o->file.fd, F_DUPFD_CLOEXEC, 3);
	}
	size_t size = 0;
	char *image = o->file.elf ? elf_rawfile(o->file.elf, &size) : NULL;

	*elf = image ? elf_memory(image, size) : NULL;
	return -1;
}

/* The loaded part is enough. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
			  const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = find_debuginfo };

/* -------------------------------------------------------------------- opening */

static int warm(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, void *arg)
{
	Dwarf_Addr bias;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	const struct hodo_attach_object *o = *userdata;

	/* Makes it read the search table. */
	if (cfi && o->symbols.n && dwarf_cfi_addrframe(cfi, o->bias + o->symbols.list[0].start - bias, &frame) == 0)
		free(frame);
	return DWARF_CB_OK;
}

struct hodo_attach_unwind *hodo_attach_unwind_open(struct hodo_attach_target *t)
{
	struct hodo_attach_unwind *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->target = t;
	u->dwfl = dwfl_begin(&callbacks);
	if (!u->dwfl) {
		free(u);
		return NULL;
	}
	dwfl_report_begin(u->dwfl);
	for (uint32_t i = 0; i < t->nobjects; i++) {
		struct hodo_attach_object *o = &t->objects[i];
		Dwfl_Module *module = dwfl_report_module(u->dwfl, o->name, o->start, o->end);
		void **userdata;

		if (module && dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
			*userdata = o;
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
	dwfl_getmodules(u->dwfl, warm, NULL, 0);
	if (!dwfl_attach_state(u->dwfl, NULL, t->pid, &thread_callbacks, u)) {
		hodo_attach_unwind_close(u);
		return NULL;
	}
	return u;
}

void hodo_attach_unwind_close(struct hodo_attach_unwind *u)
{
	if (!u)
		return;
	dwfl_end(u->dwfl);
	free(u);
}

/* --------------------------------------------------------------------- judging */

static bool say(struct hodo_attach_unwind *u, const char *text, const char *name)
{
	snprintf(u->stack->reason, sizeof(u->stack->reason), "%s%s", text, name);
	return false;
}

/*
 * The libc function that the call instruction before this address calls, perhaps through the procedure
 * linkage table.
 */
static bool called_before(struct hodo_attach_unwind *u, uint64_t address, struct hodo_attach_function *f)
{
	static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct hodo_attach_object *o;
	uint8_t b[16], *p = b;
	uint64_t to;
	int32_t n;

	if (!hodo_attach_read(u->target, address - 6, b, 6))
		return false;
	memcpy(&n, b + 2, sizeof(n));
	to = address + (uint64_t)(int64_t)n;
	if (b[0] == 0xff && b[1] == 0x15) { /* call *n(%rip) */
		if (!read_word(u, to, &to))
			return false;
	} else if (b[1] != 0xe8) {
		return false;
	}
	o = hodo_attach_object_at(u->target, to);
	if (o && o->kind != HODO_ATTACH_LIBC && hodo_attach_read(u->target, to, b, sizeof(b))) {
		if (memcmp(p, endbr, sizeof(endbr)) == 0)
			p += sizeof(endbr);
		if (*p == 0xf2)
			p++;
		memcpy(&n, p + 2, sizeof(n)); /* jmp *n(%rip) */
		to += (uint64_t)(p - b) + 6 + (uint64_t)(int64_t)n;
		if (p[0] != 0xff || p[1] != 0x25 || !read_word(u, to, &to))
			return false;
		o = hodo_attach_object_at(u->target, to);
	}
	return o && o->kind == HODO_ATTACH_LIBC && hodo_attach_function_at(o, to, f);
}

/*
 * pthread_join() takes a lock when the other thread has ended, but none while it waits for that: its futex is
 * not private, while those of libc's locks are.
 */
static bool is_join(const struct hodo_attach_unwind *u, const char *name)
{
	const struct user_regs_struct *r = &u->tracee->regs;

	return strstr(name, "join") && (r->orig_rax == SYS_futex || r->orig_rax == SYS_restart_syscall) &&
	       (r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && !(r->rsi & FUTEX_PRIVATE_FLAG);
}

static bool is_harmless(const struct hodo_attach_unwind *u, const struct hodo_attach_function *f)
{
	return !f->unsafe || is_join(u, f->name);
}

/* False: unsafe. */
static bool judge(struct hodo_attach_unwind *u, uint64_t pc)
{
	const struct hodo_attach_object *o = hodo_attach_object_at(u->target, pc);
	struct hodo_attach_function f;
	bool named = o && hodo_attach_function_at(o, pc, &f);

	if (o && o->kind == HODO_ATTACH_LOADER)
		return say(u, "inside the dynamic loader", "");
	if (o && o->kind == HODO_ATTACH_HODO)
		return u->walk.calls || say(u, "inside libhodo", "");
	u->walk.calls = false;
	if (o && o->kind == HODO_ATTACH_ALLOCATOR)
		return say(u, "inside the allocator", "");
	if (named && !is_harmless(u, &f))
		return say(u, "inside ", f.name);
	if (o && o->kind == HODO_ATTACH_LIBC) {
		u->walk.unnamed = !named;
		u->walk.only_unnamed = u->walk.only_unnamed && !named;
		return true;
	}
	if (u->walk.unnamed) {
		if (!called_before(u, pc + 1, &f))
			return say(u, "inside code of libc without a name", "");
		if (!is_harmless(u, &f))
			return say(u, "inside ", f.name);
	}
	u->walk.unnamed = u->walk.only_unnamed = false;
	return true;
}

/*
 * It holds nothing there (hodo/abi_plan.h), and programs may wait there forever. It may be about to enter the
 * call.
 */
static bool in_patched_call(const struct hodo_attach_unwind *u)
{
	static const char again[] = "\x0f\x05" HODO_PLAN_CALL_MARK_BYTES, *mark = again + 2;
	const size_t size = sizeof(HODO_PLAN_CALL_MARK_BYTES) - 1;
	char bytes[sizeof(again) - 1];

	return hodo_attach_read(u->target, u->tracee->regs.rip, bytes, sizeof(bytes)) &&
	       (memcmp(bytes, mark, size) == 0 || memcmp(bytes, again, sizeof(bytes)) == 0);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct hodo_attach_unwind *u = arg;
	Dwarf_Addr pc;
	Dwarf_Word sp = 0;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (dwfl_frame_reg(frame, 7, &sp) != 0)
		sp = u->walk.last_sp;
	if (sp < u->walk.last_sp)
		u->walk.descends = true;
	u->walk.last_sp = sp;
	u->walk.last_pc = pc;
	if (++u->walk.frames > FRAMES_MAX)
		return DWARF_CB_ABORT;
	return judge(u, activation ? pc : pc - 1) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* Whether a call instruction ends there. */
static bool is_return_address(struct hodo_attach_unwind *u, uint64_t address)
{
	uint8_t b[7];

	if (!hodo_attach_read(u->target, address - 7, b, 7))
		return false;
	return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) || (b[4] == 0xff && (b[5] & 0x38) == 0x10) ||
	       (b[1] == 0xff && (b[2] & 0x38) == 0x10) || (b[0] == 0xff && (b[1] & 0x38) == 0x10);
}

/* Scans the rest of the stack if it could not be unwound. */
static bool scan(struct hodo_attach_unwind *u)
{
	const struct hodo_proc_map *m = hodo_attach_map_at(u->target, u->walk.last_sp);
	uint64_t word, at = u->walk.last_sp & ~7ull;

	if (!m || m->end - at > SCAN_MAX)
		return say(u, "on a stack that cannot be unwound", "");
	u->walk.unnamed = false;
	for (; at + 8 <= m->end; at += 8) {
		const struct hodo_attach_object *o;
		struct hodo_attach_function f;
		bool named;

		if (!read_word(u, at, &word))
			return say(u, "on a stack that cannot be read", "");
		o = hodo_attach_object_at(u->target, word);
		named = o && hodo_attach_function_at(o, word - 1, &f);
		if (!o || (o->kind <= HODO_ATTACH_LIBC && !(named && f.unsafe)) || !is_return_address(u, word))
			continue;
		return say(u, "perhaps inside ", named ? f.name : o->name);
	}
	return true;
}

bool hodo_attach_unwind_safe(struct hodo_attach_unwind *u, const struct hodo_attach_tracee *e,
			     struct hodo_attach_stack *stack)
{
	const struct hodo_attach_object *end;
	int r;

	memset(stack, 0, sizeof(*stack));
	u->stack = stack;
	u->tracee = e;
	u->walk = (struct walk){ .only_unnamed = true, .last_sp = e->regs.rsp, .last_pc = e->regs.rip };
	u->walk.calls = in_patched_call(u);
	copy_stack(u);
	r = dwfl_getthread_frames(u->dwfl, e->tid, take_frame, u);
	if (stack->reason[0])
		return false;
	if (u->walk.frames == 0 && !judge(u, e->regs.rip))
		return false;
	end = hodo_attach_object_at(u->target, u->walk.last_pc);
	stack->whole = r == 0 && u->walk.frames > 0;
	stack->top = u->walk.last_sp;
	if (!stack->whole)
		return scan(u);
	if (u->walk.only_unnamed)
		return say(u, "where threads begin and end", "");
	stack->ordinary = !u->walk.descends && end && (end->kind == HODO_ATTACH_LIBC || end->kind == HODO_ATTACH_OTHER);
	return true;
}

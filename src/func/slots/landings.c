/* SPDX-License-Identifier: MIT */
/*
 * landings.c - ends calls that are left without an exit when that happens: by an exception that is caught or
 * lands in a cleanup, by longjmp(), by a change of stacks. Windows of a plan (hodo/abi_plan.h) at the entries
 * of the functions that do so lead here; the stack pointer with which the thread continues shows which calls
 * are over.
 *
 * This reads the arguments of libc's functions as they do: if these are invalid, the program faults in
 * either.
 *
 * The direct writer does not track calls, so each landing is an event. Dispatch ends the calls, and writes
 * the event only if there were any.
 */
#include <hodo/abi_plan.h>
#include <func/hooks.h>
#include <ucontext.h>
#include <func/dispatch.h>
#include <func/func.h>
#include <func/threads.h>
#include <func/tracers/tracers.h>
#include <user/ring/rings.h>
#include <func/hooks.h>

#define JUMP_SP 6            /* of the words of a jmp_buf, glibc's and musl's */
#define POINTER_ROTATION 17  /* glibc's are mangled: by this, and by a word of the thread's own */
#define USER_END (1ull << 47)
#define WORD sizeof(uintptr_t)

static uintptr_t pointer_guard(void)
{
	uintptr_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return guard;
}

static bool is_stack_pointer(uintptr_t sp)
{
	return sp > HODO_PAGE && sp < USER_END && sp % WORD == 0;
}

static uintptr_t jump_target(uintptr_t jmp_buf)
{
	uintptr_t word = ((const uintptr_t *)jmp_buf)[JUMP_SP];
	uintptr_t sp = (word >> POINTER_ROTATION | word << (64 - POINTER_ROTATION)) ^ pointer_guard();

	return is_stack_pointer(sp) ? sp : word;
}

static uintptr_t context_target(uintptr_t context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}

/* The stack pointer with which the thread continues; 0: not known. */
static uintptr_t target(enum hodo_plan_landing landing, uintptr_t at, uintptr_t rdi, uintptr_t rsi)
{
	uintptr_t sp = landing == HODO_LANDING_JUMP ? jump_target(rdi) :
		       landing == HODO_LANDING_CONTEXT ? context_target(rdi) :
		       landing == HODO_LANDING_CONTEXT_2 ? context_target(rsi) : at + WORD;

	return is_stack_pointer(sp) ? sp : 0;
}

static bool is_recorded(const struct hodo_tracer_list *list)
{
	return list && list->n && list->entry[0].ops == &hodo_builtin_record;
}

static void end_calls(enum hodo_func_event event, uintptr_t function, uintptr_t at)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct hodo_func_thread *t = hodo_func_tls.thread;
	uint32_t n;

	if (!t || !t->shadow.n)
		return;
	t = hodo_dispatch_begin(frame, false, frame);
	if (!t)
		return;
	n = t->shadow.n;
	t->exit_ticks = 0;
	hodo_shadow_landed(&t->shadow, at, hodo_ticks_now(), event == HODO_FUNC_SWITCHED);
	if (t->shadow.n != n && is_recorded(hodo_load_acquire(&hodo_tracers)))
		hodo_func_emit_at(event, function, at);
	if (hodo_load(&hodo_func_open))
		hodo_open_leave(t);
	hodo_dispatch_end(t);
}

void hodo_landed(uintptr_t at, uintptr_t function, uintptr_t rdi, uintptr_t rsi)
{
	enum hodo_plan_landing landing = (enum hodo_plan_landing)(function >> HODO_LANDING_SHIFT);
	enum hodo_func_event event = landing >= HODO_LANDING_CONTEXT ? HODO_FUNC_SWITCHED : HODO_FUNC_LANDED;
	const void *hook = hodo_load_acquire(&hodo_func_hooks[HODO_HOOK_ENTRY]);
	uintptr_t sp;

	if (hook == hodo_x86_hooks[HODO_HOOKS_NONE][HODO_HOOK_ENTRY])
		return;
	sp = target(landing, at, rdi, rsi);
	if (!sp)
		return;
	function &= (1ul << HODO_LANDING_SHIFT) - 1;
	/* A function that ended by jumping to swapcontext() has its frame there: with return replacement, its
	 * exit comes when the context continues and returns. */
	sp -= event == HODO_FUNC_SWITCHED ? 2 * WORD : WORD;
	if (hook == hodo_x86_hooks[HODO_HOOKS_DISPATCH][HODO_HOOK_ENTRY])
		end_calls(event, function, sp);
	else
		hodo_func_emit_at(event, function, sp);
}

/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - wherever a signal arrives in an event, the stack can be unwound: from each instruction of the site, of
 * the code that it jumps to, and of libhodo after that, to the caller of the function with the site and to main(). The
 * same holds in a probe. With an argument, each function is called once, for a debugger.
 *
 * The trap flag sends a signal after each instruction, which would restart a restartable sequence a thousand times:
 * the test runs without these. Code that wants to block signals does not block them here.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

HODO_TRACEPOINT(unwind, point, (const char *, text), (int, n));

#define ALONE(where) __attribute__((noinline, section(where)))

static long steps, probed, lost;
static volatile int sink;

extern const char __start_unwind_outer[], __stop_unwind_outer[], __start_unwind_main[], __stop_unwind_main[];

/* A trap while its signal is blocked would end the program. */
static void skip_blocking(greg_t *reg)
{
	const unsigned char *code = (const unsigned char *)reg[REG_RIP];

	if (code[0] != 0x0f || code[1] != 0x05 || reg[REG_RAX] != SYS_rt_sigprocmask)
		return;
	if (reg[REG_RDX])
		memset((void *)reg[REG_RDX], 0, 8);
	reg[REG_RAX] = 0;
	reg[REG_RIP] += 2;
}

/* How many frames of outer() and of main() the stack has. Returns how many it has in all. */
static int backtrace_both(int *outer, int *first)
{
	void *frame[64];
	int n = backtrace(frame, 64);

	*outer = *first = 0;
	for (int i = 0; i < n; i++) {
		*outer += (char *)frame[i] >= __start_unwind_outer && (char *)frame[i] <= __stop_unwind_outer;
		*first += (char *)frame[i] >= __start_unwind_main && (char *)frame[i] <= __stop_unwind_main;
	}
	return n;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	const char *ip = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	int n, outer, first;

	(void)info;
	(void)signal;
	if (ip >= __start_unwind_outer && ip < __stop_unwind_outer)
		return; /* outer() itself is not under test while it pushes */
	n = backtrace_both(&outer, &first);
	steps++;
	if (outer == 1 && first == 1) {
		skip_blocking(((ucontext_t *)context)->uc_mcontext.gregs);
		return;
	}
	printf("step %ld, at %p: %d and %d of %d frames\n", steps,
	       (const void *)ip, outer, first, n);
	fflush(stdout);
	_Exit(1);
}

__attribute__((noinline)) static int leaf(int n)
{
	HODO_EVENT(unwind, leaf, n);
	return n + 1;
}
__attribute__((noinline)) static int texts(int n)
{
	HODO_EVENT(unwind, texts, HODO_F(a, "text"), n, HODO_STR("more", 3));
	return n + 1;
}
__attribute__((noinline)) static int point(int n)
{
	trace_unwind_point("text", n);
	return n + 1;
}
__attribute__((noinline)) static int span(int n)
{
	HODO_SPAN(unwind, span, n);
	return leaf(n) + 1;
}
static void probe(void *data, const char *text, int n)
{
	int outer, first;

	backtrace_both(&outer, &first);
	lost += outer != 1 || first != 1;
	*(long *)data += n + text[0];
}

ALONE("unwind_outer") static int outer(int (*function)(int), int n)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	n = function(n);
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	return n;
}

ALONE("unwind_main") int main(int argc, char **argv)
{
	static int (*const functions[])(int) = { leaf, texts, point, span };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	void *frame[4];

	(void)argv;
	if (argc > 1) {
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			sink = functions[i](1);
		return 0;
	}
	backtrace(frame, 4); /* loads what backtrace() needs */
	for (int probes = 0; probes < 2; probes++) {
		if (probes && register_trace_unwind_point(probe, &probed) != 0)
			return 2;
		sigaction(SIGTRAP, &action, NULL);
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			sink = outer(functions[i], 1);
	}
	printf("%ld steps\n", steps);
	return probed == 't' + 1 && !lost ? 0 : 3;
}

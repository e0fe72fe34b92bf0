/* SPDX-License-Identifier: MIT */
/*
 * registers.c - what a function has in its registers and below its stack pointer is still there after a site, whatever
 * the site leads to: events of the fast writer and the slow one, filters that compute, probes that change all that a C
 * function may change.
 *
 * The site is written here as the compiler's cold code has it (hodo/trace_user.h), after all registers are filled.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

HODO_TRACEPOINT(registers, numbers, (int, n), (double, d));
HODO_TRACEPOINT(registers, texts, (const char *, text), (int, n));

#define GENERAL 13 /* all but rsp, r10 and r11 */
#define VECTORS 16
#define RED_ZONE 128

struct registers {
	unsigned long general[GENERAL];
	unsigned mxcsr, pad[5];
	unsigned char vector[VECTORS][32];
	unsigned char red_zone[RED_ZONE];
} __attribute__((aligned(32)));

#define EACH_GENERAL(insn_begin, insn_end)                                                         \
	insn_begin("rax", "0") insn_begin("rcx", "8") insn_begin("rdx", "16") insn_begin("rsi", "24") \
	insn_begin("rdi", "32") insn_begin("r8", "40") insn_begin("r9", "48") insn_begin("rbx", "56")  \
	insn_begin("rbp", "64") insn_begin("r12", "72") insn_begin("r13", "80") insn_begin("r14", "88")
#define LOAD(reg, at) "movq " at "(%%r10), %%" reg "\n\t"
#define STORE(reg, at) "movq %%" reg ", " at "(%%r10)\n\t"

/* For each tracepoint a function in assembly: registers_NAME(from, to, values). */
#define SITE(name)                                                                                          \
	__attribute__((noinline)) static void registers_##name(const struct registers *from, struct registers *to, \
							       const void *values)                          \
	{                                                                                                   \
		__asm__ volatile(".irp reg, rbx, rbp, r12, r13, r14, r15\n\tpushq %%\\reg\n\t.endr\n\t"          \
				 "pushq %[to]\n\t"                                                          \
				 "movq %[from], %%r10\n\tmovq %[values], %%r11\n\t"                         \
				 ".set at, 0\n\t.rept 16\n\tmovq 640+at(%%r10), %%rax\n\t"                  \
				 "movq %%rax, -128+at(%%rsp)\n\t.set at, at+8\n\t.endr\n\t"                 \
				 ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"         \
				 "vmovups 128+32*\\n(%%r10), %%ymm\\n\n\t.endr\n\t"                         \
				 "ldmxcsr 104(%%r10)\n\t"                                                   \
				 EACH_GENERAL(LOAD, ) "movq 96(%%r10), %%r15\n\t"                           \
				 "leaq 1f(%%rip), %%r10\n\tjmp *hodo_enter_(%%rip)\n\t"                     \
				 ".byte 0xa9\n\t.long %c[probes]-1f\n\t.byte 0xa9\n\t.long %c[state]-1f\n1:\t" \
				 "movq (%%rsp), %%r10\n\t"                                                  \
				 EACH_GENERAL(STORE, ) "movq %%r15, 96(%%r10)\n\t"                          \
				 "stmxcsr 104(%%r10)\n\t"                                                   \
				 ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"         \
				 "vmovups %%ymm\\n, 128+32*\\n(%%r10)\n\t.endr\n\t"                         \
				 ".set at, 0\n\t.rept 16\n\tmovq -128+at(%%rsp), %%rax\n\t"                 \
				 "movq %%rax, 640+at(%%r10)\n\t.set at, at+8\n\t.endr\n\t"                  \
				 "vzeroupper\n\tleaq 8(%%rsp), %%rsp\n\t"                                   \
				 ".irp reg, r15, r14, r13, r12, rbp, rbx\n\tpopq %%\\reg\n\t.endr\n\t"         \
				 :                                                                          \
				 : [from] "D"(from), [to] "S"(to), [values] "d"(values),                    \
				   [state] "i"(&hodo_tp_state_registers_##name),                            \
				   [probes] "i"(hodo_tp_call_registers_##name)                              \
				 : "rax", "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", \
				   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
				   "xmm13", "xmm14", "xmm15");                                                       \
	}
SITE(numbers)
SITE(texts)

static long probed;

/* Changes what a function may change. */
static void spoil(void)
{
	__asm__ volatile(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
			 "vpcmpeqd %%xmm\\n, %%xmm\\n, %%xmm\\n\n\t.endr\n\t"
			 "movl $-1, %%eax\n\tmovl %%eax, %%ecx\n\tmovl %%eax, %%edx\n\tmovl %%eax, %%esi\n\t"
			 "movl %%eax, %%edi\n\tmovl %%eax, %%r8d\n\tmovl %%eax, %%r9d"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15");
}
static void probe_numbers(void *data, int n, double d)
{
	probed += n == 7 && d == 0.5 && data == &probed;
	spoil();
}
static void probe_texts(void *data, const char *text, int n)
{
	probed += n == 7 && strcmp(text, "text") == 0 && data == &probed;
	spoil();
}

static void differ(const char *what, int n, const char *where)
{
	fprintf(stderr, "%s: %s %d is not what it was\n", where, what, n);
	exit(1);
}

static void check(const char *where)
{
	static struct registers before, after;
	static const struct __attribute__((packed, aligned(8))) { int n; double d; } numbers = { 7, 0.5 };
	static const struct __attribute__((packed, aligned(8))) { const char *text; int n; } texts = { "text", 7 };

	for (size_t i = 0; i < sizeof(before); i++)
		((unsigned char *)&before)[i] = (unsigned char)(random() >> 8);
	before.mxcsr = 0x1f80 | 0x2000; /* rounds down */
	for (int way = 0; way < 2; way++) {
		memset(&after, 0, sizeof(after));
		if (way == 0)
			registers_numbers(&before, &after, &numbers);
		else
			registers_texts(&before, &after, &texts);
		for (int i = 0; i < GENERAL; i++) {
			if (before.general[i] != after.general[i])
				differ("general register", i, where);
		}
		for (int i = 0; i < VECTORS; i++) {
			if (memcmp(before.vector[i], after.vector[i], 32) != 0)
				differ("vector register", i, where);
		}
		if (before.mxcsr != after.mxcsr)
			differ("mxcsr", 0, where);
		if (memcmp(before.red_zone, after.red_zone, RED_ZONE) != 0)
			differ("red zone", 0, where);
	}
	__asm__ volatile("ldmxcsr %0" : : "m"((unsigned){ 0x1f80 }));
}

int main(void)
{
	int status;
	pid_t pid;

	if (!__builtin_cpu_supports("avx"))
		return 77;
	if (!hodo_enter_[0])
		return 2;
	trace_registers_numbers(0, 0); /* without sites of its own a program has no tracepoints */
	trace_registers_texts("", 0);
	for (int i = 0; i < 3000; i++) /* includes the first event, and full packets */
		check("alone");
	if (register_trace_registers_numbers(probe_numbers, &probed) != 0 ||
	    register_trace_registers_texts(probe_texts, &probed) != 0)
		return 2;
	for (int i = 0; i < 3000; i++)
		check("probed");
	if (probed != 6000)
		return 3;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* runs no fork handlers: its first event sets it up */
	if (pid == 0) {
		check("child");
		_exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status != 0;
}

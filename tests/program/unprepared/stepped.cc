/* SPDX-License-Identifier: MIT */
/*
 * stepped.cc - a program that runs some of its functions instruction by instruction. A signal handler checks at each
 * whether the stack can be unwound. If the thread is in a slot, in the copy of an instruction or before it,
 * the function must be the next frame.
 *
 *	stepped walk     unwinds at every instruction, in libhodo as well
 *	stepped throw    throws an exception at every instruction of some of the slots
 *	stepped cancel   a thread is cancelled at every instruction of some of the slots
 *	stepped beside   throws as often as it can in two threads: prints how often per second
 */
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "plain_note.h"

#define NOINLINE   __attribute__((noinline, noclone, noipa))
#define FRAMES_MAX 64
#define STEPS_MAX  200000 /* a trap aborts a restartable sequence: the test disables these */
#define TRAP_FLAG  0x100

#define CHECK(what)                                                                  \
	do {                                                                         \
		if (!(what)) {                                                       \
			fprintf(stderr, "%d: not so: %s\n", __LINE__, #what);        \
			_exit(1);                                                    \
		}                                                                    \
	} while (0)

/* --------------------------------------------------------------- what is stepped through */

extern "C" {

volatile long sink;
volatile uint16_t plain_semaphore __attribute__((section(".probes")));

NOINLINE long stepped_leaf(long n)
{
	return n * 3 + 1;
}

NOINLINE long stepped_calls(long n)
{
	sink = stepped_leaf(n); /* a call in the first window, or in the last */
	return stepped_leaf(sink) + n;
}

NOINLINE long stepped_saves(long n)
{
	char text[200];

	memset(text, (int)n, sizeof(text));
	for (long i = 0; i < 3; i++)
		n += stepped_leaf(i) + text[n & 63];
	return n;
}

NOINLINE long stepped_tail(long n)
{
	sink = n;
	return stepped_leaf(n);
}

NOINLINE long stepped_branches(long n)
{
	if (n & 1)
		return -1;
	sink = n;
	return n;
}

NOINLINE long stepped_probe(long n)
{
	long local[4] = { n, n + 1, n + 2, n + 3 };

	__asm__ volatile(NOTE("values", "0", "8@%[n] 8@%[m] -4@$-7") : : [n] "r"(n), [m] "m"(local[2]));
	sink = local[n & 3];
	__asm__ volatile(NOTE("leaf", "0", "8@%%rsp") : : "m"(local));
	return sink + local[1];
}

NOINLINE long stepped_mask(long n)
{
	sigset_t none;

	sigemptyset(&none);
	return pthread_sigmask(SIG_BLOCK, &none, nullptr) + n;
}

/* Calls a function, with the trap flag or without. */
long step_through(long (*function)(long), long n, unsigned long flags);
extern const char step_back[];
__asm__(".pushsection .text\n.globl step_through, step_back\n.type step_through, @function\n"
	"step_through: .cfi_startproc\npush %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\n"
	"mov %rdi,%rax\nmov %rsi,%rdi\n"
	"pushfq\n.cfi_adjust_cfa_offset 8\norq %rdx,(%rsp)\npopfq\n.cfi_adjust_cfa_offset -8\n"
	"call *%rax\n"
	"step_back: pushfq\n.cfi_adjust_cfa_offset 8\nandq $~0x100,(%rsp)\npopfq\n.cfi_adjust_cfa_offset -8\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\nret\n.cfi_endproc\n"
	".size step_through, . - step_through\n.popsection\n");
}

static long (*const functions[])(long) = { stepped_leaf,     stepped_calls, stepped_saves, stepped_tail,
					   stepped_branches, stepped_probe, stepped_mask };
#define NFUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* -------------------------------------------------------------------------------- slots */

static struct {
	uintptr_t start, end;
} slots[64];
static unsigned nslots;

static void find_slots()
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps) && nslots < 64) {
		unsigned long start, end;
		char rights[5];

		if (strstr(line, "hodo-plan") && sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 &&
		    rights[2] == 'x')
			slots[nslots++] = { start, end };
	}
	fclose(maps);
}

static bool in_slot(uintptr_t address)
{
	for (unsigned i = 0; i < nslots; i++)
		if (address - slots[i].start < slots[i].end - slots[i].start)
			return true;
	return false;
}

/* ------------------------------------------------------------------------------- frames */

struct frames {
	uintptr_t at[FRAMES_MAX];
	int n;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
	auto *f = static_cast<frames *>(arg);

	if (f->n == FRAMES_MAX)
		return _URC_END_OF_STACK;
	f->at[f->n++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static int find(const frames &f, uintptr_t address)
{
	for (int i = 0; i < f.n; i++)
		if (f.at[i] == address)
			return i;
	return -1;
}

static frames expected; /* from step_through on */

NOINLINE static long expect(long n)
{
	frames f = {};
	int at;

	_Unwind_Backtrace(add_frame, &f);
	at = find(f, reinterpret_cast<uintptr_t>(step_back));
	CHECK(at >= 0);
	expected.n = f.n - at;
	memcpy(expected.at, f.at + at, sizeof(f.at[0]) * static_cast<size_t>(expected.n));
	return n;
}

/* -------------------------------------------------------------------------------- steps */

static enum { WALK, THROW, CANCEL } what;
static long steps, steps_in_slots, chosen; /* … of those, the one at which it throws or cancels */
static unsigned wrong;

static void complain(const frames &f, uintptr_t pc)
{
	if (wrong++ > 3)
		return;
	fprintf(stderr, "at %#lx%s:", pc, in_slot(pc) ? ", in a slot" : "");
	for (int i = 0; i < f.n; i++)
		fprintf(stderr, " %#lx", f.at[i]);
	fprintf(stderr, "\n");
}

static void look(uintptr_t pc)
{
	frames f = {};
	int at, back;

	_Unwind_Backtrace(add_frame, &f);
	at = find(f, pc);
	back = find(f, reinterpret_cast<uintptr_t>(step_back));
	if (at < 0 || (back < at) || f.n - back != expected.n ||
	    memcmp(f.at + back, expected.at, sizeof(f.at[0]) * static_cast<size_t>(expected.n)) != 0 ||
	    (in_slot(pc) && (back < at + 2 || in_slot(f.at[at + 1]))))
		complain(f, pc);
}

static void on_step(int, siginfo_t *, void *context)
{
	auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
	auto pc = static_cast<uintptr_t>(registers[REG_RIP]);

	if (pc == reinterpret_cast<uintptr_t>(step_back) || ++steps == STEPS_MAX)
		registers[REG_EFL] &= ~TRAP_FLAG;
	if (pc - reinterpret_cast<uintptr_t>(step_back) < 16)
		return; /* the flag is cleared there */
	if (what == WALK && (steps < 4000 || in_slot(pc)))
		look(pc);
	if (!in_slot(pc) || steps_in_slots++ != chosen || what == WALK)
		return;
	if (what == THROW)
		throw 1;
	pthread_cancel(pthread_self());
}

static void walk()
{
	for (auto *f : functions) {
		long (*const both[])(long) = { expect, f };

		steps = steps_in_slots = 0;
		for (volatile int i = 0; i < 2; i = i + 1) /* one call, and so one address */
			sink = step_through(both[i], 4, i ? TRAP_FLAG : 0);
		printf("%ld steps, %ld in slots\n", steps, steps_in_slots);
		CHECK(steps < STEPS_MAX);
	}
	CHECK(wrong == 0);
}

/* Returns at how many instructions it threw or cancelled. */
static long each_step(bool (*run)(long (*f)(long)))
{
	long n = 0;

	for (auto *f : { stepped_calls, stepped_probe, stepped_mask }) {
		for (chosen = 0, steps_in_slots = 0; steps_in_slots >= chosen; chosen++) {
			steps = steps_in_slots = 0;
			CHECK(run(f) == (steps_in_slots > chosen));
			n += steps_in_slots > chosen;
		}
	}
	return n;
}

static bool is_caught(long (*f)(long))
{
	try {
		sink = step_through(f, 4, TRAP_FLAG);
	} catch (int) {
		return true;
	}
	return false;
}

static unsigned long cleaned;

struct guard {
	~guard() { cleaned++; }
};

static void *be_cancelled(void *arg)
{
	guard g;
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	sink = step_through(reinterpret_cast<long (*)(long)>(arg), 4, TRAP_FLAG);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
	return nullptr;
}

static bool is_cancelled(long (*f)(long))
{
	pthread_t thread;
	void *result;
	auto before = cleaned;

	CHECK(pthread_create(&thread, nullptr, be_cancelled, reinterpret_cast<void *>(f)) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK(cleaned == before + 1);
	return result == PTHREAD_CANCELED;
}

/* ------------------------------------------------------------------------------- beside */

static bool stop;

NOINLINE static void throw_deep(int n)
{
	if (n)
		throw_deep(n - 1);
	else
		throw 1;
	sink = n;
}

static void *throw_on(void *arg)
{
	auto *n = static_cast<unsigned long *>(arg);

	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++*n) {
		try {
			throw_deep(8);
		} catch (int) {
		}
	}
	return nullptr;
}

static void beside()
{
	unsigned long n[2][8] = {};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], nullptr, throw_on, n[i]) == 0);
	sleep(2);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (auto thread : threads)
		pthread_join(thread, nullptr);
	printf("%lu throws a second\n", (n[0][0] + n[1][0]) / 2);
}

int main(int, char **argv)
{
	struct sigaction action = {};

	action.sa_sigaction = on_step;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	CHECK(sigaction(SIGTRAP, &action, nullptr) == 0);
	find_slots();
	if (!strcmp(argv[1], "beside"))
		beside();
	else if (!strcmp(argv[1], "walk"))
		walk();
	else if (!strcmp(argv[1], "throw")) {
		what = THROW;
		printf("%ld caught\n", each_step(is_caught));
	} else {
		what = CANCEL;
		printf("%ld cancelled\n", each_step(is_cancelled));
	}
	return 0;
}

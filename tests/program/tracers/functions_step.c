/* SPDX-License-Identifier: MIT */
/*
 * functions_step.c - functions_step SCENE: goes through traced calls an instruction at a time, by the trap flag, and
 * does at each what a signal handler may do there. Exits with 0 if all went well.
 *
 *	unwind    unwinds; from the stubs, the hooks and everything after them, it must reach the program's own frames
 *	call      calls traced functions: each is reported wholly or not at all, and so is the interrupted call
 *	onstack   the same from a signal stack that is an array of main's: its addresses are above all others
 *	longjmp   longjmps away for good, each time in a fork child; tracing continues, unregister returns
 *	park      the same where a coroutine and its resumer take turns, except for what is on the coroutine's stack
 *
 * With a second argument, the program registers a tracer; otherwise the recorder's tracers work.
 */
#define _GNU_SOURCE
#include <hodo/tracer.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define TRACED __attribute__((noipa))
#define UNTRACED __attribute__((noipa, no_instrument_function))
#define TRAP_FLAG 0x100ul

extern char __fentry__[], __return__[], _etext[], __executable_start[];

static volatile unsigned steps, bad;
static volatile bool busy;
static void (*at_step)(ucontext_t *context);
static void check_unwind(ucontext_t *context);

/* ---------------------------------------------------------------- what is stepped */

static void *ra_leaf, *ra_middle, *ra_outer;
static volatile int sink;

TRACED static int leaf(int x)
{
	ra_leaf = __builtin_return_address(0);
	sink += x;
	return x + 1;
}

/* Must restore registers of its caller, and ends in a tail jump. */
TRACED static int middle(int x)
{
	int a = leaf(x), b = leaf(a), c = leaf(b);

	ra_middle = __builtin_return_address(0);
	sink = leaf(a + b + c);
	return leaf(c);
}

TRACED static int outer(int x)
{
	volatile char room[200];

	ra_outer = __builtin_return_address(0);
	memset((char *)room, x, sizeof(room));
	return middle(x) + room[x & 15];
}

UNTRACED static void set_trap_flag(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

UNTRACED static void clear_trap_flag(void)
{
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

/* libhodo is about to block all signals: a trap that comes while its signal is blocked would end the process. */
UNTRACED static void keep_traps(const greg_t *r)
{
	if (memcmp((const void *)r[REG_RIP], "\x0f\x05", 2) == 0 && r[REG_RAX] == SYS_rt_sigprocmask && r[REG_RSI])
		*(uint64_t *)r[REG_RSI] &= ~(1ull << (SIGTRAP - 1));
}

/* Retries come to one place a thousand times: nothing new to test. */
UNTRACED static bool often(uintptr_t pc)
{
	static uint16_t times[1u << 16];
	uint16_t *n = &times[pc & 0xffff];

	return *n == 50 || ++*n == 50;
}

UNTRACED static void on_trap(int sig, siginfo_t *info, void *data)
{
	ucontext_t *context = data;

	(void)sig;
	(void)info;
	if (busy)
		return;
	busy = true;
	steps++;
	keep_traps(context->uc_mcontext.gregs);
	/* Where other signals are blocked, no handler would run. */
	if ((at_step == check_unwind || !sigismember(&context->uc_sigmask, SIGUSR1)) &&
	    !often((uintptr_t)context->uc_mcontext.gregs[REG_RIP]))
		at_step(context);
	busy = false;
}

UNTRACED static void step_nothing(ucontext_t *context) { (void)context; }

/* ------------------------------------------------------------------------ unwind */

#define FRAMES 64
struct frames {
	unsigned n;
	uintptr_t pc[FRAMES];
};

UNTRACED static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
	struct frames *f = data;

	if (f->n == FRAMES)
		return _URC_END_OF_STACK;
	f->pc[f->n++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static struct frames expected; /* the frames that step() has above it */

UNTRACED static bool in_program(uintptr_t pc)
{
	return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)_etext;
}

UNTRACED static bool in_stub(uintptr_t pc)
{
	return pc - (uintptr_t)__fentry__ < 16 || pc - (uintptr_t)__return__ < 16;
}

UNTRACED static void tell(uintptr_t pc, const struct frames *f)
{
	fprintf(stderr, "step %u at %#lx (in libhodo: hodo_function_name's offset %#lx):", steps, pc,
		pc - (uintptr_t)&hodo_tracer_register);
	for (unsigned i = 0; i < f->n; i++)
		fprintf(stderr, " %#lx", f->pc[i]);
	fprintf(stderr, "\n");
}

/* All stepped code is called from here, so that its frames end in the same ones. */
UNTRACED static void step(void)
{
	struct frames f = { 0 };

	_Unwind_Backtrace(take_frame, &f);
	expected.n = f.n - 1;
	memcpy(expected.pc, &f.pc[1], expected.n * sizeof(f.pc[0]));
	set_trap_flag();
	outer(3);
	clear_trap_flag();
}

/* The frames from ra_outer on are those above step(); below it, each return address appears at most once. */
UNTRACED static void check_unwind(ucontext_t *context)
{
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	struct frames f = { 0 };
	unsigned i, n, leafs = 0, middles = 0;

	/* In the function's own code GCC's unwind information counts, and at an exit slot it is wrong. */
	if (in_program(pc) && !in_stub(pc))
		return;
	_Unwind_Backtrace(take_frame, &f);
	for (i = 0; i < f.n && f.pc[i] != (uintptr_t)ra_outer; i++) {
		leafs += f.pc[i] == (uintptr_t)ra_leaf;
		middles += f.pc[i] == (uintptr_t)ra_middle;
	}
	n = i < f.n ? f.n - i - 1 : 0;
	if (i == f.n || n != expected.n || memcmp(&f.pc[i + 1], expected.pc, n * sizeof(f.pc[0])) != 0 || middles > 1 ||
	    leafs > 1) {
		if (bad++ < 5)
			tell(pc, &f);
	}
}

/* ------------------------------------------------------------------- the tracer */

static volatile unsigned entered[3], left[3], gone; /* by function, see index_of() */
static volatile unsigned nested;

TRACED static void handled_inner(void) { sink++; }
TRACED static void handled(void)
{
	handled_inner();
	sink++;
}

UNTRACED static int index_of(const void *function)
{
	return function == (void *)handled || function == (void *)handled_inner ? 1 :
	       function == (void *)leaf || function == (void *)middle || function == (void *)outer ? 0 : 2;
}

UNTRACED static void on_enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	entered[index_of(call->function)]++;
}

UNTRACED static void on_exit_(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	left[index_of(call->function)]++;
	gone += (call->flags & HODO_CALL_LEFT) != 0;
}

static struct hodo_tracer tracer = { .size = sizeof(tracer), .enter = on_enter, .exit = on_exit_ };
static bool with_tracer;

/* ---------------------------------------------------------------------- call */

UNTRACED static void call_traced(ucontext_t *context)
{
	(void)context;
	handled();
	nested++;
}

UNTRACED static void call_on_stack(ucontext_t *context) { call_traced(context); }

UNTRACED static void check_calls(void)
{
	if (!with_tracer)
		return;
	fprintf(stderr, "%u steps; stepped %u in, %u out; in the handler %u in, %u out, of %u; %u left\n", steps,
		entered[0], left[0], entered[1], left[1], 2 * nested, gone);
	bad += entered[0] != 7 || left[0] != 7 || (gone && at_step == call_traced);
	bad += entered[1] != left[1] || entered[1] == 0 || entered[1] > 2 * nested;
}

/* ------------------------------------------------------------------- longjmp */

static sigjmp_buf back;
static unsigned stride = 1;

UNTRACED static void *unregister_thread(void *arg)
{
	int error = hodo_tracer_unregister(&tracer);

	return error ? arg : NULL;
}

/* In a fork child: what must work after a longjmp out of any place. */
UNTRACED static int after_longjmp(bool same_thread)
{
	unsigned in, out;
	pthread_t thread;
	void *failed = NULL;

	alarm(20);
	if (same_thread) {
		if (hodo_tracer_unregister(&tracer) != 0)
			return 10;
	} else {
		/* This one calls nothing traced in the meantime. */
		if (pthread_create(&thread, NULL, unregister_thread, &tracer) != 0 ||
		    pthread_join(thread, &failed) != 0 || failed)
			return 11;
	}
	if (hodo_tracer_register(&tracer) != 0)
		return 12;
	in = entered[0] + entered[1];
	out = left[0] + left[1] - gone;
	handled();
	outer(1);
	if (entered[0] + entered[1] - in != 9)
		return 13;
	if (left[0] + left[1] - gone - out != 9)
		return 14;
	return hodo_tracer_unregister(&tracer) ? 15 : 0;
}

UNTRACED static void longjmp_in_child(ucontext_t *context)
{
	int status;
	pid_t pid;

	if (steps % stride)
		return;
	pid = fork();
	if (pid == 0)
		siglongjmp(back, 1 + (int)(steps / stride % 2));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		if (bad++ < 5)
			fprintf(stderr, "step %u at libhodo %+ld: status %#x\n", steps,
				(long)context->uc_mcontext.gregs[REG_RIP] - (long)&hodo_tracer_register, status);
	}
}

static ucontext_t resumer, coroutine;
static char coroutine_stack[65536];

TRACED static void turn(int i)
{
	leaf(i);
	swapcontext(&coroutine, &resumer);
	sink += i;
}

TRACED static void take_turns(void)
{
	for (int i = 0; i < 50; i++)
		turn(i);
}

TRACED static void resume(void)
{
	leaf(0);
	swapcontext(&resumer, &coroutine);
	sink++;
}

UNTRACED static void begin_turns(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = coroutine_stack;
	coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
	coroutine.uc_link = &resumer;
	makecontext(&coroutine, take_turns, 0);
}

UNTRACED static void longjmp_from_own_stack(ucontext_t *context)
{
	uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	if (sp - (uintptr_t)coroutine_stack >= sizeof(coroutine_stack))
		longjmp_in_child(context);
}

/* In a fork child: another coroutine on the same stack, for a while. */
UNTRACED static int after_park(void)
{
	unsigned in = entered[0] + entered[2], returned = left[0] + left[2] - gone;

	alarm(20);
	begin_turns();
	for (int i = 0; i < 20; i++)
		resume();
	in = entered[0] + entered[2] - in;
	returned = left[0] + left[2] - gone - returned;
	if (hodo_tracer_unregister(&tracer) != 0)
		return 10;
	/* The coroutine itself and its last turn have not returned. */
	return in != 81 ? 11 : returned != 79 ? 12 : 0;
}

UNTRACED static void park_all(void)
{
	begin_turns();
	resume();
	resume();
	at_step = longjmp_from_own_stack;
	if (sigsetjmp(back, 1)) {
		busy = true;
		clear_trap_flag();
		_exit(after_park());
	}
	set_trap_flag();
	resume();
	resume();
	clear_trap_flag();
}

UNTRACED static void longjmp_all(void)
{
	int where = sigsetjmp(back, 1);

	if (where) {
		busy = true;
		clear_trap_flag();
		_exit(after_longjmp(where == 1));
	}
	step();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*at_step)(ucontext_t *context);
		void (*after)(void);
	} scenes[] = { { "unwind", check_unwind, NULL }, { "call", call_traced, check_calls },
		       { "onstack", call_on_stack, check_calls }, { "longjmp", longjmp_in_child, NULL },
		       { "park", longjmp_from_own_stack, NULL } };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const char *scene = argc > 1 ? argv[1] : "";
	char stack[65536];
	stack_t signal_stack = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if (strcmp(scene, "onstack") == 0) {
		sigaltstack(&signal_stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	with_tracer = argc > 2;
	stride = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	if (with_tracer && hodo_tracer_register(&tracer) != 0)
		return 2;
	sigaction(SIGTRAP, &action, NULL);
	at_step = step_nothing;
	step();
	memset((void *)entered, 0, sizeof(entered));
	memset((void *)left, 0, sizeof(left));
	steps = 0;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(scene, scenes[i].name) != 0)
			continue;
		at_step = scenes[i].at_step;
		if (at_step == longjmp_from_own_stack)
			park_all();
		else if (at_step == longjmp_in_child)
			longjmp_all();
		else
			step();
		if (scenes[i].after)
			scenes[i].after();
		printf("%u steps, %u bad\n", steps, bad);
		return bad != 0;
	}
	return 2;
}

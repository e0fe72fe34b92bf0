/* SPDX-License-Identifier: MIT */
/* scenes.c - SCENE [N]: programs whose events' context is known to tests/verb/record_context/context.py. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <hodo/trace.h>

#define KEEP __attribute__((noinline, noclone))
/* So that a call before it does not become a jump. */
#define STAY __asm__ volatile("" ::: "memory")

/* ------------------------------------------------------------------ call chains */

KEEP void leaf(int n)
{
	HODO_EVENT(ctx, leaf, n, HODO_F(text, n % 2 ? "odd" : ""));
	STAY;
}

KEEP void middle(int n)
{
	volatile char room[300];

	room[0] = (char)n;
	leaf(n);
	room[1] = (char)n;
	STAY;
}

KEEP void outer(int n)
{
	middle(n);
	STAY;
}

KEEP void recurse(int n, int depth)
{
	volatile char room[100];

	room[0] = (char)n;
	if (depth > 0)
		recurse(n, depth - 1);
	else
		leaf(n);
	STAY;
}

HODO_TRACEPOINT(ctx, point, (int, n));

KEEP void spans(int n)
{
	HODO_SPAN(ctx, span, n);
	HODO_MARK(ctx, mark, "n is %d", n);
	trace_ctx_point(n);
	HODO_COUNTER(ctx, counter, n);
	STAY;
}

static KEEP void scene_chain(void)
{
	for (int n = 0; n < 10; n++) {
		outer(n);
		STAY;
	}
	recurse(100, 5);
	spans(7);
	STAY;
}

static KEEP void scene_deep(void)
{
	recurse(1, 3000);
	recurse(2, 20);
	STAY;
}

/* ------------------------------------------------------------------------ threads */

static void *thread(void *arg)
{
	char name[16];
	long id = (long)arg;

	snprintf(name, sizeof(name), "worker-%ld", id);
	prctl(PR_SET_NAME, name);
	for (int n = 0; n < 40; n++)
		outer((int)id * 1000 + n);
	return NULL;
}

static KEEP void scene_threads(void)
{
	pthread_t threads[8];

	for (long i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

static KEEP void scene_rename(void)
{
	for (int n = 0; n < 5; n++) {
		char name[16];

		snprintf(name, sizeof(name), "name-%d", n);
		prctl(PR_SET_NAME, n == 3 ? "" : name);
		usleep(20000);
		leaf(n);
	}
}

/* ------------------------------------------------------------------------ signals */

static volatile sig_atomic_t handled;

KEEP void in_handler(int n)
{
	HODO_EVENT(ctx, handler, n);
	STAY;
}

static void handler(int sig)
{
	(void)sig;
	in_handler(handled);
	handled++;
}

/* As small as a signal stack may be, with room for the frames of the handler and of the library. */
static void small_stack(void)
{
	long size = sysconf(_SC_MINSIGSTKSZ);
	stack_t stack = { .ss_flags = 0 };

	stack.ss_size = (size_t)(size > 0 ? size : MINSIGSTKSZ) + 4096;
	/* Ends where its mapping ends: nothing is mapped above it. */
	stack.ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect((char *)stack.ss_sp + 61440, 4096, PROT_NONE);
	stack.ss_sp = (char *)stack.ss_sp + 61440 - (stack.ss_size & ~15ul);
	stack.ss_size &= ~15ul;
	sigaltstack(&stack, NULL);
}

static KEEP void scene_signals(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval timer = { { 0, 300 }, { 0, 300 } };

	small_stack();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int n = 0; handled < 100; n++)
		outer(n);
	timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* -------------------------------------------------------------------------- garbage */

#ifdef __x86_64__
/* Calls leaf(n) with any value in the frame pointer. */
void with_rbp(int n, uintptr_t rbp);
__asm__(".text\n"
	".type with_rbp, @function\n"
	"with_rbp:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbp, -16\n"
	"	mov %rsi, %rbp\n"
	"	call bare_leaf\n"
	"	pop %rbp\n"
	".cfi_restore rbp\n"
	".cfi_def_cfa_offset 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size with_rbp, . - with_rbp\n");

/* Never sets up a frame pointer, whatever options this file is compiled with. */
__attribute__((noinline, used, optimize("O2", "omit-frame-pointer"))) void bare_leaf(int n)
{
	HODO_EVENT(ctx, bare, n);
	STAY;
}

static KEEP void scene_garbage(void)
{
	char *none = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), ring[4], self[2];
	/* The function's variables look like a frame, with a text for the address. */
	uintptr_t text[2] = { 0, 0x302d72656b726f77ul };
	uintptr_t values[] = { 0, 1, 8, 4096, here - 8, here - 4096, here - 65536, here + 1, here + 3, here + 4096,
			       here + 65536, here + (1 << 20), here + (7 << 20), here + (64 << 20),
			       (uintptr_t)none, (uintptr_t)none + 4096 - 8, (uintptr_t)ring, (uintptr_t)self,
			       (uintptr_t)text,
			       1ul << 47, (1ul << 47) - 8, (1ul << 47) - 16, (1ul << 63), ~0ul, ~7ul, ~15ul, ~4095ul,
			       0x8000000000000008ul, (uintptr_t)&scene_garbage, 0xffffffffff600000ul };
	uint64_t random = 88172645463325252ull;

	mprotect(none + 4096, 4096, PROT_READ | PROT_WRITE);
	self[0] = (uintptr_t)self; /* a frame that is its own caller */
	self[1] = (uintptr_t)&scene_garbage;
	for (int i = 0; i < 4; i++)
		ring[i] = (uintptr_t)ring;
	for (unsigned n = 0; n < sizeof(values) / sizeof(*values); n++)
		with_rbp((int)n, values[n]);
	/* Frames that lead out of mapped memory. */
	*(uintptr_t *)(none + 4096 + 4080) = (uintptr_t)none + 8192 - 8;
	with_rbp(999, (uintptr_t)none + 4096 + 4080);
	for (int n = 1000; n < 1200; n++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		with_rbp(n, n % 3 == 0 ? random : here + (random & ((n % 3 == 1) ? 0xfffff : 0xfff)));
	}
}
#else
static KEEP void scene_garbage(void) {}
#endif

/* ---------------------------------------------------------------------- coroutines */

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	for (int n = 0;; n++) {
		outer(n);
		swapcontext(&coroutine_context, &main_context);
	}
}

/* On stacks that come and go, with nothing mapped above them. */
static KEEP void scene_coroutines(void)
{
	for (int round = 0; round < 6; round++) {
		char *map = mmap(NULL, 6 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(map + 4096, 4 * 4096, PROT_READ | PROT_WRITE);
		getcontext(&coroutine_context);
		coroutine_context.uc_stack.ss_sp = map + 4096;
		coroutine_context.uc_stack.ss_size = 4 * 4096;
		coroutine_context.uc_link = NULL;
		makecontext(&coroutine_context, coroutine, 0);
		for (int n = 0; n < 10; n++) {
			swapcontext(&main_context, &coroutine_context);
			outer(1000 + n);
		}
		munmap(map, 6 * 4096);
	}
}

/* ------------------------------------------------------------------------ processes */

static KEEP void scene_fork(void)
{
	outer(0);
	for (int i = 1; i <= 3; i++) {
		if (fork() == 0) {
			for (int n = 0; n < 30; n++)
				outer(i * 1000 + n);
			exit(0);
		}
	}
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		outer(9000);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	outer(1);
	STAY;
}

/* --------------------------------------------------------------------------- refused */

/* The kernel refuses process_vm_readv(). */
static KEEP void scene_sandbox(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
	outer(1);
	recurse(2, 100);
	STAY;
}

/* Runs until it is asked to end; for --pid. */
static KEEP void scene_wait(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(900);
	for (int n = 0; access("stop", F_OK) != 0; n++) {
		outer(n);
		usleep(500);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {
		{ "chain", scene_chain }, { "deep", scene_deep }, { "threads", scene_threads },
		{ "rename", scene_rename }, { "signals", scene_signals }, { "garbage", scene_garbage },
		{ "coroutines", scene_coroutines },
		{ "fork", scene_fork }, { "sandbox", scene_sandbox }, { "wait", scene_wait },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(argv[1], scenes[i].name) == 0) {
			scenes[i].run();
			return 0;
		}
	}
	return 2;
}

// SPDX-License-Identifier: MIT
// hazards.cc - a program in which all functions have their return addresses replaced, doing what is hard on that. Each
// part ends the process with a message if something is not as it must be.
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <vector>
#include <func/x86_64/returns.h>
#include "driver.h"

#define NOINLINE __attribute__((noinline, noclone))
#define REQUIRE(what) do { if (!(what)) fail(#what, __LINE__); } while (0)

extern "C" [[noreturn]] __attribute__((no_instrument_function)) void fail(const char *what, int line)
{
	fprintf(stderr, "hazards.cc:%d: not so: %s\n", line, what);
	_exit(1);
}

static volatile int sink, never;
static void keep() { __asm__ volatile("" ::: "memory"); }

// ------------------------------------------------------------------ exceptions

static int destroyed;
struct Guard {
	int value;
	explicit Guard(int v) : value(v) {}
	NOINLINE ~Guard() { destroyed++; }
};

NOINLINE static int thrower(int depth, int what)
{
	Guard g(depth);

	if (depth == 0) {
		if (what == 1)
			throw std::runtime_error("bottom");
		if (what == 2)
			throw depth;
		return 1;
	}
	int r = thrower(depth - 1, what) + g.value;
	keep();
	return r;
}

// The direct caller of a replaced function catches the exception, at each level, and rethrows it.
NOINLINE static int rethrower(int depth)
{
	Guard g(depth);

	try {
		if (depth == 0)
			throw std::string("deep");
		return rethrower(depth - 1) + 1;
	} catch (const std::string &s) {
		if (s.size() > 60)
			throw;
		throw s + "x";
	}
}

NOINLINE static int inner_catch(int depth)
{
	try {
		return thrower(depth, 1);
	} catch (const std::exception &e) {
		try {
			thrower(depth / 2, 2);
		} catch (int i) {
			REQUIRE(i == 0);
		}
		return strcmp(e.what(), "bottom") == 0 ? depth : -1;
	}
}

struct Thrower {
	NOINLINE ~Thrower() noexcept(false) { inner_catch(3); }
};

static void exceptions()
{
	for (int i = 0; i < 200; i++) {
		destroyed = 0;
		REQUIRE(inner_catch(i) == i);
		REQUIRE(destroyed == i + 1 + i / 2 + 1);
		try {
			rethrower(i);
			REQUIRE(false);
		} catch (const std::string &s) {
			REQUIRE(s.size() == (size_t)(i < 57 ? 4 + i + 1 : 61));
		}
		try {
			Thrower t;
			thrower(5, 1);
			REQUIRE(false);
		} catch (const std::runtime_error &) {
		}
		REQUIRE(thrower(10, 0) == 56);
	}
}

// ----------------------------------------------------------- longjmp, coroutines

static jmp_buf target;

NOINLINE static void jumper(int depth)
{
	if (depth == 0 && !never)
		longjmp(target, 7);
	if (depth > 0)
		jumper(depth - 1);
	keep();
}

NOINLINE static int sum(int n)
{
	int r = n == 0 ? 0 : sum(n - 1) + n;

	keep();
	return r;
}

static void jumps()
{
	for (volatile int i = 0; i < 1000; i++) {
		int value = setjmp(target);

		if (value == 0)
			jumper(i % 100);
		REQUIRE(value == 7);
		REQUIRE(sum(i % 90) == (i % 90) * (i % 90 + 1) / 2);
	}
}

#define COROUTINES 40
#define ROUNDS 50

struct Coroutine {
	ucontext_t own, back;
	int id, count;
	char *stack;
};
static Coroutine coroutines[COROUTINES];

NOINLINE static void hop(Coroutine *c, int depth)
{
	if (depth > 0) {
		hop(c, depth - 1);
		keep();
		return;
	}
	c->count++;
	swapcontext(&c->own, &c->back);
}

static void body(int id)
{
	Coroutine *c = &coroutines[id];

	for (int i = 0; i < ROUNDS; i++)
		hop(c, (id + i) % 20);
}

NOINLINE static void resume(Coroutine *c, int depth)
{
	if (depth > 0)
		resume(c, depth - 1);
	else
		swapcontext(&c->back, &c->own);
	keep();
}

static pthread_barrier_t turn;

// Two threads resume all coroutines in turns: each coroutine continues in another thread than it stopped in.
static void *rounds(void *odd)
{
	for (int i = 0; i < ROUNDS + 1; i++) {
		if ((i & 1) == (odd != nullptr))
			for (Coroutine &c : coroutines)
				resume(&c, i % 7);
		pthread_barrier_wait(&turn);
	}
	return nullptr;
}

static void contexts()
{
	pthread_t t;

	pthread_barrier_init(&turn, nullptr, 2);
	for (int i = 0; i < COROUTINES; i++) {
		Coroutine *c = &coroutines[i];

		c->stack = (char *)malloc(64 << 10);
		getcontext(&c->own);
		c->own.uc_stack.ss_sp = c->stack;
		c->own.uc_stack.ss_size = 64 << 10;
		c->own.uc_link = &c->back;
		makecontext(&c->own, (void (*)())body, 1, i);
	}
	pthread_create(&t, nullptr, rounds, &turn);
	rounds(nullptr);
	pthread_join(t, nullptr);
	for (Coroutine &c : coroutines)
		REQUIRE(c.count == ROUNDS);
}

// --------------------------------------------------------------------- threads

static volatile int cleaned;
NOINLINE static void clean(void *arg) { cleaned += *(int *)arg; }

NOINLINE static void wait_deep(int depth, bool leave)
{
	Guard g(depth);
	int one = 1;

	pthread_cleanup_push(clean, &one);
	if (depth > 0)
		wait_deep(depth - 1, leave);
	else if (leave && !never)
		pthread_exit((void *)5);
	else
		while (!never)
			pause();
	pthread_cleanup_pop(1);
}

static void *waiter(void *leave)
{
	wait_deep(20, leave != nullptr);
	return nullptr;
}

static void *asynchronous(void *)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	for (;;)
		sink = sum(30);
}

static void threads()
{
	for (int i = 0; i < 40; i++) {
		pthread_t t;
		void *result;

		cleaned = destroyed = 0;
		pthread_create(&t, nullptr, waiter, i & 1 ? &t : nullptr);
		if (!(i & 1)) {
			usleep(1000);
			pthread_cancel(t);
		}
		pthread_join(t, &result);
		REQUIRE(result == (i & 1 ? (void *)5 : PTHREAD_CANCELED));
		REQUIRE(cleaned == 21 && destroyed == 21);
	}
	for (int i = 0; i < 10; i++) {
		pthread_t t;

		pthread_create(&t, nullptr, asynchronous, nullptr);
		usleep(500);
		pthread_cancel(t);
		pthread_join(t, nullptr);
	}
}

// -------------------------------------------------------------------- processes

NOINLINE static int fork_deep(int depth, pid_t *pid)
{
	int r;

	if (depth == 0) {
		*pid = fork();
		return *pid == 0 ? 100 : 0;
	}
	r = fork_deep(depth - 1, pid) + 1;
	keep();
	return r;
}

NOINLINE static int vfork_deep(int depth)
{
	int status, r;

	if (depth == 0) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(sum(8) + 1);
		REQUIRE(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		return WEXITSTATUS(status);
	}
	r = vfork_deep(depth - 1) + 1;
	keep();
	return r;
}

static void processes()
{
	for (int i = 0; i < 20; i++) {
		pid_t pid;
		int status, r = fork_deep(30, &pid);

		if (pid == 0)
			_exit(r == 130 && (inner_catch(9) == 9) ? 42 : 1);
		REQUIRE(r == 30 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 42);
		REQUIRE(vfork_deep(25) == 37 + 25);
	}
}

// ---------------------------------------------------------------------- unwinding

static _Unwind_Reason_Code count_frame(_Unwind_Context *context, void *n)
{
	(*(int *)n) += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

// Where the part returns to, in main.
static const void *in_main_at;

NOINLINE __attribute__((no_instrument_function)) static void run_part(void (*run)())
{
	in_main_at = __builtin_return_address(0);
	run();
	keep();
}

static bool in_main(const void *p)
{
	return p == in_main_at;
}

NOINLINE static int trace_deep(int depth, int *unwound)
{
	static void *frames[4096];
	int n, r;

	if (depth > 0) {
		r = trace_deep(depth - 1, unwound);
		keep();
		return r;
	}
	_Unwind_Backtrace(count_frame, unwound);
	n = backtrace(frames, 4096);
	for (int i = 0; i < n; i++)
		if (in_main(frames[i]))
			return n;
	return -1;
}

static void backtraces()
{
	for (int depth = 0; depth < 1500; depth += 77) {
		int unwound = 0, n = trace_deep(depth, &unwound);

		// Each call is there, with its return address.
		REQUIRE(n >= depth + 2 && unwound >= n - 1);
	}
}

// ------------------------------------------------------------------------ signals

static volatile int ticks, broken;
static void *tick_frames[512];

static void tick(int)
{
	int n = backtrace(tick_frames, 512);
	bool found = false;

	for (int i = 0; i < n; i++)
		found = found || in_main(tick_frames[i]);
	broken += !found;
	ticks++;
	sink = sum(20);
}

// A handler that walks the stack wherever it interrupts, the code that returns through replaced addresses included.
// Nothing is thrown: libgcc cannot be unwound in the middle of a throw, whatever the return addresses are.
static void signals()
{
	struct sigaction action = {};
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, off = {};
	stack_t alternative = {};
	void *frames[4];

	backtrace(frames, 4);
	alternative.ss_sp = malloc(256 << 10);
	alternative.ss_size = 256 << 10;
	sigaltstack(&alternative, nullptr);
	action.sa_handler = tick;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGALRM, &action, nullptr);
	setitimer(ITIMER_REAL, &often, nullptr);
	for (long i = 0; i < 3000000 && ticks < 1000; i++) {
		REQUIRE(sum((int)(i % 40)) == (int)((i % 40) * (i % 40 + 1) / 2));
	}
	setitimer(ITIMER_REAL, &off, nullptr);
	REQUIRE(ticks > 0 && broken == 0);
}

// --------------------------------------------------------------------------- values

struct Two { long a; double b; };
struct Big { char bytes[200]; };
typedef float v8 __attribute__((vector_size(32)));
typedef float v16 __attribute__((vector_size(64)));

NOINLINE static Two two(long a, double b) { return { a + 1, b + 0.5 }; }
NOINLINE static Big big(char c) { Big b; memset(b.bytes, c, sizeof(b.bytes)); return b; }
NOINLINE static long double extended(long double x) { return x * 3; }
NOINLINE static __int128 wide(__int128 x) { return x * x; }
NOINLINE static _Complex double complex_value(double x) { return x - x * 1.0i; }
NOINLINE static _Complex long double complex_extended(long double x) { return x - x * 1.0il; }
NOINLINE __attribute__((target("avx"))) static v8 eight(float x)
{
	return v8{ x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7 };
}
NOINLINE __attribute__((target("avx512f"))) static v16 sixteen(float x)
{
	v16 v;

	for (int i = 0; i < 16; i++)
		v[i] = x + (float)i;
	return v;
}
NOINLINE __attribute__((target("avx"))) static void check_eight()
{
	v8 v = eight(3);

	for (int i = 0; i < 8; i++)
		REQUIRE(v[i] == 3 + i);
}
NOINLINE __attribute__((target("avx512f"))) static void check_sixteen()
{
	v16 v = sixteen(3);

	for (int i = 0; i < 16; i++)
		REQUIRE(v[i] == 3 + i);
}
NOINLINE static double many(int n, ...)
{
	va_list list;
	double s = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		s += va_arg(list, double);
	va_end(list);
	return s;
}

// All registers except the stack pointer come back as the function left them.
extern "C" void fill_registers(void);
extern "C" int check_registers(void);
__asm__(".text\n"
#ifdef RETURNS_RECORDED
	"fill_registers:\n"
#else
	"fill_registers:\n call *__fentry__@GOTPCREL(%rip)\n"
#endif
	" mov $1, %rax\n mov $2, %rcx\n mov $3, %rdx\n mov $4, %rsi\n mov $5, %rdi\n mov $6, %r8\n mov $7, %r9\n"
	" mov $8, %r10\n mov $9, %r11\n ret\n"
	"check_registers:\n sub $8, %rsp\n call fill_registers\n add $8, %rsp\n"
	" cmp $1, %rax\n jne 1f\n cmp $2, %rcx\n jne 1f\n cmp $3, %rdx\n jne 1f\n cmp $4, %rsi\n jne 1f\n"
	" cmp $5, %rdi\n jne 1f\n cmp $6, %r8\n jne 1f\n cmp $7, %r9\n jne 1f\n cmp $8, %r10\n jne 1f\n"
	" cmp $9, %r11\n jne 1f\n mov $1, %eax\n ret\n1: xor %eax, %eax\n ret\n");

static void values()
{
	Two t = two(41, 1.5);
	Big b = big('x');

	REQUIRE(t.a == 42 && t.b == 2.0);
	REQUIRE(b.bytes[0] == 'x' && b.bytes[199] == 'x');
	REQUIRE(extended(1.25L) == 3.75L);
	REQUIRE(wide((__int128)1 << 50) == (__int128)1 << 100);
	REQUIRE(__real__ complex_value(2) == 2 && __imag__ complex_value(2) == -2);
	REQUIRE(__real__ complex_extended(3) == 3 && __imag__ complex_extended(3) == -3);
	REQUIRE(many(9, 1., 2., 3., 4., 5., 6., 7., 8., 9.) == 45);
	REQUIRE(check_registers());
	if (__builtin_cpu_supports("avx"))
		check_eight();
	if (__builtin_cpu_supports("avx512f"))
		check_sixteen();
}

// ----------------------------------------------------------------------- depth, jumps

NOINLINE static long deep(long n)
{
	long r = n == 0 ? 0 : deep(n - 1) + 1;

	keep();
	return r;
}

static void *deep_thread(void *)
{
	REQUIRE(deep(1000000) == 1000000);
	return nullptr;
}

static void depth()
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256ul << 20);
	for (int i = 0; i < 2; i++) {
		REQUIRE(pthread_create(&t, &attr, deep_thread, nullptr) == 0);
		pthread_join(t, nullptr);
	}
	REQUIRE(driver_refused == 0);
}

NOINLINE static int last(int x) { keep(); return x * 2; }
NOINLINE static int middle(int x) { keep(); return last(x + 1); }
NOINLINE static int first(int x) { keep(); return middle(x + 1); }

static void tails()
{
	unsigned long before = driver_jumped;

	REQUIRE(first(5) == 14);
#ifdef RETURNS_RECORDED
	(void)before;
#else
	REQUIRE(driver_jumped >= before + 2);
	REQUIRE(driver_entries >= driver_exits);
#endif
}

// -------------------------------------------------------------------------- the table

// Slots in excess of the places within reach are refused; once some are stale, others take their places.
static void crowded()
{
	static unsigned long slots[8000] __attribute__((aligned(64)));
	int taken = 0, again = 0;
	unsigned long *gone;

	driver_off = 1;
	for (unsigned long &s : slots) {
		s = 1;
		taken += driver_replace(&s);
	}
	REQUIRE(taken > 4000 && taken < 5000);
	for (unsigned long &s : slots)
		REQUIRE(s == 1 || s == (unsigned long)driver_return);
	for (int i = 0; i < 4000; i++)
		slots[i] = 2;
	for (int i = 0; i < 8000; i++) {
		if (slots[i] == 1)
			again += driver_replace(&slots[i]);
	}
	REQUIRE(again > 0);
	for (int i = 0; i < 4000; i++)
		REQUIRE(slots[i] == 2);
	// Slots of a stack that was unmapped.
	gone = (unsigned long *)mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 8192; i++)
		driver_replace(&gone[i]);
	munmap(gone, 1 << 16);
	gone = (unsigned long *)mmap(gone, 1 << 16, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (int i = 0; i < 4000; i++)
		REQUIRE(driver_replace(&gone[2 * i]));
	driver_off = 0;
}

// The first places for this stack's addresses are taken, every other 64: its own entries are farther on, where
// unwinding must find them, too.
static void colliding()
{
	const unsigned long table = 64ul << 20, factor = HODO_RETURNS_FACTOR;
	unsigned long base = (unsigned long)mmap(nullptr, 2 * table, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long here = (unsigned long)__builtin_frame_address(0) & ~15ul;
	int taken = 0, unwound = 0;

	base = (base + table - 1) & -table;
	driver_off = 1;
	for (unsigned long at = here - (256 << 10); at < here; at += 16) {
		unsigned long h = (at >> HODO_RETURNS_LOW_SHIFT) + (at >> HODO_RETURNS_HIGH_SHIFT) * factor;
		unsigned long start = (base >> HODO_RETURNS_LOW_SHIFT) + (base >> HODO_RETURNS_HIGH_SHIFT) * factor;
		unsigned long *slot = (unsigned long *)(base + 16 * ((h - start) & HODO_RETURNS_MASK));

		if (h & 64)
			continue;
		*slot = 1;
		taken += driver_replace(slot);
	}
	driver_off = 0;
	REQUIRE(taken > 8000);
	for (int i = 0; i < 60; i++) {
		REQUIRE(inner_catch(i) == i);
		REQUIRE(sum(i) == i * (i + 1) / 2);
		REQUIRE(trace_deep(i, &unwound) >= i + 2);
	}
	// The stack's address decides how many find no room near their place: these have no exit.
	REQUIRE(driver_refused < driver_entries / 2);
}

// --------------------------------------------------------------------------------

NOINLINE static void gdb_leaf(int x) { sink = x; }
NOINLINE static void gdb_middle(int x) { gdb_leaf(x + 1); keep(); }
static void gdb_stop() { gdb_middle(4); keep(); }

static const struct {
	const char *name;
	void (*run)();
} parts[] = {
	{ "exceptions", exceptions }, { "jumps", jumps }, { "contexts", contexts }, { "threads", threads },
	{ "processes", processes }, { "backtraces", backtraces }, { "signals", signals }, { "values", values },
	{ "depth", depth }, { "tails", tails }, { "crowded", crowded },
	{ "colliding", colliding }, { "gdb", gdb_stop },
};

int main(int argc, char **argv)
{
	bool known = false;

	if (driver_why_not()) {
		printf("skipped: %s\n", driver_why_not());
		return 77;
	}
	driver_off = getenv("HAZARDS_OFF") != nullptr; // without replacing: whether the program itself works
	for (const auto &part : parts) {
		bool asked = argc == 1;

		for (int i = 1; i < argc; i++)
			asked = asked || strcmp(argv[i], part.name) == 0;
		if (!asked)
			continue;
		known = true;
		run_part(part.run);
		REQUIRE(driver_off || driver_entries > 1);
		printf("%s: %lu entered, %lu by a jump, %lu left, %lu refused\n", part.name, driver_entries, driver_jumped,
		       driver_exits, driver_refused);
	}
	return known ? 0 : 2;
}

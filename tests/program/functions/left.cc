// SPDX-License-Identifier: MIT
//
// left.cc - calls that are left in all ways: by exceptions that are caught, thrown again, foreign, thrown in handlers
// and destructors, by forced unwinding, longjmp and changes of stacks. Where a scene continues after that, HERE records
// an event that says which calls the thread is inside of. Functions skip_… are not to be traced.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <hodo/trace.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define KEPT __attribute__((noinline, noclone))
#define HERE(text) HODO_EVENT(left, here, HODO_F(chain, text))
#define NO_TAIL __asm__ volatile("")

static volatile int counted; /* gives a function something to do */

KEPT static void quiet()
{
	counted = counted + 1;
}

KEPT static int thrower(int n)
{
	if (n == 0)
		throw std::runtime_error("thrown");
	int r = thrower(n - 1) + 1;
	quiet();
	return r;
}

/* ------------------------------------------------------------------ exceptions */

KEPT static void caught()
{
	try {
		thrower(3);
	} catch (const std::exception &) {
		HERE("main caught");
	}
	HERE("main caught");
	quiet();
}

KEPT static void same()
{
	try {
		quiet();
		if (counted)
			throw 1;
	} catch (int) {
		HERE("main same");
	}
	quiet();
}

KEPT static void skip_inner(int n)
{
	thrower(n);
	quiet();
}

KEPT static void skip_outer(int n)
{
	volatile char room[3000] = { 0 };

	try {
		skip_inner(n + room[7]);
	} catch (...) {
		HERE("main");
	}
	HERE("main");
}

struct trigger {
	int n;
	KEPT explicit trigger(int i) : n(i) {}
	KEPT ~trigger() { quiet(); }
};

KEPT static void nested()
{
	try {
		try {
			thrower(2);
		} catch (const std::runtime_error &) {
			HERE("main nested");
			try {
				thrower(4);
			} catch (const std::exception &) {
				HERE("main nested");
			}
			HERE("main nested");
			throw 5;
		}
	} catch (int) {
		HERE("main nested");
	}
}

KEPT static int middle(int n)
{
	trigger t(n);

	try {
		return thrower(n) + t.n;
	} catch (const std::runtime_error &) {
		HERE("main rethrow middle");
		throw;
	}
}

KEPT static void rethrow()
{
	try {
		middle(3);
	} catch (const std::exception &) {
		HERE("main rethrow");
	}
}

/* Its landing pad ends with _Unwind_Resume(), in a function that is not traced. */
KEPT static void skip_cleanup(int n)
{
	trigger t(n);

	thrower(n);
}

KEPT static void cleanup()
{
	try {
		skip_cleanup(2);
	} catch (...) {
		HERE("main cleanup");
	}
}

struct stubborn {
	KEPT ~stubborn()
	{
		try {
			thrower(2);
		} catch (const std::exception &) {
			HERE("main destructor stubborn::~stubborn");
		}
	}
};

KEPT static void destructor()
{
	try {
		stubborn s;

		thrower(3);
	} catch (...) {
		HERE("main destructor");
	}
}

static void drop(_Unwind_Reason_Code, _Unwind_Exception *) {}

KEPT static void foreign_thrower(_Unwind_Exception *e)
{
	_Unwind_RaiseException(e);
	abort();
}

KEPT static void foreign()
{
	static _Unwind_Exception e;

	e.exception_class = 0x1234;
	e.exception_cleanup = drop;
	try {
		foreign_thrower(&e);
	} catch (...) {
		HERE("main foreign");
	}
}

KEPT static void is_noexcept() noexcept
{
	try {
		thrower(1);
	} catch (...) {
		HERE("main is_noexcept");
	}
}

KEPT static void handler(int)
{
	throw 3;
}

KEPT static void by_signal()
{
	struct sigaction action = {}, before;

	action.sa_handler = handler;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, &before);
	try {
		counted = counted + *(volatile int *)nullptr;
	} catch (int) {
		HERE("main by_signal");
	}
	sigaction(SIGSEGV, &before, nullptr);
}

/* ------------------------------------------------------------ forced unwinding */

KEPT static void exits(int n)
{
	if (n == 0)
		pthread_exit(nullptr);
	exits(n - 1);
	quiet();
}

KEPT static void *exiting(void *)
{
	try {
		exits(3);
	} catch (...) {
		HERE("exiting");
		throw;
	}
	return nullptr;
}

KEPT static void waits(int n)
{
	if (n == 0)
		for (;;)
			pause();
	waits(n - 1);
	quiet();
}

KEPT static void *cancelled(void *)
{
	try {
		waits(3);
	} catch (...) {
		HERE("cancelled");
		throw;
	}
	return nullptr;
}

KEPT static void *throwing(void *)
{
	try {
		thrower(3);
	} catch (...) {
		HERE("throwing");
	}
	return nullptr;
}

KEPT static void forced()
{
	void *(*const functions[])(void *) = { exiting, cancelled, throwing };

	for (auto function : functions) {
		pthread_t thread;

		if (pthread_create(&thread, nullptr, function, nullptr) != 0)
			abort();
		if (function == cancelled)
			pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	HERE("main forced");
}

/* ------------------------------------------------------------ longjmp and stacks */

static sigjmp_buf back;

KEPT static int jumper(int n, int how)
{
	int r;

	if (n == 0 && how)
		siglongjmp(back, 1);
	if (n == 0)
		longjmp(back, 1);
	r = jumper(n - 1, how) + 1;
	quiet();
	return r;
}

KEPT static void jumped()
{
	for (volatile int how = 0; how < 2; how = how + 1) {
		if (sigsetjmp(back, how) == 0)
			jumper(3, how);
		HERE("main jumped");
	}
	quiet();
}

KEPT static void jump_handler(int)
{
	jumper(2, 1);
	NO_TAIL;
}

KEPT static void from_signal_stack()
{
	static char stack[1u << 16];
	stack_t own = {}, before;
	struct sigaction action = {}, was;

	own.ss_sp = stack;
	own.ss_size = sizeof(stack);
	sigaltstack(&own, &before);
	action.sa_handler = jump_handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, &was);
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	HERE("main from_signal_stack");
	sigaction(SIGUSR1, &was, nullptr);
	sigaltstack(&before, nullptr);
}

static ucontext_t outside, inside;

KEPT static void hop(int n)
{
	if (n > 0)
		hop(n - 1);
	else
		swapcontext(&inside, &outside);
	quiet();
}

KEPT static void coroutine()
{
	try {
		thrower(2);
	} catch (...) {
		HERE("main contexts coroutine");
	}
	hop(2);
	NO_TAIL;
}

KEPT static void contexts()
{
	static char stack[1u << 18];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	HERE("main contexts");
	swapcontext(&outside, &inside);
	HERE("main contexts");
}

/* -------------------------------------------------------------------------- all */

KEPT static void ends()
{
	HERE("main terminated ends");
	puts("terminated");
	fflush(stdout);
	_exit(7);
}

KEPT static void terminated() noexcept
{
	std::set_terminate(ends);
	thrower(2);
	NO_TAIL;
}

int main(int argc, char **)
{
	caught();
	same();
	skip_outer(2);
	nested();
	rethrow();
	cleanup();
	destructor();
	foreign();
	is_noexcept();
	by_signal();
	forced();
	jumped();
	from_signal_stack();
	contexts();
	quiet(); /* contexts() may have no room for a jump at its exit */
	HERE("main");
	printf("%d\n", counted);
	fflush(stdout);
	if (argc > 1)
		terminated();
	return 5;
}

// SPDX-License-Identifier: MIT
// ways.cc - functions that are left in every way, with marks in between; test_graph.py records it.
#include <hodo/trace.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <stdexcept>

#define KEEP __attribute__((noinline))

volatile int sink;

namespace ways {

struct Guard {
	KEEP ~Guard();
};

KEEP Guard::~Guard() { sink++; }

KEEP void leaf(int shard)
{
	HODO_MARK(ways, leaf, "shard %d", shard);
	sink += shard;
}

KEEP void deep(int n)
{
	Guard guard;

	if (n == 0)
		throw std::runtime_error("deep");
	deep(n - 1);
	sink++;
}

KEEP int catches()
{
	try {
		deep(10);
	} catch (const std::exception &) {
		leaf(1);
	}
	return sink;
}

jmp_buf jump;

KEEP void jumps(int n)
{
	if (n == 0)
		longjmp(jump, 1);
	jumps(n - 1);
	sink++;
}

KEEP int lands()
{
	if (setjmp(jump) == 0)
		jumps(5);
	leaf(2);
	return sink;
}

ucontext_t main_context, coroutine_context;

KEEP void step()
{
	sink++;
	swapcontext(&coroutine_context, &main_context);
	sink++;
}

KEEP void coroutine()
{
	for (int i = 0; i < 3; i++)
		step();
}

KEEP void resume() { swapcontext(&main_context, &coroutine_context); }

KEEP int generates()
{
	static char *stack = (char *)malloc(65536);

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = 65536;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	for (int i = 0; i < 4; i++) {
		resume();
		leaf(3);
	}
	return sink;
}

KEEP void handler(int) { leaf(4); }

KEEP int is_signalled()
{
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = malloc(65536);
	stack.ss_size = 65536;
	sigaltstack(&stack, NULL);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return sink;
}

KEEP int recurses(int n) { return n == 0 ? 0 : recurses(n - 1) + sink; }

KEEP void *worker(void *)
{
	leaf(5);
	pthread_exit(NULL);
}

} // namespace ways

int main()
{
	pthread_t thread;

	ways::catches();
	ways::lands();
	ways::generates();
	ways::is_signalled();
	ways::recurses(1000);
	pthread_create(&thread, NULL, ways::worker, NULL);
	pthread_join(thread, NULL);
	return 0;
}

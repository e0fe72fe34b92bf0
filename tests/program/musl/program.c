/* SPDX-License-Identifier: MIT */
/*
 * program.c - what programs do with objects, threads and functions. Built for musl by musl.py.
 *
 *	program PLUGIN      its events, those of a library that it opens, and those of a thread
 *	program fork        forks while a thread opens libraries: an event of each child
 *	program wait        an event now and then until there is something to read
 */
#include <hodo/trace.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *thread_main(void *arg)
{
	for (int i = 0; i < 3; i++)
		HODO_EVENT(program, thread, i);
	return NULL;
}

static volatile int forked;

static void *open_again(void *arg)
{
	while (!forked) {
		void *plugin = dlopen("./plugin.so", RTLD_NOW);

		if (plugin)
			dlclose(plugin);
	}
	return NULL;
}

static int be_forked(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, open_again, NULL);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			HODO_EVENT(program, child, i);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	forked = 1;
	pthread_join(thread, NULL);
	return 6;
}

static int be_there(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	for (int n = 0; poll(&input, 1, 5) == 0; n++)
		HODO_EVENT(program, tick, n);
	return setuid(getuid()) == 0 ? 4 : 1;
}

int main(int argc, char **argv)
{
	void (*call)(int) = NULL;
	pthread_t thread;
	void *plugin;

	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "wait") == 0)
		return be_there();
	if (strcmp(argv[1], "fork") == 0)
		return be_forked();
	HODO_EVENT(program, begin, argc);
	if (dlopen("./nowhere.so", RTLD_NOW))
		return 1;
	plugin = dlopen(argv[1], RTLD_NOW);
	if (plugin)
		*(void **)&call = dlsym(plugin, "plugin_call");
	if (call)
		call(fib(6));
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", fib(7));
	return 3;
}

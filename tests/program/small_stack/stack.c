/* SPDX-License-Identifier: MIT */
/*
 * stack.c - events on small stacks; stack LIMIT [probe].
 *
 * Each kind of event happens on a painted stack, as the first one of a thread and many times after that, through
 * packets that get full: prints its name and the most bytes that it took. Then it happens again on a stack of
 * LIMIT bytes, below which nothing is mapped.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define AREA 16384
#define PAINT 0xa5
#define TIMES 2000

HODO_TRACEPOINT(stack, point, (int, n));

static volatile int number = 1;

static void with_integer(void) { HODO_EVENT(stack, integer, number); }
static void with_fields(void) { HODO_EVENT(stack, fields, number, HODO_F(a, "text"), HODO_F(b, 2.0), "more"); }
static void with_mark(void) { HODO_MARK(stack, mark, "%d %s", number, "text"); }
static void with_begin(void) { HODO_BEGIN(stack, span, number); }
static void with_end(void) { HODO_END(stack, span, number); }
static void with_point(void) { trace_stack_point(number); }

static const struct kind {
	const char *name;
	void (*event)(void);
} kinds[] = {
	{ "integer", with_integer }, { "fields", with_fields }, { "mark", with_mark },
	{ "begin", with_begin },     { "end", with_end },	{ "point", with_point },
};

static void probe(void *data, int n) { number += n == -1; }

/* Calls the function with that stack pointer. */
static void call_on(void (*event)(void), char *sp)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %1, %%rsp\n\t"
			 "call *%0\n\t"
			 "movq %%rbx, %%rsp"
			 : "+r"(event), "+r"(sp)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}

/* The bytes that it took, without the return address. */
static long measure(void (*event)(void))
{
	static __thread char area[AREA] __attribute__((aligned(16)));
	long clean = 0;

	memset(area, PAINT, AREA);
	call_on(event, area + AREA);
	while (clean < AREA && (unsigned char)area[clean] == PAINT)
		clean++;
	return AREA - clean - (long)sizeof(void *);
}

static void *in_thread(void *kind)
{
	return (void *)measure(((const struct kind *)kind)->event);
}

/* In a child that ran no fork handler, too: its first event joins the recording. */
static void in_child(const struct kind *kind)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status = 0;

	if (pid == 0) {
		printf("child_%s %ld\n", kind->name, measure(kind->event));
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		abort();
}

static void measure_all(const struct kind *kind)
{
	pthread_t thread;
	void *first;
	long most;

	if (pthread_create(&thread, NULL, in_thread, (void *)kind) != 0 || pthread_join(thread, &first) != 0)
		abort();
	most = (long)first;
	for (int i = 0; i < TIMES; i++) {
		long took = measure(kind->event);

		most = took > most ? took : most;
	}
	printf("%s %ld\n", kind->name, most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (limit % 16 || limit > PAGE || pages == MAP_FAILED || mprotect(pages, PAGE, PROT_NONE) != 0)
		return 2;
	if (argc > 2 && register_trace_stack_point(probe, NULL) != 0)
		return 2;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		measure_all(&kinds[i]);
		in_child(&kinds[i]);
		for (int n = 0; n < TIMES && limit; n++)
			call_on(kinds[i].event, pages + PAGE + limit);
	}
	return 0;
}

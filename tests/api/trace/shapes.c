/* SPDX-License-Identifier: MIT */
/*
 * shapes.c - functions of all shapes, with sites or, with -DWITHOUT, with an empty asm in place of each: prints for
 * each function how many instructions one call of it executes, how many sites it meets, and how much stack it uses.
 *
 * A child calls them one after the other, while its parent single-steps it and counts from a function's first
 * instruction until the stack is as it was before the call. With an argument it only calls them, and prints a
 * number that follows from what they return.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

HODO_TRACEPOINT(shapes, point, (int, n), (const char *, text));

#ifdef WITHOUT
/* What a site needs is in a register, whichever it is. */
#define SITE1(kind, name, a) __asm__ volatile("" : : "r"(a))
#define SITE2(kind, name, a, b) __asm__ volatile("" : : "r"(a), "r"(b))
#define SITE_FLOATS(name, a, b) __asm__ volatile("" : : "x"(a), "x"(b))
#define SITE_TEXTS(name, a, b, c, d) __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d) : "memory")
#define SITE_POINT(a, b) __asm__ volatile("" : : "r"(a), "r"(b) : "memory")
#define SITE_NONE(name) __asm__ volatile("")
#define SITE_SPAN(name, a) __asm__ volatile("" : : "r"(a))
#elif defined(PROBES) /* with one of the two headers <sys/sdt.h> */
#include <sys/sdt.h>
#define SITE1(kind, name, a) STAP_PROBE1(shapes, name, a)
#define SITE2(kind, name, a, b) STAP_PROBE2(shapes, name, a, b)
#define SITE_FLOATS(name, a, b) STAP_PROBE2(shapes, name, a, b)
#define SITE_TEXTS(name, a, b, c, d) STAP_PROBE4(shapes, name, a, b, c, d)
#define SITE_POINT(a, b) STAP_PROBE2(shapes, point, a, b)
#define SITE_NONE(name) STAP_PROBE(shapes, name)
#define SITE_SPAN(name, a) STAP_PROBE1(shapes, name, a)
#else
#define SITE1(kind, name, a) HODO_##kind(shapes, name, a)
#define SITE2(kind, name, a, b) HODO_##kind(shapes, name, a, b)
#define SITE_FLOATS(name, a, b) HODO_EVENT(shapes, name, a, b)
#define SITE_TEXTS(name, a, b, c, d) HODO_EVENT(shapes, name, a, HODO_STR(b, c), d)
#define SITE_POINT(a, b) trace_shapes_point(a, b)
#define SITE_NONE(name) HODO_EVENT(shapes, name)
#define SITE_SPAN(name, a) HODO_SPAN(shapes, name, a)
#endif

#ifdef __cplusplus
#define C extern "C"
#else
#define C
#endif
#define SHAPE C __attribute__((noinline, noclone))
#ifdef __clang__
#undef SHAPE
#define SHAPE C __attribute__((noinline))
#endif

SHAPE int leaf(int a)
{
	SITE1(EVENT, leaf, a);
	return a + 1;
}

SHAPE long two_values(int a, long b)
{
	SITE2(EVENT, two_values, a, b);
	return a ^ b;
}

SHAPE int no_value(int a)
{
	SITE_NONE(no_value);
	return a + 1;
}

SHAPE int loop(const int *p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		SITE1(EVENT, loop, i);
		sum += p[i] ^ i;
	}
	return sum;
}

struct node {
	struct node *left, *right;
	int key;
};
SHAPE struct node *tree_walk(struct node *t, int key)
{
	while (t) {
		SITE2(EVENT, tree_walk, t->key, key);
		if (t->key == key)
			break;
		t = key < t->key ? t->left : t->right;
	}
	return t;
}

SHAPE unsigned hash(const unsigned char *p, unsigned long n)
{
	unsigned h = 5381;

	for (unsigned long i = 0; i < n; i++)
		h = h * 33 + p[i];
	SITE2(EVENT, hash, n, h);
	return h;
}

struct vector {
	long n;
	const int *data;
};
static inline int vector_at(const struct vector *v, long i)
{
	SITE1(EVENT, vector_at, i);
	return v->data[i];
}
SHAPE int accessor(const struct vector *v)
{
	int sum = 0;

	for (long i = 0; i < v->n; i++)
		sum += vector_at(v, i);
	return sum;
}

SHAPE int tail_call(int a, int b)
{
	SITE2(EVENT, tail_call, a, b);
	return leaf(b);
}

SHAPE double floats(double a, double b)
{
	SITE_FLOATS(floats, a, b);
	return a * b + a;
}

SHAPE long seven(long a, long b, long c, long d, long e, long f, long g)
{
	(void)c, (void)d, (void)e;
	SITE2(EVENT, seven, a, g);
	return b + f * g;
}

SHAPE long texts(const char *a, const char *b, long n, int d)
{
	SITE_TEXTS(texts, a, b, n, d);
	return n + d;
}

SHAPE int point(int a, const char *text)
{
	SITE_POINT(a, text);
	return a + 1;
}

SHAPE int counter(int a)
{
	SITE1(COUNTER, counter, a);
	return a + 1;
}

SHAPE int begin_end(int a, int b)
{
	SITE1(BEGIN, request, a);
	a = a * 3 + b;
	SITE1(END, request, b);
	return a;
}

SHAPE int span(int a)
{
	SITE_SPAN(span, a);
	return a * 3;
}

SHAPE int calls(int a)
{
	int b = leaf(a);

	SITE2(EVENT, calls, a, b);
	return leaf(b) + a;
}

static int array[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static struct node nodes[3] = { { &nodes[1], &nodes[2], 5 }, { 0, 0, 3 }, { 0, 0, 8 } };
static struct vector vector = { 8, array };
static volatile long sink;

#define SHAPES(X)                                                                   \
	X(leaf, 1, leaf(1)) X(two_values, 1, two_values(1, 2)) X(no_value, 1, no_value(1)) X(loop, 8, loop(array, 8)) \
	X(tree_walk, 2, tree_walk(nodes, 8) != NULL) X(hash, 1, hash((const unsigned char *)"abcdefgh", 8))           \
	X(accessor, 8, accessor(&vector)) X(tail_call, 2, tail_call(1, 2)) X(floats, 1, floats(1.5, 2.5))           \
	X(seven, 1, seven(1, 2, 3, 4, 5, 6, 7)) X(texts, 1, texts("a", "b", 1, 2)) X(point, 1, point(1, "a"))       \
	X(counter, 1, counter(1)) X(begin_end, 2, begin_end(1, 2)) X(span, 1, span(1)) X(calls, 3, calls(1))

#define CALL(name, sites, call) sink = sink * 31 + (long)(call);
#define ROW(name, sites, call) { #name, (unsigned long)name, sites, 0, 0 },
static struct {
	const char *name;
	unsigned long address;
	int sites;
	long steps, depth;
} rows[] = { SHAPES(ROW) };
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The function whose first instruction is the child's next one; -1: none. */
static int entered(unsigned long ip)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].address == ip)
			return (int)i;
	}
	return -1;
}

static void count(pid_t child)
{
	struct user_regs_struct regs;
	unsigned long sp = 0;
	int inside = -1, status;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
		    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, child, NULL, &regs) != 0)
			exit(2);
		if (WSTOPSIG(status) == SIGUSR2)
			break;
		if (inside >= 0 && regs.rsp > sp)
			inside = -1;
		if (inside < 0) {
			inside = entered(regs.rip);
			sp = regs.rsp;
			if (inside >= 0)
				rows[inside].steps = rows[inside].depth = 0;
		}
		if (inside >= 0) {
			rows[inside].steps++;
			if ((long)(sp - regs.rsp) > rows[inside].depth)
				rows[inside].depth = (long)(sp - regs.rsp);
		}
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
	pid_t child;
	int status;

	(void)argv;
	if (argc > 1) {
		SHAPES(CALL)
		printf("%ld\n", sink);
		return 0;
	}
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGUSR1);
		SHAPES(CALL)
		raise(SIGUSR2);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return 2;
	count(child);
	for (size_t i = 0; i < ROWS; i++)
		printf("%s %ld %d %ld\n", rows[i].name, rows[i].steps, rows[i].sites, rows[i].depth);
	return 0;
}

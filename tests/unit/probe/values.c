/* SPDX-License-Identifier: MIT */
/* values.c - C for test_values.c; see values.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

enum color { RED, GREEN = 5, BLUE = -2 };

struct node {
	int n;
	const char *name;
	struct node *next;
	char text[16];
	unsigned low : 3, middle : 11;
	signed int below : 5;
	unsigned long long wide : 40;
	double weight;
	float scale[3];
	short grid[3][4];
	enum color color;
	bool good;
	union {
		long as_long;
		unsigned char as_bytes[8];
	};
	struct {
		int inner;
	} sub;
};

struct pair {
	long x;
	double y;
};
struct halves {
	float a, b, c;
};
struct small {
	char a;
	short b;
	int c;
};
struct big {
	long a, b;
	int c;
	char d[8];
};
typedef struct node node_t;
typedef const char *text_t;

static long counter = 41;
const char *greeting = "good day";
int numbers[4] = { 2, 3, 5, 7 };

/* ------------------------------------------------------------------ parameters */

APART int scalars(char c, signed char sc, unsigned char uc, short s, unsigned short us, int i, unsigned u, long l,
		  unsigned long ul, bool b, enum color color)
{
	KEEP(c + sc + uc + s + us + i);
	return (int)(u + l + ul + b + color);
}

APART double floats(float a, double b, int i, float c, double d, double e, double f, double g, double h,
		    double on_stack, float on_stack_too)
{
	KEEP(i);
	return a + b + c + d + e + f + g + h + on_stack + on_stack_too;
}

APART int texts(text_t key, unsigned len, char *const *list, void *any)
{
	KEEP(any);
	KEEP(list);
	return (int)len + key[0] + list[0][0];
}

APART long nodes(node_t *node, int unused)
{
	KEEP(node);
	return node->n;
}

APART long structs(struct pair p, struct halves h, struct small s, struct big b, struct pair q, int last)
{
	KEEP(last);
	return p.x + (long)h.a + s.a + b.a + q.x + last;
}

APART long spilled(long a, long b, long c, long d, long e, struct pair p, struct small s, long f)
{
	KEEP(f);
	return a + b + c + d + e + p.x + s.b + f;
}

/* --------------------------------------------------------------------- results */

APART struct pair make_pair(long x)
{
	KEEP(x);
	return (struct pair){ x, (double)x / 2 };
}

APART struct halves make_halves(float a)
{
	KEEP(a);
	return (struct halves){ a, a + 1, a + 2 };
}

APART struct big make_big(long a)
{
	struct big b = { a, a + 1, (int)a + 2, "eight" };

	return b;
}

APART const char *make_text(int i)
{
	KEEP(i);
	return i ? "some text" : "none";
}

APART float make_float(int i)
{
	KEEP(i);
	return (float)i * 1.5f;
}

APART int sign(int i)
{
	if (i < 0)
		return -1;
	KEEP(i);
	return i > 0;
}

APART void nothing(int i)
{
	KEEP(i);
}

/* ------------------------------------------------------------------- at a line */

APART long locals(int start, node_t *node)
{
	static int calls = 10;
	int sum = start, list[4] = { start, start + 1, start + 2, start + 3 };
	char word[8] = "local";
	struct pair pair = { start, start * 0.5 };
	struct big big = { start, 0, 0, "in it" };

	calls++;
	KEEP(&list);
	KEEP(&word);
	KEEP(&pair);
	KEEP(&big);
	{
		int sum = start * 100; /* another variable of this name */

		KEEP(&sum);
		KEEP(node); /* LINE */
		KEEP(sum);
	}
	counter += sum;
	return node->n + counter + calls + list[1];
}

/* ------------------------------------------------------------------- inlined copies */

/* Where it is inlined, its variable has the name of one of the function's own. */
static inline __attribute__((always_inline)) int square(int n)
{
	KEEP(n);
	return n * n;
}

APART int squares(int n, int m)
{
	KEEP(m);
	return square(n + 7) + square(m + 1);
}

APART int one_square(int n, int m)
{
	KEEP(n);
	return square(m);
}

/* ------------------------------------------------------------------------ main */

static void call_squares(void)
{
	EXPECT("squares(n, m)", "n=%d m=%d", 5, 6);
	if (!OPTIMIZED) {
		squares(5, 6);
		return;
	}
	EXPECT("square(n)", "n=%d", 12);
	EXPECT("square(n)", "n=%d", 7);
	squares(5, 6);
	EXPECT("one_square(n, m)", "n=%d m=%d", 2, 3);
	EXPECT("square(n)", "n=%d", 3);
	one_square(2, 3);
}

static void call_scalars(void)
{
	EXPECT("scalars(c, sc, uc, s, us, i, u, l, ul, b, color)",
	       "c=%d sc=%d uc=%d s=%d us=%d i=%d u=%u l=%ld ul=%lu b=%d color=%d", -3, -4, 250, -1000, 60000, -70000,
	       4000000000u, -5000000000l, 18000000000000000000ul, 1, BLUE);
	EXPECT("scalars($arg2, $arg8, x=s:i64, us:u8, i:u32, %edi:i8)", "arg2=%d arg8=%ld x=%d us=%d i=%u edi=%d", -4,
	       -5000000000l, -1000, 60000 & 255, -70000u, -3);
	EXPECT("scalars%return", "retval=%d", (int)(4000000000u - 5000000000l + 18000000000000000000ul + 1 + BLUE));
	scalars(-3, -4, 250, -1000, 60000, -70000, 4000000000u, -5000000000l, 18000000000000000000ul, true, BLUE);
	EXPECT("floats(a, b, i, c, h, on_stack, on_stack_too, $arg2)",
	       "a=%g b=%g i=%d c=%g h=%g on_stack=%g on_stack_too=%g arg2=%g", 1.5, -2.25, 7, 3.5, 8., 9.5, -10.5,
	       -2.25);
	EXPECT("floats%return($retval, %xmm0)", "retval=%g xmm0=%g", 34.75, 34.75);
	floats(1.5f, -2.25, 7, 3.5f, 4, 5, 6, 7 + 3, 8, 9.5, -10.5f);
}

static void call_texts(void)
{
	char first[] = "first", second[] = "second";
	char *list[] = { first, second };

	EXPECT("texts(key, *key, key[2], len, list[1], x=*list[1], part=(key, len), more=(key, 2), far=*key:i32)",
	       "key=\"%s\" key_2=%d key_3=%d len=%u list=\"%s\" x=%d part=%s more=%s far=%d", "a key of text", 'a',
	       'k', 5, second, 's', "61206b6579", "6120", 'a');
	texts("a key of text", 5, list, list);
}

static void call_nodes(void)
{
	static node_t inner = { .n = 77, .name = "inner", .text = "sixteen bytes ..", .low = 5, .middle = 1234,
				.below = -9, .wide = 0xabcdef0123, .weight = -0.5, .scale = { 1, 2, 2.5f },
				.color = GREEN, .grid = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, -12 } },
				.good = true,
				.as_long = 0x0102030405060708, .sub.inner = 99 };
	static node_t outer[2] = { { .n = 1, .next = &inner }, { .n = 513 } };
	long all = 77;

	EXPECT("nodes(node->next->name, node->next->text, node->next->n)", "name=\"%s\" text=\"%.16s\" n=%d",
	       inner.name, inner.text, inner.n);
	EXPECT("nodes(node->next->low, node->next->middle, node->next->below, node->next->wide)",
	       "low=%d middle=%d below=%d wide=%llu", inner.low, inner.middle, inner.below,
	       (unsigned long long)inner.wide);
	EXPECT("nodes(node->next->weight, node->next->scale[2], node->next->grid[2][3], node->next->grid[1][0])",
	       "weight=%g scale=%g grid=%d grid_2=%d", inner.weight, inner.scale[2], inner.grid[2][3],
	       inner.grid[1][0]);
	EXPECT("nodes(node->next->color, node->next->good, node->next->as_long, node->next->as_bytes[1])",
	       "color=%d good=%d as_long=%ld as_bytes=%d", inner.color, inner.good, inner.as_long, inner.as_bytes[1]);
	EXPECT("nodes(node->next.sub.inner, (*node->next).n, x=*&node->next->n, (&node->next->n)[0], node->name)",
	       "inner=%d n=%d x=%d n_2=%d name=", inner.sub.inner, inner.n, inner.n, inner.n);
	EXPECT("nodes(b=(node->next->text, node->n), c=(node->next->as_bytes, 3), node[1].n:u8, counter, unused)",
	       "b=73 c=080706 n=%d counter=%ld unused=%d", outer[1].n & 255, counter, -1);
	EXPECT("nodes(greeting, numbers[2], *numbers, n=(&numbers, 8))", "greeting=\"%s\" numbers=%d numbers_2=%d n=%s",
	       greeting, numbers[2], numbers[0], "0200000003000000");
	KEEP(all);
	nodes(outer, -1);
}

static void call_structs(void)
{
	struct pair p = { 11, 1.25 }, q = { -12, 2.5 };
	struct halves h = { 0.5f, 1.5f, 2.5f };
	struct small s = { 'z', -300, 70000 };
	struct big b = { 21, 22, 23, "bigd" };

	EXPECT("structs(p.x, p.y, h.a, h.b, h.c, s.a, s.b, s.c, b.a, b.c, b.d, q.x, q.y, last)",
	       "x=%ld y=%g a=%g b=%g c=%g a_2=%d b_2=%d c_2=%d a_3=%ld c_3=%d d=\"%s\" x_2=%ld y_2=%g last=%d",
	       p.x, p.y, h.a, h.b, h.c, s.a, s.b, s.c, b.a, b.c, b.d, q.x, q.y, 99);
	structs(p, h, s, b, q, 99);
	EXPECT("spilled(a, e, p.x, p.y, s.b, s.c, f, $arg8)", "a=%d e=%d x=%ld y=%g b=%d c=%d f=%d arg8=%d", 1, 5, p.x,
	       p.y, s.b, s.c, 8, 8);
	spilled(1, 2, 3, 4, 5, p, s, 8);
}

static void call_results(void)
{
	EXPECT("make_pair(x)", "x=%d", 9);
	EXPECT("make_pair%return($retval.x, $retval.y)", "x=%d y=%g", 9, 4.5);
	make_pair(9);
	EXPECT("make_halves(a)", "a=%g", 0.25);
	EXPECT("make_halves%return($retval.a, $retval.b, $retval.c)", "a=%g b=%g c=%g", 0.25, 1.25, 2.25);
	make_halves(0.25f);
	EXPECT("make_big%return($retval.b, $retval.c, $retval.d)", "b=%d c=%d d=\"%s\"", 31, 32, "eight");
	KEEP(make_big(30).a);
	EXPECT("make_text%return", "retval=\"%s\"", "some text");
	EXPECT("make_text%return(*$retval, b=($retval, 4), %rax:str)", "retval=%d b=%s rax=\"%s\"", 's', "736f6d65",
	       "some text");
	make_text(1);
	EXPECT("make_float%return", "retval=%g", 4.5);
	make_float(3);
	for (int i = -1; i < 2; i++) {
		EXPECT("sign(i)", "i=%d", i);
		EXPECT("sign%return", "retval=%d", i);
		sign(i);
	}
	EXPECT("nothing%return", "%s", "");
	nothing(1);
}

static void call_locals(void)
{
	static node_t node = { .n = 3, .name = "of a line" };

	EXPECT("locals(start, node->name, calls)", "start=%d name=\"%s\" calls=%d", 6, node.name, 10);
	EXPECT("values.c:LINE(sum, list[2], *list, word, word[1], pair.y, big.d, calls, counter, node->name)",
	       "sum=%d list=%d list_2=%d word=\"%s\" word_2=%d y=%g d=\"%s\" calls=%d counter=%ld name=\"%s\"",
	       600, 8, 6, "local", 'o', 3.0, "in it", 11, counter, node.name);
	locals(6, &node);
}

int main(void)
{
	call_scalars();
	call_texts();
	call_nodes();
	call_structs();
	call_results();
	call_locals();
	call_squares();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * texts.c - texts and data of all lengths, at any place in memory: the page after their last byte does not exist,
 * nor does the one before the first. Their contents follow from the number of the event; entered.py checks them.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM (32 * 4096)
#define LONGEST 65535

static char *memory; /* ROOM bytes between two pages that do not exist */

static const unsigned lengths[] = { 0,  1,  2,  3,  4,  5,  6,  7,   8,   9,   10,   11,   12,   13,
				    14, 15, 16, 17, 18, 30, 31, 32,  33,  34,  47,   48,   49,   63,
				    64, 65, 99, 255, 512, 1000, 4079, 4080, 4096, 20000 };

/* The n characters of an event, at the end of the memory, at its begin, or some bytes before its end. */
static char *put(unsigned event, unsigned n, unsigned where)
{
	char *p = where == 1 ? memory : memory + ROOM - n - where;

	for (unsigned i = 0; i < n; i++)
		p[i] = (char)('a' + (event * 7 + i * 5 + i / 26) % 26);
	return p;
}

static char *put_text(unsigned event, unsigned n, unsigned where)
{
	char *p = put(event, n + 1, where);

	p[n] = 0;
	return p;
}

static void plain(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, plain, event, HODO_F(len, n), HODO_F(text, p));
}
static void cut(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, cut, HODO_F(text, HODO_STR(p, n + 1)), HODO_F(small, (short)1), HODO_F(len, n), event);
}
static void bounded(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, bounded, event, HODO_F(text, HODO_STR(p, n)), HODO_F(len, n));
}
static void data(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, data, event, HODO_F(text, HODO_BYTES(p, n)), HODO_F(len, n));
}
static void words(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, words, event, HODO_F(text, HODO_ARRAY((const int16_t *)p, n / 2)), HODO_F(len, n));
}
/* Between numbers, and several in one event. */
static void many(unsigned event, const char *p, unsigned n)
{
	HODO_EVENT(texts, many, HODO_F(a, (char)1), HODO_F(b, (short)2), HODO_F(text, p), HODO_F(c, 3ll), HODO_F(d, 4),
		   HODO_F(e, (short)5), HODO_F(f, (char)6), HODO_F(again, p), HODO_F(part, HODO_STR(p, n / 2)),
		   HODO_F(nothing, (const char *)NULL), HODO_F(len, n), event);
}

static void each(unsigned event, unsigned n, unsigned where)
{
	const char *p = put_text(event, n, where);

	plain(event, p, n);
	cut(event, p, n);
	if (n < 1000)
		many(event, p, n);
	p = put(event, n, where);
	bounded(event, p, n);
	data(event, p, n);
	words(event, p, n);
}

int main(void)
{
	unsigned event = 0;

	memory = mmap(NULL, ROOM + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0 ||
	    mprotect(memory + 4096 + ROOM, 4096, PROT_NONE) != 0)
		return 2;
	memory += 4096;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (unsigned where = 0; where < 20; where++)
			each(event++, lengths[i], where);
	}
	each(event++, LONGEST, 2);
	/* Too long: counted as lost. */
	plain(event, put_text(event, LONGEST + 1, 2), LONGEST + 1);
	bounded(event, put(event, LONGEST + 1, 2), LONGEST + 1);
	/* This reads nothing. */
	bounded(event, memory + ROOM, 0);
	data(event, memory + ROOM, 0);
	words(event, NULL, 0);
	return 0;
}

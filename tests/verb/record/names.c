/* SPDX-License-Identifier: MIT */
/*
 * names.c - an event for each pair of names that CTF may confuse, in all four combinations of texts (whose lengths
 * have names, too) and numbers; and events with many such names.
 */
#include <hodo/trace.h>

#define FOR_EACH(PAIR, first)										\
	PAIR(first, x) PAIR(first, _x) PAIR(first, __x) PAIR(first, x2) PAIR(first, x_length)		\
	PAIR(first, _x_length) PAIR(first, __x_length) PAIR(first, _x_length2) PAIR(first, x_length_length)	\
	PAIR(first, Bool) PAIR(first, _Bool) PAIR(first, Bool2) PAIR(first, Imaginary) PAIR(first, int)	\
	PAIR(first, _int) PAIR(first, context) PAIR(first, _context) PAIR(first, context2) PAIR(first, _)	\
	PAIR(first, __) PAIR(first, stream_id) PAIR(first, comm)

/* Each combination has its own event name, since an event has the same fields wherever it occurs. */
#define PAIR(a, b)											\
	HODO_EVENT(texts, a##__and__##b, HODO_F(a, "one"), HODO_F(b, "two"));				\
	HODO_EVENT(text_number, a##__and__##b, HODO_F(a, "three"), HODO_F(b, 4));			\
	HODO_EVENT(number_text, a##__and__##b, HODO_F(a, 5), HODO_F(b, "six"));				\
	HODO_EVENT(numbers, a##__and__##b, HODO_F(a, 7), HODO_F(b, 8));

#define PAIRS_OF(name)											\
	static void __attribute__((noinline)) pairs_of_##name(void)					\
	{												\
		FOR_EACH(PAIR, name)									\
	}

PAIRS_OF(x)
PAIRS_OF(_x)
PAIRS_OF(__x)
PAIRS_OF(x2)
PAIRS_OF(x_length)
PAIRS_OF(_x_length)
PAIRS_OF(__x_length)
PAIRS_OF(_x_length2)
PAIRS_OF(Bool)
PAIRS_OF(_Bool)
PAIRS_OF(int)
PAIRS_OF(_int)
PAIRS_OF(context)
PAIRS_OF(_context)
PAIRS_OF(_)
PAIRS_OF(__)

int main(void)
{
	pairs_of_x();
	pairs_of__x();
	pairs_of___x();
	pairs_of_x2();
	pairs_of_x_length();
	pairs_of__x_length();
	pairs_of___x_length();
	pairs_of__x_length2();
	pairs_of_Bool();
	pairs_of__Bool();
	pairs_of_int();
	pairs_of__int();
	pairs_of_context();
	pairs_of__context();
	pairs_of__();
	pairs_of___();
	HODO_EVENT(many, texts, HODO_F(___x, "1"), HODO_F(__x, "2"), HODO_F(_x, "3"), HODO_F(x, "4"),
		   HODO_F(x2, "5"), HODO_F(_x2, "6"), HODO_F(x_length, "7"), HODO_F(_x_length, "8"),
		   HODO_F(_x_length2, "9"), HODO_F(Bool, "10"));
	HODO_EVENT(many, numbers, HODO_F(___x, 1), HODO_F(__x, 2), HODO_F(_x, 3), HODO_F(x, 4), HODO_F(x2, 5),
		   HODO_F(x3, 6), HODO_F(_context, 7), HODO_F(context, 8), HODO_F(context2, 9), HODO_F(x4, "10"));
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* filter_reference.c - random trees, their text and their value; see reference.h. */
#include "filter_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HODO_FILTER_FLOAT
#include <float.h>
#endif

static const struct op ops[] = {
	{ "||", 2, LOGIC },   { "&&", 3, LOGIC },   { "|", 4, BITS },        { "^", 5, BITS },
	{ "&", 6, BITS },     { "==", 7, COMPARE }, { "!=", 7, COMPARE },    { "=~", 7, GLOB },
	{ "!~", 7, GLOB },    { "<", 8, COMPARE },  { "<=", 8, COMPARE },    { ">", 8, COMPARE },
	{ ">=", 8, COMPARE }, { "<<", 9, BITS },    { ">>", 9, BITS },       { "+", 10, ARITHMETIC },
	{ "-", 10, ARITHMETIC }, { "*", 11, ARITHMETIC }, { "/", 11, ARITHMETIC }, { "%", 11, BITS },
};
#define OPS (sizeof(ops) / sizeof(ops[0]))
#define UNARY_PRECEDENCE 12
#define PRIMARY_PRECEDENCE 13

const char *const random_names[RANDOM_NAMES] = { "a",   "b2",  "_x",  "key", "shard", "Value",
						 "len", "has", "ptr", "q_q", "f",     "missing" };

/* ------------------------------------------------------------------- random */

uint64_t random_seed(void)
{
	const char *seed = getenv("HODO_TEST_SEED");

	return seed ? strtoull(seed, NULL, 0) : 20091;
}

uint64_t random_u64(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned int random_below(uint64_t *seed, unsigned int n)
{
	return n ? (unsigned int)(random_u64(seed) % n) : 0;
}

uint64_t random_int(uint64_t *seed)
{
	static const uint64_t odd[] = { 31, 32, 63, 64, 65, 127, 128, 255, 4096, INT32_MAX, 1ull << 53,
					(1ull << 53) + 1, INT64_MAX, (1ull << 63) + 1, UINT64_MAX };

	switch (random_below(seed, 6)) {
	case 0:
		return odd[random_below(seed, sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return random_u64(seed) >> (random_below(seed, 63) + 1);
	}
	return random_below(seed, 5);
}

#if HODO_FILTER_FLOAT
double random_double(uint64_t *seed)
{
	static const double odd[] = { 0,      0.5,    1,       1.5,          2,    3,      1e10,  0x1p53,
				      0x1p63, 0x1p64, 0x1p-1074, DBL_MAX, 1e-5, 4096, 0x1.8p1, 0.1 };
	uint64_t bits = random_u64(seed);
	double d;

	if (random_below(seed, 3))
		return odd[random_below(seed, sizeof(odd) / sizeof(odd[0]))];
	memcpy(&d, &bits, sizeof(d));
	d = __builtin_fabs(d);
	return d <= DBL_MAX ? d : 7.25;
}
#endif

size_t random_text(uint64_t *seed, char *out, size_t max)
{
	static const char letters[] = "aabbab*?[]!\\\"\n\xc3z";
	size_t len = random_below(seed, (unsigned int)(max < 5 ? max : 5)), i;

	for (i = 0; i < len; i++)
		out[i] = letters[random_below(seed, random_below(seed, 3) ? 6 : sizeof(letters) - 1)];
	return len;
}

/* ---------------------------------------------------------------- generation */

/* What is known about a value without an event; also what the generator aims for. */
enum known { ANY, INTEGER, FLOATING, TEXT };

static struct node *generate(uint64_t *seed, unsigned int height, enum known want);

static struct node *leaf(uint64_t *seed, enum known want)
{
	struct node *n = calloc(1, sizeof(*n));

	if (want == ANY)
		want = (enum known)(1 + random_below(seed, 3));
	if (random_below(seed, 2)) {
		n->kind = random_below(seed, 8) || want == TEXT ? N_FIELD : N_HAS;
		n->name = random_names[random_below(seed, RANDOM_NAMES)];
	} else if (want == TEXT) {
		n->kind = N_TEXT;
		n->len = random_text(seed, n->text, sizeof(n->text));
#if HODO_FILTER_FLOAT
	} else if (want == FLOATING && random_below(seed, 2)) {
		n->kind = N_FLOAT;
		n->d = random_double(seed);
#endif
	} else {
		n->kind = N_INT;
		n->i = random_int(seed);
		n->is_unsigned = n->i > INT64_MAX || random_below(seed, 8) == 0;
	}
	return n;
}

static struct node *binary(uint64_t *seed, unsigned int height, enum known want)
{
	struct node *n = calloc(1, sizeof(*n));
	enum known side = INTEGER;

	n->kind = N_BINARY;
	n->op = &ops[random_below(seed, OPS)];
	switch (n->op->class) {
	case LOGIC:
		side = random_below(seed, 5) ? INTEGER : ANY;
		break;
	case COMPARE:
		side = random_below(seed, 4) ? FLOATING : TEXT;
		break;
	case GLOB:
		side = TEXT;
		break;
	case BITS:
		break;
	case ARITHMETIC:
		side = want == FLOATING ? FLOATING : INTEGER;
	}
	n->kid[0] = generate(seed, height - 1, random_below(seed, 100) ? side : ANY);
	n->kid[1] = generate(seed, height - 1, random_below(seed, 100) ? side : ANY);
	return n;
}

static struct node *generate(uint64_t *seed, unsigned int height, enum known want)
{
	struct node *n;
	unsigned int choice = random_below(seed, 10);

	if (height == 0 || choice == 0)
		return leaf(seed, want);
	if (choice < 7 && want != TEXT)
		return binary(seed, height, want);
	if (choice < 9 && want != TEXT) {
		n = calloc(1, sizeof(*n));
		n->kind = N_UNARY;
		n->sign = "!~-"[random_below(seed, 3)];
		n->kid[0] = generate(seed, height - 1, n->sign == '~' ? INTEGER : want);
		return n;
	}
	if (choice == 9) {
		n = calloc(1, sizeof(*n));
		n->kind = N_SELECT;
		n->kid[0] = generate(seed, height - 1, INTEGER);
		n->kid[1] = generate(seed, height - 1, want);
		n->kid[2] = generate(seed, height - 1, want);
		return n;
	}
	return leaf(seed, want);
}

struct node *node_random(uint64_t *seed, unsigned int height)
{
	return generate(seed, height, random_below(seed, 20) ? INTEGER : ANY);
}

void node_free(struct node *n)
{
	int i;

	for (i = 0; n && i < 3; i++)
		node_free(n->kid[i]);
	free(n);
}

/* ------------------------------------------------------------------ printing */

struct out {
	char *text;
	size_t size, len;
	uint64_t *seed;
};

static void put(struct out *o, const char *text)
{
	size_t n = strlen(text);

	if (o->len + n + 1 > o->size)
		abort();
	memcpy(o->text + o->len, text, n + 1);
	o->len += n;
}

static void space(struct out *o)
{
	static const char *const spaces[] = { "", "", " ", "  ", "\t", "\n" };

	put(o, spaces[random_below(o->seed, 6)]);
}

static void print_int(struct out *o, const struct node *n)
{
	static const char *const formats[] = { "%llu", "%llu", "0x%llx", "0X%llX", "0%llo" };
	char text[40];

	if (n->i < 127 && n->i > 31 && n->i != '\'' && n->i != '\\' && !n->is_unsigned)
		snprintf(text, sizeof(text), "'%c'", (char)n->i);
	else
		snprintf(text, sizeof(text), formats[random_below(o->seed, 5)], (unsigned long long)n->i);
	put(o, text);
	if (n->is_unsigned && (n->i <= INT64_MAX || random_below(o->seed, 2)))
		put(o, random_below(o->seed, 2) ? "u" : "ULL");
}

static void print_float(struct out *o, const struct node *n)
{
#if HODO_FILTER_FLOAT
	char text[400];

	snprintf(text, sizeof(text), random_below(o->seed, 2) ? "%.17g" : "%a", n->d);
	put(o, text);
	if (!strpbrk(text, ".ep"))
		put(o, ".0");
#endif
}

static void print_text(struct out *o, const struct node *n)
{
	char text[8];
	size_t i;

	put(o, "\"");
	for (i = 0; i < n->len; i++) {
		unsigned char c = (unsigned char)n->text[i];

		if (c == '"' || c == '\\')
			snprintf(text, sizeof(text), "\\%c", c);
		else if (c < ' ' || random_below(o->seed, 8) == 0)
			snprintf(text, sizeof(text), random_below(o->seed, 2) ? "\\x%02x" : "\\%03o", c);
		else
			snprintf(text, sizeof(text), "%c", c);
		put(o, text);
	}
	put(o, "\"");
}

static unsigned int precedence(const struct node *n)
{
	switch (n->kind) {
	case N_SELECT:
		return 1;
	case N_BINARY:
		return n->op->precedence;
	case N_UNARY:
		return UNARY_PRECEDENCE;
	default:
		return PRIMARY_PRECEDENCE;
	}
}

/* Adds parentheses where the place needs a higher precedence, and sometimes without need. */
static void print(struct out *o, const struct node *n, unsigned int least)
{
	bool paren = precedence(n) < least || random_below(o->seed, 10) == 0;
	char sign[2] = { n->sign, '\0' };

	if (paren)
		put(o, "(");
	space(o);
	switch (n->kind) {
	case N_INT:
		print_int(o, n);
		break;
	case N_FLOAT:
		print_float(o, n);
		break;
	case N_TEXT:
		print_text(o, n);
		break;
	case N_HAS:
		put(o, "has (");
		put(o, n->name);
		put(o, ")");
		break;
	case N_FIELD:
		put(o, n->name);
		break;
	case N_UNARY:
		put(o, sign);
		print(o, n->kid[0], UNARY_PRECEDENCE);
		break;
	case N_BINARY:
		print(o, n->kid[0], n->op->precedence);
		put(o, n->op->text);
		print(o, n->kid[1], n->op->precedence + 1);
		break;
	case N_SELECT:
		print(o, n->kid[0], 2);
		put(o, "?");
		print(o, n->kid[1], 1);
		put(o, ":");
		print(o, n->kid[2], 1);
	}
	space(o);
	if (paren)
		put(o, ")");
}

size_t node_print(const struct node *n, uint64_t *seed, char *out, size_t size)
{
	struct out o = { out, size, 0, seed };

	print(&o, n, 0);
	return o.len;
}

/* ---------------------------------------------------------------- refusal */

static enum known known(const struct node *n)
{
	enum known a, b;

	switch (n->kind) {
	case N_FLOAT:
		return FLOATING;
	case N_TEXT:
		return TEXT;
	case N_FIELD:
		return ANY;
	case N_UNARY:
		return n->sign == '-' ? known(n->kid[0]) : INTEGER;
	case N_SELECT:
		a = known(n->kid[1]);
		return a == known(n->kid[2]) ? a : ANY;
	case N_BINARY:
		if (n->op->class != ARITHMETIC)
			return INTEGER;
		a = known(n->kid[0]);
		b = known(n->kid[1]);
		if (a == FLOATING || b == FLOATING)
			return FLOATING;
		return a == ANY || b == ANY ? ANY : INTEGER;
	default:
		return INTEGER;
	}
}

static bool operator_is_wrong(const struct node *n)
{
	enum known a = known(n->kid[0]), b = n->kid[1] ? known(n->kid[1]) : ANY;

	if (n->kind == N_UNARY)
		return n->sign == '!' ? false : a == TEXT || (n->sign == '~' && a == FLOATING);
	switch (n->op->class) {
	case LOGIC:
		return false;
	case COMPARE:
		return a != ANY && b != ANY && (a == TEXT) != (b == TEXT);
	case GLOB:
		return (a != ANY && a != TEXT) || (b != ANY && b != TEXT);
	case BITS:
		return a == TEXT || b == TEXT || a == FLOATING || b == FLOATING;
	case ARITHMETIC:
		return a == TEXT || b == TEXT;
	}
	return false;
}

bool node_is_wrong(const struct node *n)
{
	int i;

	for (i = 0; i < 3 && n->kid[i]; i++)
		if (node_is_wrong(n->kid[i]))
			return true;
	return (n->kind == N_UNARY || n->kind == N_BINARY) && operator_is_wrong(n);
}

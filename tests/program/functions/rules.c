/* SPDX-License-Identifier: MIT */
/*
 * rules.c - what <hodo/tracer.h> promises: order, filters, no calls from inside, errors, limits, names, and slots that
 * are no-ops whenever nobody traces. Prints each failure, and exits with 1 if there was one. With "recorded" as its
 * argument, slots are calls all the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <hodo/tracer.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACED __attribute__((noipa))
#define UNTRACED __attribute__((no_instrument_function, noinline))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int faults, recorded;

#define EXPECT(what)                                                                                                   \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			printf("rules.c:%d: not so: %s\n", __LINE__, #what);                                           \
			faults++;                                                                                      \
		}                                                                                                      \
	} while (0)

/* ------------------------------------------------------------ what is traced */

TRACED int rule_leaf(int n)
{
	return n + 1;
}

TRACED int rule_middle(int n)
{
	return rule_leaf(n) + rule_leaf(n + 1);
}

TRACED int rule_outer(int n)
{
	return rule_middle(n) + 1;
}

static jmp_buf back;

TRACED int rule_jump(int n)
{
	if (n == 0)
		longjmp(back, 1);
	n = rule_jump(n - 1);
	__asm__ volatile("" : "+r"(n)); /* otherwise gcc makes a loop of it */
	return n + 1;
}

/* -------------------------------------------------------------------- tracers */

static char seen[4096];
static unsigned nseen;

UNTRACED static void note(char c)
{
	if (nseen < sizeof(seen) - 1)
		seen[nseen++] = c;
	seen[nseen] = 0;
}

UNTRACED static void clear(void)
{
	nseen = 0;
	seen[0] = 0;
}

/* data: a letter, lower case at the entry, upper case at the exit. */
UNTRACED static void letter_enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)call;
	note(*(const char *)tracer->data);
}

UNTRACED static void letter_exit(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	note((char)((*(const char *)tracer->data - 32) & (call->flags & HODO_CALL_LEFT ? 0x1f : 0xff)));
}

#define LETTER(letter, globs)                                                                                          \
	{.size = sizeof(struct hodo_tracer), .name = letter, .enter = letter_enter, .exit = letter_exit,               \
	 .data = (void *)(letter), .functions = (globs)}

UNTRACED static void check_order(void)
{
	struct hodo_tracer a = LETTER("a", "rule_*"), c = LETTER("c", "rule_*");
	struct hodo_tracer b = LETTER("b", "rule_leaf,rule_middle");

	EXPECT(hodo_tracer_register(&a) == 0 && hodo_tracer_register(&b) == 0 && hodo_tracer_register(&c) == 0);
	EXPECT(hodo_tracer_register(&b) == -EEXIST);
	clear();
	rule_leaf(1);
	EXPECT(!strcmp(seen, "abcCBA"));
	clear();
	rule_outer(1);
	EXPECT(!strcmp(seen, "acabcabcCBAabcCBACBACA"));
	EXPECT(hodo_tracer_unregister(&a) == 0 && hodo_tracer_unregister(&a) == -ENOENT);
	EXPECT(hodo_tracer_register(&a) == 0);
	clear();
	rule_leaf(1);
	EXPECT(!strcmp(seen, "bcaACB"));
	EXPECT(hodo_tracer_unregister(&b) == 0 && hodo_tracer_unregister(&c) == 0);
	clear();
	if (setjmp(back) == 0)
		rule_jump(2);
	rule_leaf(1);
	/* Three calls that were left, which the tracer notices at the next event. */
	EXPECT(!strcmp(seen, "aaa\1\1\1aA"));
	EXPECT(hodo_tracer_unregister(&a) == 0);
	clear();
	rule_outer(1);
	EXPECT(!strcmp(seen, ""));
}

UNTRACED static unsigned events_with(const char *functions)
{
	struct hodo_tracer t = LETTER("x", functions);

	clear();
	if (hodo_tracer_register(&t) != 0)
		return ~0u;
	rule_outer(1);
	hodo_tracer_unregister(&t);
	return nseen;
}

UNTRACED static void check_filters(void)
{
	char range[64];

	EXPECT(events_with(NULL) == 8 && events_with("") == 8 && events_with("*") == 8);
	EXPECT(events_with("rule_leaf") == 4 && events_with("rule_middle") == 2 && events_with("rule_o*") == 2);
	EXPECT(events_with("rule_leaf,rule_outer") == 6 && events_with("!rule_leaf") == 4);
	EXPECT(events_with("rule_*,!*middle") == 6 && events_with("!rule_*") == 0 && events_with("nothing") == 0);
	EXPECT(events_with("rule_[lm]*") == 6 && events_with("rule_????") == 4);
	snprintf(range, sizeof(range), "%#lx-%#lx", (unsigned long)rule_leaf, (unsigned long)rule_leaf + 1);
	EXPECT(events_with(range) == 4);
	snprintf(range, sizeof(range), "!%#lx-%#lx", (unsigned long)rule_leaf, (unsigned long)rule_leaf + 1);
	EXPECT(events_with(range) == 4);
	snprintf(range, sizeof(range), "%#lx-%#lx", (unsigned long)rule_leaf + 1, (unsigned long)rule_leaf + 2);
	EXPECT(events_with(range) == 0);
}

/* ------------------------------------------------------------------- from inside */

static int inside_register, inside_unregister;
static struct hodo_tracer inside;

/* Is instrumented itself, and calls a traced function: tracers must see neither. */
TRACED static void inside_enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	static struct hodo_tracer other = LETTER("o", NULL);

	(void)call;
	note('e');
	rule_outer(1);
	inside_register = hodo_tracer_register(&other);
	inside_unregister = hodo_tracer_unregister(tracer);
	errno = 77;
}

UNTRACED static void check_inside(void)
{
	inside = (struct hodo_tracer){.size = sizeof(inside), .enter = inside_enter, .functions = "rule_*,inside_*"};
	EXPECT(hodo_tracer_register(&inside) == 0);
	clear();
	errno = 5;
	rule_leaf(1);
	EXPECT(errno == 5);
	EXPECT(!strcmp(seen, "e"));
	EXPECT(inside_register == -EDEADLK && inside_unregister == -EDEADLK);
	EXPECT(hodo_tracer_unregister(&inside) == 0);
}

/* --------------------------------------------------------------- what is reported */

static struct hodo_call calls[64];
static unsigned ncalls;

UNTRACED static void keep(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	if (ncalls < COUNT_OF(calls))
		calls[ncalls++] = *call;
}

UNTRACED static void check_calls(void)
{
	struct hodo_tracer t = {.size = sizeof(t), .enter = keep, .exit = keep, .functions = "rule_*"};
	static void *const functions[] = {rule_outer, rule_middle, rule_leaf, rule_leaf, rule_leaf, rule_leaf,
					  rule_middle, rule_outer};
	static const unsigned depths[] = {0, 1, 2, 2, 2, 2, 1, 0}, entry[] = {0, 1, 2, 2, 4, 4, 1, 0};

	ncalls = 0;
	EXPECT(hodo_tracer_register(&t) == 0);
	rule_outer(1);
	EXPECT(hodo_tracer_unregister(&t) == 0);
	EXPECT(ncalls == 8);
	for (unsigned i = 0; i < ncalls && i < 8; i++) {
		const struct hodo_call *c = &calls[i];

		EXPECT(c->size == sizeof(*c) && c->flags == 0);
		EXPECT(c->function == functions[i]);
		/* Tracers may or may not see main() and its callers, which were entered before. */
		EXPECT(c->depth - calls[0].depth == depths[i]);
		EXPECT(c->frame == calls[entry[i]].frame && c->entry_ticks == calls[entry[i]].entry_ticks);
		EXPECT(c->now_ticks >= c->entry_ticks && (i == 0 || c->now_ticks >= calls[i - 1].now_ticks));
		EXPECT(c->self_ticks <= c->now_ticks - c->entry_ticks);
	}
}

UNTRACED static void check_names(void)
{
	char name[64] = "?", small[5];
	struct timespec t = {0, 20000000};
	uint64_t ns, ticks;

	EXPECT(hodo_function_name((void *)rule_leaf, name, sizeof(name)) == 9 && !strcmp(name, "rule_leaf"));
	EXPECT(hodo_function_name((char *)rule_middle + 3, small, sizeof(small)) == 11 && !strcmp(small, "rule"));
	EXPECT(hodo_function_name(&faults, name, sizeof(name)) == -ENOENT && !*name);
	EXPECT(hodo_function_name((void *)16, name, sizeof(name)) == -ENOENT);
	EXPECT(hodo_function_name((void *)rule_leaf, NULL, 0) == -EINVAL ||
	       hodo_function_name((void *)rule_leaf, NULL, 0) == 9);
	ticks = __builtin_ia32_rdtsc();
	nanosleep(&t, NULL);
	ns = hodo_ticks_ns(__builtin_ia32_rdtsc() - ticks);
	EXPECT(ns >= 19990000 && ns < 60000000000ull);
}

/* --------------------------------------------------------------------- limits */

UNTRACED static void check_errors(void)
{
	static const char *const bad[] = {"!",     ",",         "rule_*,",   "0x",       "0x10",
					  "0x10-", "0x20-0x10", "0xzz-0x10", "rule_*,,x"};
	struct hodo_tracer t = LETTER("t", NULL);

	EXPECT(hodo_tracer_register(NULL) == -EINVAL && hodo_tracer_unregister(NULL) < 0);
	EXPECT(hodo_tracer_unregister(&t) == -ENOENT);
	t.size = 0;
	EXPECT(hodo_tracer_register(&t) == -EINVAL);
	t.size = sizeof(t) - 1;
	EXPECT(hodo_tracer_register(&t) == -EINVAL);
	t.size = sizeof(t);
	t.enter = t.exit = NULL;
	EXPECT(hodo_tracer_register(&t) == -EINVAL);
	t.enter = letter_enter;
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		t.functions = bad[i];
		if (hodo_tracer_register(&t) != -EINVAL) {
			printf("rules: \"%s\" is taken for a pattern\n", bad[i]);
			faults++;
			hodo_tracer_unregister(&t);
		}
	}
}

static struct hodo_tracer many[128];
static char texts[128][32];
static unsigned long hits;

UNTRACED static void hit(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	(void)call;
	hits++;
}

UNTRACED static void check_many(void)
{
	unsigned i, n;

	for (i = 0; i < 100; i++) {
		many[i] = (struct hodo_tracer){.size = sizeof(many[i]), .enter = hit, .exit = hit,
					       .functions = "rule_*"};
		EXPECT(hodo_tracer_register(&many[i]) == 0);
	}
	hits = 0;
	rule_outer(1);
	EXPECT(hits == 800);
	for (i = 0; i < 100; i++)
		EXPECT(hodo_tracer_unregister(&many[(i * 37) % 100]) == 0);
	for (n = 0; n < 128; n++) {
		snprintf(texts[n], sizeof(texts[n]), "rule_leaf,other_%u", n);
		many[n] = (struct hodo_tracer){.size = sizeof(many[n]), .enter = hit, .functions = texts[n]};
		if (hodo_tracer_register(&many[n]) == -ENOSPC)
			break;
	}
	/* The recorder may hold one or two texts. */
	EXPECT(n <= 63 && n >= 61);
	hits = 0;
	rule_outer(1);
	EXPECT(hits == 2 * n);
	EXPECT(hodo_tracer_unregister(&many[5]) == 0 && hodo_tracer_register(&many[n]) == 0);
	for (i = 0; i <= n; i++)
		EXPECT(i == 5 || hodo_tracer_unregister(&many[i]) == 0);
	hits = 0;
	rule_outer(1);
	EXPECT(hits == 0);
}

/* ---------------------------------------------------------------------- slots */

void __fentry__(void) __attribute__((visibility("hidden")));
void __return__(void) __attribute__((visibility("hidden")));
extern const unsigned char __executable_start[], etext[];

/* Instructions E8 (call) or A9 (test) whose operand leads to a stub. */
UNTRACED static void count_slots(const unsigned char *from, const unsigned char *to, unsigned *on, unsigned *off)
{
	*on = *off = 0;
	for (const unsigned char *p = from; p + 5 <= to; p++) {
		int offset;

		memcpy(&offset, p + 1, sizeof(offset));
		if (p + 5 + offset != (void *)__fentry__ && p + 5 + offset != (void *)__return__)
			continue;
		*on += *p == 0xe8;
		*off += *p == 0xa9;
	}
}

UNTRACED static void check_slots(void)
{
	const unsigned char *from = (const unsigned char *)rule_leaf, *to = (const unsigned char *)check_order;
	struct hodo_tracer t = LETTER("t", "rule_leaf"), all = LETTER("a", NULL);
	unsigned on, off, slots;

	count_slots(from, to, &on, &off);
	slots = on + off;
	EXPECT(slots >= 9 && (recorded || on == 0));
	EXPECT(hodo_tracer_register(&t) == 0);
	count_slots(from, to, &on, &off);
	EXPECT(recorded || (on == 2 && off == slots - 2));
	EXPECT(hodo_tracer_register(&all) == 0);
	count_slots(from, to, &on, &off);
	EXPECT(on == slots && off == 0);
	EXPECT(hodo_tracer_unregister(&t) == 0);
	count_slots(from, to, &on, &off);
	EXPECT(on == slots && off == 0);
	EXPECT(hodo_tracer_unregister(&all) == 0);
	count_slots(from, to, &on, &off);
	EXPECT(on + off == slots && (recorded ? off == 0 : on == 0));
}

static void *in_thread(void *tracer)
{
	return hodo_tracer_unregister(tracer) == 0 ? tracer : NULL;
}

UNTRACED static void check_other_thread(void)
{
	struct hodo_tracer t = LETTER("t", "rule_*");
	void *done = NULL;
	pthread_t thread;

	EXPECT(hodo_tracer_register(&t) == 0);
	pthread_create(&thread, NULL, in_thread, &t);
	pthread_join(thread, &done);
	EXPECT(done == &t);
}

UNTRACED int main(int argc, char **argv)
{
	recorded = argc > 1 && !strcmp(argv[1], "recorded");
	check_slots();
	check_order();
	check_filters();
	check_inside();
	check_calls();
	check_names();
	check_errors();
	check_many();
	check_other_thread();
	check_slots();
	printf("rules: %d faults\n", faults);
	return faults != 0;
}

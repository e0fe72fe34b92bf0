/* SPDX-License-Identifier: MIT */
/*
 * trace_context.c - which span of which trace a thread is in, and identifiers for more of them.
 *
 * All state is the calling thread's. Only a signal handler in the same thread runs beside it, and may interrupt any of
 * it:
 *
 *                  | enter, leave of a handler        | text of a handler
 *   enter, leave   | both see `now` whole, or id 0    | sees it whole, or id 0
 *   text           | it is as before when they return | beside
 *   next_id        | beside: one instruction          |
 *
 * `now` changes in this order: id 0, the trace and its flag, id. A handler in between finds that the thread is in no
 * span, and restores each word before it returns, so that the change continues as if there had been no handler.
 *
 * A longjmp past a span does not run its leave: the thread stays in that span until it leaves an outer one. So the span
 * is kept by value, never by the address of something on a stack.
 *
 * Identifiers: each thread has a counter and a step, 128 bits from the kernel's random numbers. Those of one thread
 * repeat after 2^64; of two threads, on any hosts, two are the same as seldom as two random numbers. Traces'
 * identifiers are permuted, since samplers take them for random. A fork child draws new ones; a vfork child continues
 * its parent's.
 */
#include "trace_context.h"

#include <errno.h>
#include <sys/random.h>
#include <user/libc/sys.h>
#ifdef __SSE2__
#include <emmintrin.h>
#include <user/process/process.h>
#include <user/ring/rings.h>
#endif

struct span {
	uint64_t trace[2], id;
	uint64_t sampled; /* 0 or 1: the flag of that name, which a remote parent gives to all below it */
};

struct own {
	uint64_t counter, step;
	struct span now; /* id 0: none */
	uint32_t life;   /* the process's, as it was when counter and step were drawn */
};
static __thread struct own own __attribute__((tls_model("initial-exec")));
static uint32_t life = 1;

/* What orders a thread and its own handlers: the compiler. */
#define BARRIER() __asm__ volatile("" : : : "memory")

void hodo_trace_context_forked(void)
{
	hodo_store(&life, life + 1);
}

/* --------------------------------------------------------------------- identifiers */

/* A permutation. */
static inline uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

/* Once in each thread. Where the kernel refuses, what differs at least: time, thread, where memory lies. */
static __attribute__((noinline, cold)) void draw(struct own *t)
{
	uint64_t random[2];

	if (hodo_sys3(SYS_getrandom, random, sizeof(random), GRND_NONBLOCK) != (long)sizeof(random)) {
		random[0] = mix((uint64_t)hodo_clock_ns(CLOCK_REALTIME) ^ hodo_ticks_now() << 20);
		random[1] = mix(random[0] ^ (uintptr_t)t ^ (uint64_t)hodo_gettid() << 40);
	}
	t->counter = random[0];
	t->step = random[1] | 1;
	t->life = hodo_load(&life);
}

/* A handler between the load and the store of the counter would give the same twice. */
static inline uint64_t next_id(struct own *t)
{
	uint64_t id = t->step;

#ifdef __x86_64__
	__asm__("xaddq %0, %1" : "+r"(id), "+m"(t->counter) : : "cc");
#else
	id = __atomic_fetch_add(&t->counter, id, __ATOMIC_RELAXED);
#endif
	return id ? id : 1;
}

/* ------------------------------------------------------------------------- texts */

#define LENGTH 55u /* HODO_TRACEPARENT_BYTES without the NUL */

/* The value of sixteen hexadecimal digits, in lower case as the format wants them; others make *valid invalid. */
#ifdef __SSE2__
/* The bits that any of the values has. */
typedef __m128i valid_t;
#define VALID _mm_setzero_si128()

static inline bool is_valid(valid_t bits)
{
	return !_mm_movemask_epi8(_mm_adds_epu8(bits, _mm_set1_epi8(127 - 15)));
}

/*
 * In each two bytes the value of two digits, by the third algorithm of Langdale and Mula, "Parsing hex numbers with
 * validation" (2022): once the value of a digit '0' to '9', once that of 'a' to 'f', each more than 15 for all other
 * characters, and of these the smaller one.
 */
static inline __m128i pairs(const char *p, valid_t *bits)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	const __m128i from_f0 = _mm_subs_epu8(_mm_add_epi8(v, _mm_set1_epi8((char)(0xff - '9'))), _mm_set1_epi8(6));
	const __m128i digit = _mm_add_epi8(from_f0, _mm_set1_epi8(0x10));
	const __m128i letter = _mm_adds_epu8(_mm_sub_epi8(v, _mm_set1_epi8('a')), _mm_set1_epi8(10));
	const __m128i n = _mm_min_epu8(digit, letter);

	*bits = _mm_or_si128(*bits, n);
	return _mm_srli_epi16(_mm_or_si128(_mm_slli_epi16(n, 12), n), 8);
}

static inline uint64_t digits(const char *p, valid_t *valid)
{
	const __m128i n = pairs(p, valid);

	return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(n, n)));
}
#else
typedef bool valid_t;
#define VALID true

static inline bool is_valid(valid_t valid) { return valid; }

static inline uint64_t digits(const char *p, valid_t *valid)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 16; i++) {
		bool letter = p[i] >= 'a' && p[i] <= 'f';

		*valid &= letter || (p[i] >= '0' && p[i] <= '9');
		n = n << 4 | (uint64_t)(letter ? p[i] - 'a' + 10 : p[i] & 15);
	}
	return n;
}
#endif

static inline bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* Whether all but the digits of trace and parent is as it should. Later versions may add more behind another '-'; ff is
 * none. */
static __attribute__((noinline, cold)) bool is_framed(const char *p)
{
	bool first = p[0] == '0' && p[1] == '0';

	return is_digit(p[0]) && is_digit(p[1]) && !(p[0] == 'f' && p[1] == 'f') && p[2] == '-' && p[52] == '-' &&
	       is_digit(p[53]) && is_digit(p[54]) && (p[LENGTH] == 0 || (!first && p[LENGTH] == '-'));
}

/* The usual: "00-", and behind the digits "-00" or "-01" and the end. */
static inline bool is_usual(const char *p)
{
	static const uint8_t begin[4] = { '0', '0', '-' }, end[4] = { '-', '0', '0' };
	static const uint8_t begin_mask[4] = { 0xff, 0xff, 0xff }, end_mask[4] = { 0xff, 0xff, 0xfe, 0xff };
	uint32_t word, is, mask;

	__builtin_memcpy(&word, p, 4);
	__builtin_memcpy(&is, begin, 4);
	__builtin_memcpy(&mask, begin_mask, 4);
	if ((word & mask) != is)
		return false;
	__builtin_memcpy(&word, p + 52, 4);
	__builtin_memcpy(&is, end, 4);
	__builtin_memcpy(&mask, end_mask, 4);
	return (word & mask) == is;
}

/* VV-TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT-PPPPPPPPPPPPPPPP-FF, of which LENGTH + 1 bytes may be read. */
static inline __attribute__((always_inline)) bool parse_digits(const char *p, struct span *s, uint64_t *parent)
{
	valid_t valid = VALID;

	s->trace[0] = digits(p + 3, &valid);
	s->trace[1] = digits(p + 19, &valid);
	*parent = digits(p + 36, &valid);
	s->sampled = p[LENGTH - 1] & 1; /* of '0' to '9' */
	return is_valid(valid) && p[35] == '-' && (s->trace[0] | s->trace[1]) && *parent;
}

/* What lies in the page where the text begins is there, whatever it is. */
static inline bool is_readable(const char *text)
{
	return ((uintptr_t)text & (HODO_PAGE - 1)) < HODO_PAGE - LENGTH;
}

/* Of any text, byte by byte. */
static bool parse(const char *text, struct span *s, uint64_t *parent)
{
	char copy[LENGTH + 1] = { 0 };

	for (size_t i = 0; text && i < sizeof(copy) && text[i]; i++)
		copy[i] = text[i];
	if (!parse_digits(copy, s, parent) || !is_framed(copy))
		return false;
	s->sampled ^= copy[LENGTH - 1] > '9'; /* 'a' is even */
	return true;
}

static char *put_hex(char *to, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[v >> shift & 15];
	return to;
}

int hodo_trace_context_text(char *to)
{
	const struct own *t = &own;

	if (!t->now.id) {
		to[0] = 0;
		return -ENOENT;
	}
	__builtin_memcpy(to, "00-", 3);
	to = put_hex(put_hex(to + 3, t->now.trace[0]), t->now.trace[1]);
	*to++ = '-';
	to = put_hex(to, t->now.id);
	__builtin_memcpy(to, t->now.sampled ? "-01" : "-00", 4);
	return 0;
}

/* ------------------------------------------------------------------- enter, leave */

static inline void set_now(struct own *t, const uint64_t trace[2], uint64_t id, uint64_t sampled)
{
	t->now.id = 0;
	BARRIER();
	t->now.trace[0] = trace[0];
	t->now.trace[1] = trace[1];
	t->now.sampled = sampled;
	BARRIER();
	t->now.id = id;
}

static inline void enter(struct own *t, struct hodo_trace_context *c, const struct span *made, uint64_t parent)
{
	c->trace[0] = made->trace[0];
	c->trace[1] = made->trace[1];
	c->parent = parent;
	c->span = made->id;
	c->before[0] = t->now.trace[0];
	c->before[1] = t->now.trace[1];
	c->before[2] = t->now.id;
	c->before[3] = 1 | t->now.sampled << 1; /* 1 for the program: there is something to leave */
	set_now(t, made->trace, made->id, made->sampled);
}

/* Whatever there is. */
static __attribute__((noinline, cold)) void enter_slow(struct hodo_trace_context *c, const char *traceparent)
{
	struct own *t = &own;
	struct span made, now = t->now;
	uint64_t parent;

	hodo_process_check_fork();
	if (t->life != hodo_load(&life))
		draw(t);
	if (!parse(traceparent, &made, &parent)) {
		made.trace[0] = now.id ? now.trace[0] : mix(next_id(t));
		made.trace[1] = now.id ? now.trace[1] : mix(next_id(t));
		made.sampled = now.id ? now.sampled : 1;
		parent = now.id;
	}
	made.id = next_id(t);
	enter(t, c, &made, parent);
}

/* What is usual, without a call: a remote parent, or the span that the thread is in. */
void hodo_trace_context_enter(struct hodo_trace_context *c, const char *traceparent)
{
	struct own *t = &own;
	struct span made = t->now;
	uint64_t parent = made.id;

	if (hodo_process_forked() || t->life != hodo_load(&life) ||
	    (traceparent ? !is_readable(traceparent) || !is_usual(traceparent) ||
			   !parse_digits(traceparent, &made, &parent) : !parent)) {
		enter_slow(c, traceparent);
		return;
	}
	made.id = next_id(t);
	enter(t, c, &made, parent);
}

void hodo_trace_context_leave(const struct hodo_trace_context *c)
{
	set_now(&own, c->before, c->before[2], c->before[3] >> 1);
}

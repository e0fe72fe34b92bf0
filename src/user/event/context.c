/* SPDX-License-Identifier: MIT */
/*
 * context.c - what a recording wants of every event besides its fields.
 *
 * Runs inside any code of the program, including signal handlers on small stacks: large data goes into our
 * own buffers (buffers.c); each event takes one and releases it.
 *
 *                  | gather | prepare, end
 *   gather         | beside | excluded (sections)
 *   prepare, end   |        | excluded (control lock)
 *
 * Instructions read the program's stack only in the page that holds the stack pointer, which exists as long
 * as the code that runs on it: a register or a word on the stack may hold anything, and another thread may
 * unmap the memory above. The kernel reads the rest for us, and stops where nothing is mapped.
 */
#include <sys/uio.h>
#include <core/bounded_text.h>
#include <user/libc/sys.h>
#include <user/ring/rings.h>
#include "event.h"

#define COMM_AGE_TICKS (1ull << 21)  /* half a millisecond or two */
#define WINDOW 4096u         /* bytes of stack that are read at a time */
#define WINDOWS_MAX 32u      /* for one callstack */
#define FRAME_MAX (8u << 20) /* bytes between two frames: beyond that, it is not a frame pointer */

static struct hodo_context_config config; /* flags 0: no context */
static uint32_t process;

struct buffer {
	struct iovec part[HODO_CONTEXT_STACK_MAX / HODO_PAGE + 2];
	uint8_t window[WINDOW];
	uint64_t address[HODO_CONTEXT_DEPTH_MAX];
	uint8_t stack[]; /* config.stack_bytes */
};
static struct hodo_buffers buffers;

struct own {
	uint32_t epoch; /* of the recording that the rest is valid for */
	uint64_t comm_at;
	char comm[16];
};
static __thread struct own own __attribute__((tls_model("initial-exec")));
static uint32_t epoch;

/* ------------------------------------------------------------- configuration */

static bool name_valid(const char *name, size_t size)
{
	size_t n = strnlen(name, size);

	if (n == 0 || n == size)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!hodo_is_word(name[i]))
			return false;
	}
	return true;
}

bool hodo_context_valid(const uint8_t *at, uint32_t len)
{
	struct hodo_context_config c;

	if (len == 0)
		return true;
	if (len != sizeof(c))
		return false;
	__builtin_memcpy(&c, at, sizeof(c));
	if (c.size != sizeof(c) || !c.flags || c.flags & ~HODO_CONTEXT_ALL ||
	    c.depth_max > HODO_CONTEXT_DEPTH_MAX || c.stack_bytes > HODO_CONTEXT_STACK_MAX ||
	    c.counters > HODO_COUNTERS_MAX || !(c.flags & HODO_CONTEXT_COUNTERS) != !c.counters ||
	    !(c.flags & HODO_CONTEXT_CALLSTACK) != !c.depth_max || !(c.flags & HODO_CONTEXT_STACK) != !c.stack_bytes)
		return false;
	for (uint32_t i = 0; i < c.counters; i++) {
		if (!name_valid(c.counter[i].name, sizeof(c.counter[i].name)))
			return false;
	}
	return true;
}

int hodo_context_prepare(void)
{
	const struct hodo_msg_config *c = &hodo_recording.config;

	config.flags = 0;
	if (!c->context_len)
		return 0;
	__builtin_memcpy(&config, hodo_config_context(c), sizeof(config));
	process = (uint32_t)hodo_sys0(SYS_getpid);
	epoch++;
	hodo_counters_prepare(config.flags & HODO_CONTEXT_COUNTERS ? &config : 0);
	return config.flags & (HODO_CONTEXT_CALLSTACK | HODO_CONTEXT_STACK) ?
	       hodo_buffers_make(&buffers, sizeof(struct buffer) + config.stack_bytes) : 0;
}

bool hodo_context_addresses(void)
{
	return config.flags & (HODO_CONTEXT_IP | HODO_CONTEXT_CALLSTACK | HODO_CONTEXT_STACK);
}

void hodo_context_end(void)
{
	config.flags = 0;
	hodo_counters_prepare(0);
}

/* ------------------------------------------------------------------ comm, pid */

/* A vfork child has its parent's memory, and a process id of its own. */
static uint32_t current_pid(void)
{
	return hodo_tls.table == hodo_no_views ? (uint32_t)hodo_sys0(SYS_getpid) : process;
}

/* Read again when it is older than COMM_AGE_TICKS. */
static uint8_t *put_comm(uint8_t *at)
{
	uint64_t now = hodo_ticks_now();
	uint16_t n;

	if (own.epoch != epoch || now - own.comm_at > COMM_AGE_TICKS) {
		hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, own.comm);
		own.comm_at = now;
		own.epoch = epoch;
	}
	/* Measured in the copy, which an interrupting handler does not change. */
	__builtin_memcpy(at + 2, own.comm, sizeof(own.comm));
	n = (uint16_t)strnlen((const char *)at + 2, sizeof(own.comm) - 1);
	__builtin_memcpy(at, &n, sizeof(n));
	return at + 2 + n;
}

static uint8_t *put32(uint8_t *at, uint32_t v)
{
	__builtin_memcpy(at, &v, sizeof(v));
	return at + sizeof(v);
}

static uint8_t *put64(uint8_t *at, uint64_t v)
{
	__builtin_memcpy(at, &v, sizeof(v));
	return at + sizeof(v);
}

/* ---------------------------------------------------------------------- memory */

/* Reads memory that may not be mapped. Returns how many bytes were, from the start. */
static uint32_t read_memory(struct buffer *b, void *to, uintptr_t from, uint32_t len)
{
	return hodo_memory_read(current_pid(), to, from, len, b->part, sizeof(b->part) / sizeof(b->part[0]));
}

/* The end of the page that holds what the call to the writer pushed, right below sp: it is mapped. */
static uintptr_t page_end(uintptr_t sp)
{
	return ((sp - 1) | (HODO_PAGE - 1)) + 1;
}

/* ------------------------------------------------------------------- callstack */

struct window {
	uintptr_t start, end;
	const uint8_t *bytes;
	uint32_t reads;
};

/* Addresses that programs have: others are what a function without a frame pointer keeps in its register, as a text. */
static bool is_code(uint64_t address)
{
	return address >= HODO_PAGE && address >> 56 == 0;
}

/* The two words at bp: the caller's frame pointer and the return address. */
static bool read_frame(struct buffer *b, struct window *w, uintptr_t bp, uintptr_t frame[2])
{
	if (bp < w->start || w->end < 16 || bp > w->end - 16) {
		if (w->reads++ == WINDOWS_MAX)
			return false;
		w->bytes = b->window;
		w->start = bp;
		w->end = bp + read_memory(b, b->window, bp, WINDOW);
		if (w->end - w->start < 16)
			return false;
	}
	__builtin_memcpy(frame, w->bytes + (bp - w->start), 16);
	return true;
}

static uint32_t walk(struct buffer *b, uintptr_t ip, uintptr_t sp, uintptr_t bp)
{
	struct window w = { sp, page_end(sp), (const uint8_t *)sp, 0 };
	uintptr_t from = sp, frame[2];
	uint32_t n = 0;

	b->address[n++] = ip;
	/* Stacks grow down: a frame pointer that does not go up is not one. */
	while (n < config.depth_max && bp >= from && bp - from <= FRAME_MAX && bp % sizeof(bp) == 0 &&
	       bp < UINTPTR_MAX - 2 * WINDOW && read_frame(b, &w, bp, frame) && is_code(frame[1])) {
		b->address[n++] = frame[1];
		from = bp + 1;
		bp = frame[0];
	}
	return n;
}

/* ---------------------------------------------------------------------- gather */

static void add_piece(struct hodo_context *c, const void *data, size_t len)
{
	if (len == 0)
		return;
	c->piece[c->n++] = (struct hodo_piece){ data, len };
	c->total += len;
}

/*
 * The room is on the stack of the event's thread, since nobody else may change its lengths, and is no larger
 * than necessary. The flags are read once: in a handler that interrupts this, another recording may begin
 * after a fork.
 */
uint32_t hodo_context_room(struct hodo_context *c)
{
	uint32_t flags = config.flags, bytes = 0;

	bytes += flags & HODO_CONTEXT_COMM ? 2 + sizeof(own.comm) : 0;
	bytes += flags & HODO_CONTEXT_PID ? 4 : 0;
	bytes += flags & HODO_CONTEXT_IP ? 8 : 0;
	bytes += flags & HODO_CONTEXT_CALLSTACK ? 4 : 0;
	bytes += flags & HODO_CONTEXT_STACK ? 4 + 3 * 8 + 4 : 0;
	bytes += flags & HODO_CONTEXT_COUNTERS ? HODO_COUNTERS_MAX * 8 : 0;
	bytes += flags & HODO_CONTEXT_CPU_TIME ? 8 : 0;
	c->flags = flags;
	c->fixed = (bytes + sizeof(struct hodo_piece) - 1) / sizeof(struct hodo_piece);
	return c->fixed + 1 + (flags & HODO_CONTEXT_CALLSTACK ? 2 : 0) + (flags & HODO_CONTEXT_STACK ? 2 : 0);
}

void hodo_context_gather(struct hodo_context *c, struct hodo_piece *room, uintptr_t ip, uintptr_t sp, uintptr_t bp)
{
	uint8_t *start = (uint8_t *)room, *at = start;
	uint32_t flags = c->flags, n;
	struct buffer *b = 0;

	c->piece = room + c->fixed;
	c->n = 0;
	c->total = 0;
	if (flags & (HODO_CONTEXT_CALLSTACK | HODO_CONTEXT_STACK))
		b = hodo_buffers_take(&buffers);
	c->buffer = b;
	if (flags & HODO_CONTEXT_COMM)
		at = put_comm(at);
	if (flags & HODO_CONTEXT_PID)
		at = put32(at, current_pid());
	if (flags & HODO_CONTEXT_IP)
		at = put64(at, ip);
	if (flags & HODO_CONTEXT_CALLSTACK) {
		n = b ? walk(b, ip, sp, bp) : 0;
		at = put32(at, n);
		add_piece(c, start, (size_t)(at - start));
		start = at;
		if (n)
			add_piece(c, b->address, n * sizeof(b->address[0]));
	}
	if (flags & HODO_CONTEXT_STACK) {
		bool here = page_end(sp) - sp >= config.stack_bytes;

		n = here ? config.stack_bytes : b ? read_memory(b, b->stack, sp, config.stack_bytes) : 0;
		at = put64(put64(put64(put32(at, 3), ip), sp), bp);
		at = put32(at, n);
		add_piece(c, start, (size_t)(at - start));
		start = at;
		if (n)
			add_piece(c, here ? (const void *)sp : b->stack, n);
	}
	if (flags & HODO_CONTEXT_COUNTERS)
		at = hodo_counters_put(at, epoch);
	/* Last, so that it is taken close to the event's time stamp. */
	if (flags & HODO_CONTEXT_CPU_TIME)
		at = put64(at, (uint64_t)hodo_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	add_piece(c, start, (size_t)(at - start));
}

void hodo_context_release(struct hodo_context *c)
{
	hodo_buffers_release(&buffers, c->buffer);
}

/* SPDX-License-Identifier: MIT */
/*
 * frames.c - the signal handlers that a stopped thread is in, and the masks that their return restores.
 *
 * The kernel puts a frame on the stack for each (struct rt_sigframe, arch/x86/kernel/signal_64.c): where the handler
 * returns to, and a ucontext_t. Only such a frame has an address that leads to the instructions of
 * rt_sigreturn(2), and a context with the code segment of 64-bit programs. A stale one, on a part of the
 * stack not written since, is cleaned as well, which has no effect.
 */
#include "attach_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <base/scope.h>

#define REACH       65536u /* bytes of the stack, from where the thread is, or where a handler interrupted it */
#define PARTS_MAX   32u
#define USER_CS     0x33u
#define FLAGS_MAX   7u /* of uc_flags: UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */

struct frame {
	uint64_t returns;
	ucontext_t context; /* the kernel's ends after the first 8 bytes of uc_sigmask */
};
#define FRAME_BYTES (offsetof(struct frame, context.uc_sigmask) + sizeof(uint64_t))

static bool is_sigreturn(int mem, uint64_t at)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }; /* mov $15,%rax; syscall */
	uint8_t bytes[sizeof(code)];

	return pread(mem, bytes, sizeof(bytes), (off_t)at) == (ssize_t)sizeof(bytes) &&
	       memcmp(bytes, code, sizeof(code)) == 0;
}

static bool is_frame(int mem, const struct frame *f)
{
	const ucontext_t *c = &f->context;

	return (c->uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == USER_CS && c->uc_flags <= FLAGS_MAX && !c->uc_link &&
	       is_sigreturn(mem, f->returns);
}

static bool clean(int mem, uint64_t at, const struct frame *f, uint64_t unblocked)
{
	uint64_t mask;

	memcpy(&mask, &f->context.uc_sigmask, sizeof(mask));
	if (!(mask & unblocked))
		return true;
	mask &= ~unblocked;
	return pwrite(mem, &mask, sizeof(mask), (off_t)(at + offsetof(struct frame, context.uc_sigmask))) ==
	       (ssize_t)sizeof(mask);
}

/* Parts of stacks to search. */
struct parts {
	uint64_t at[PARTS_MAX];
	unsigned n;
};

static void add(struct parts *p, uint64_t at)
{
	for (unsigned i = 0; i < p->n; i++)
		if (at >= p->at[i] && at < p->at[i] + REACH / 2)
			return;
	if (p->n < PARTS_MAX)
		p->at[p->n++] = at;
}

/* The code that a handler interrupted may be far away, or on another stack. */
static int look(int mem, uint8_t *bytes, uint64_t from, uint64_t unblocked, struct parts *parts)
{
	ssize_t n = pread(mem, bytes, REACH, (off_t)from);

	/* The handler is called like any function: its return address is 8 bytes after a multiple of 16. */
	for (uint64_t i = (8 - from) & 15; n > 0 && i + FRAME_BYTES <= (uint64_t)n; i += 16) {
		struct frame f = { 0 };

		memcpy(&f, bytes + i, FRAME_BYTES);
		if (!is_frame(mem, &f))
			continue;
		if (!clean(mem, from + i, &f, unblocked))
			return -EIO;
		add(parts, (uint64_t)f.context.uc_mcontext.gregs[REG_RSP]);
	}
	return 0;
}

int hodo_attach_clean_frames(int mem, const struct hodo_attach_tracee *e, uint64_t unblocked)
{
	HODO_AUTO_FREE uint8_t *bytes = malloc(REACH);
	struct parts parts = { .at = { e->regs.rsp }, .n = 1 };
	int err = bytes ? 0 : -ENOMEM;

	for (unsigned i = 0; i < parts.n && !err; i++)
		err = look(mem, bytes, parts.at[i], unblocked, &parts);
	return err;
}

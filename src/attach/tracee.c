/* SPDX-License-Identifier: MIT */
/*
 * tracee.c - one thread of the process, stopped by PTRACE_SEIZE and
 * PTRACE_INTERRUPT: no signal is sent, and the kernel restarts the thread's system call, preserving its
 * timeout.
 *
 * But some calls end with EINTR at any stop (signal(7)). They have done nothing then, and are entered again,
 * by going back to the system call instruction, unless a signal of the program is pending, which ends them
 * with EINTR anyway.
 */
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/clock.h>

#include "attach_impl.h"

#include <elf.h>

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#endif
#define GET_RSEQ_CONFIGURATION 0x420f
#define STOP_MS 2000
#define CALL_MS 10000
#define SETSIGMASK 0x420b /* PTRACE_SETSIGMASK */
#define EXTENDED_AT 464 /* in the vector state: its size in a frame, and the available components from the kernel */
#define TILES_NUMBER 18 /* of the component in XSAVE */
#define TILES (1ull << TILES_NUMBER)
#define CODE_32 0x23 /* the code segment of 32-bit code */

static uint64_t bit(int signal)
{
	return 1ull << (signal - 1);
}

/*
 * Its status from waitpid(2) at the next stop; or -ETIMEDOUT, -ESRCH. A timer's signal comes every few
 * milliseconds (without_terminal.c), so that no wait is forever.
 */
static int wait_stop(struct hodo_attach_tracee *e, unsigned int ms)
{
	int64_t until = hodo_now_ns() + ms * 1000000ll;
	int status;
	pid_t r;

	do {
		r = waitpid(e->tid, &status, __WALL);
		if (r == e->tid && WIFSTOPPED(status))
			return status;
		if (r == e->tid || errno != EINTR) {
			e->seized = false;
			return -ESRCH;
		}
	} while (hodo_now_ns() <= until);
	return -ETIMEDOUT;
}

/* ------------------------------------------------------------ system calls again */

/* Calls that end with EINTR at a stop without having done anything. */
static bool is_entered_again(uint64_t nr)
{
	switch (nr) {
	case SYS_epoll_wait: case SYS_epoll_pwait: case 441 /* epoll_pwait2 */:
	case SYS_semop: case SYS_semtimedop: case SYS_io_getevents: case 333 /* io_pgetevents */:
	case SYS_rt_sigtimedwait: case 426 /* io_uring_enter */: case SYS_msgrcv: case SYS_msgsnd:
	case SYS_futex: case SYS_poll: case SYS_ppoll: case SYS_select: case SYS_pselect6:
	/* on sockets with a timeout */
	case SYS_read: case SYS_readv: case SYS_write: case SYS_writev: case SYS_recvfrom: case SYS_recvmsg:
	case SYS_recvmmsg: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg: case SYS_accept: case SYS_accept4:
	case SYS_connect:
		return true;
	}
	return false;
}

static bool ends_with_eintr(const struct hodo_attach_tracee *e)
{
	return (int64_t)e->regs.orig_rax >= 0 && (int64_t)e->regs.rax == -EINTR && !e->genuine &&
	       is_entered_again(e->regs.orig_rax);
}

/* The kernel's own results that the program never sees. */
static bool is_restarted(const struct user_regs_struct *r)
{
	int64_t result = (int64_t)r->rax;

	return (int64_t)r->orig_rax >= 0 &&
	       (result == -512 /* ERESTARTSYS */ || result == -513 /* NOINTR */ || result == -514 /* NOHAND */ ||
		result == -516 /* RESTARTBLOCK */);
}

static void enter_again(struct user_regs_struct *r)
{
	r->rax = r->orig_rax;
	r->orig_rax = ~0ull;
	r->rip -= 2;
}

void hodo_attach_tracee_resumed(const struct hodo_attach_tracee *e, struct user_regs_struct *regs)
{
	*regs = e->regs;
	if (is_restarted(regs))
		enter_again(regs);
}

/* -------------------------------------------------------------------- stopping */

bool hodo_attach_tracee_again(struct hodo_attach_tracee *e)
{
	if (!is_restarted(&e->regs))
		return false;
	enter_again(&e->regs);
	return hodo_attach_tracee_set_regs(e, &e->regs);
}

static uint64_t hexadecimal(const char *status, const char *name)
{
	const char *value = hodo_proc_field(status, name);

	return value ? strtoull(value, NULL, 16) : 0;
}

static int read_signals(struct hodo_attach_tracee *e)
{
	uint64_t nothing = bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT);
	char name[64], status[8192];
	uint64_t pending;

	snprintf(name, sizeof(name), "task/%d/status", (int)e->tid);
	if (hodo_proc_file(e->target->pid, name, status, sizeof(status)) < 0)
		return -ESRCH;
	e->ignored = hexadecimal(status, "SigIgn");
	e->caught = hexadecimal(status, "SigCgt");
	pending = (hexadecimal(status, "SigPnd") | hexadecimal(status, "ShdPnd")) & ~hexadecimal(status, "SigBlk");
	e->genuine = pending & ~e->ignored & ~(nothing & ~e->caught);
	return 0;
}

/* The thread is stopped by PTRACE_INTERRUPT: reads everything needed. */
static int look(struct hodo_attach_tracee *e)
{
	if (ptrace(PTRACE_GETREGS, e->tid, 0, &e->regs) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, e->tid, sizeof(e->mask), &e->mask) != 0)
		return -ESRCH;
	return read_signals(e);
}

int hodo_attach_tracee_save(struct hodo_attach_tracee *e)
{
	struct iovec v = { e->xstate, sizeof(e->xstate) };

	if (ptrace(PTRACE_GETREGSET, e->tid, (void *)NT_X86_XSTATE, &v) == 0) {
		/* The buffer is full: there may be more. */
		if (v.iov_len >= sizeof(e->xstate) || v.iov_len < 576)
			return -E2BIG;
	} else if (errno != ENODEV || ptrace(PTRACE_GETREGSET, e->tid, (void *)NT_PRFPREG, &v) != 0) {
		return -errno;
	} else if (v.iov_len != HODO_ATTACH_FXSAVE) {
		return -E2BIG;
	}
	e->xstate_size = (uint32_t)v.iov_len;
	return 0;
}

bool hodo_attach_tracee_set_regs(const struct hodo_attach_tracee *e, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, e->tid, 0, regs) == 0;
}

bool hodo_attach_tracee_set_mask(const struct hodo_attach_tracee *e, uint64_t mask)
{
	return ptrace(SETSIGMASK, e->tid, sizeof(mask), &mask) == 0;
}

bool hodo_attach_tracee_set_vectors(const struct hodo_attach_tracee *e, const uint8_t *xstate)
{
	struct iovec v = { (void *)xstate, e->xstate_size };

	int set = e->xstate_size == HODO_ATTACH_FXSAVE ? NT_PRFPREG : NT_X86_XSTATE;

	return ptrace(PTRACE_SETREGSET, e->tid, (void *)(intptr_t)set, &v) == 0;
}

int hodo_attach_tracee_go_on(struct hodo_attach_tracee *e, enum __ptrace_request request, int deliver)
{
	int status;

	if (ptrace(request, e->tid, 0, deliver) != 0)
		return -ESRCH;
	status = wait_stop(e, CALL_MS);
	return status < 0 ? status : status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

bool hodo_attach_tracee_is_fault(const struct hodo_attach_tracee *e, int signal)
{
	siginfo_t info;

	if (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE && signal != SIGSYS)
		return false;
	return ptrace(PTRACE_GETSIGINFO, e->tid, 0, &info) == 0 && info.si_code > 0;
}

int hodo_attach_tracee_stop(struct hodo_attach_tracee *e)
{
	int status, error;

	if (ptrace(PTRACE_SEIZE, e->tid, 0, PTRACE_O_TRACESYSGOOD) != 0)
		return -errno;
	e->seized = true;
	e->held = 0;
	e->genuine = true; /* no call is entered again until this is known */
	memset(&e->regs, 0, sizeof(e->regs));
	e->since = hodo_now_ns();
	if (ptrace(PTRACE_INTERRUPT, e->tid, 0, 0) != 0)
		return -errno;
	for (;;) {
		status = wait_stop(e, STOP_MS);
		if (status < 0)
			return status;
		error = look(e);
		if (error)
			return error;
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* A signal came first: the program gets it as if we were not there. */
		if (ptrace(PTRACE_CONT, e->tid, 0, WSTOPSIG(status)) != 0)
			return -ESRCH;
	}
	/* At once: from here on, our death goes unnoticed. */
	if (ends_with_eintr(e)) {
		enter_again(&e->regs);
		hodo_attach_tracee_set_regs(e, &e->regs);
	}
	if (WSTOPSIG(status) != SIGTRAP || (e->regs.cs & 0xffff) == CODE_32 || !hodo_attach_target_same(e->target)) {
		hodo_attach_tracee_release(e);
		return -EAGAIN;
	}
	return 0;
}

/* Called in PTRACE_EVENT_STOP: only there does the kernel restart a system call. */
int hodo_attach_tracee_release(struct hodo_attach_tracee *e)
{
	int error = 0;
	uint64_t ns;

	if (!e->seized)
		return -ESRCH;
	if (ptrace(PTRACE_DETACH, e->tid, 0, 0) != 0)
		error = -errno;
	e->seized = false;
	for (int signal = 1; signal < 64; signal++) {
		if (e->held & bit(signal))
			syscall(SYS_tgkill, e->target->pid, e->tid, signal);
	}
	ns = hodo_now_ns() - e->since;
	e->done->stopped_ns += ns;
	e->done->stops++;
	if (ns > e->done->longest_ns)
		e->done->longest_ns = ns;
	return error;
}

/* --------------------------------------------------------------------- frames */

void hodo_attach_frame_fill(struct hodo_attach_frame *f, const struct user_regs_struct *r, uint64_t mask,
			    uint64_t vectors)
{
	*f = (struct hodo_attach_frame){
		.flags = HODO_ATTACH_FRAME_FLAGS,
		.stack_flags = 0xff, /* invalid: the alternate stack stays as it is */
		.r8 = r->r8, .r9 = r->r9, .r10 = r->r10, .r11 = r->r11, .r12 = r->r12, .r13 = r->r13, .r14 = r->r14,
		.r15 = r->r15, .rdi = r->rdi, .rsi = r->rsi, .rbp = r->rbp, .rbx = r->rbx, .rdx = r->rdx,
		.rax = r->rax, .rcx = r->rcx, .rsp = r->rsp, .rip = r->rip, .eflags = r->eflags,
		.cs = (uint16_t)r->cs, .ss = (uint16_t)r->ss,
		.fpstate = vectors, .mask = mask,
	};
}

/*
 * Bytes of the vector state that the kernel restores from a signal frame. Only processes that have requested
 * AMX's tiles, 8 KiB at its end, have room for them: if they are not in use, they are left out.
 */
static uint32_t frame_size(const struct hodo_attach_tracee *e)
{
	unsigned int bytes, offset, ecx, edx;
	uint64_t used;

	memcpy(&used, e->xstate + HODO_ATTACH_VECTORS_USED, sizeof(used));
	if (used & TILES || !__get_cpuid_count(0xd, TILES_NUMBER, &bytes, &offset, &ecx, &edx) || offset < 576 ||
	    offset + bytes != e->xstate_size)
		return e->xstate_size;
	return offset;
}

void hodo_attach_frame_vectors(uint8_t *to, const struct hodo_attach_tracee *e)
{
	static const uint32_t end = FP_XSTATE_MAGIC2;
	uint32_t size = frame_size(e);
	struct _fpx_sw_bytes extended = { .magic1 = FP_XSTATE_MAGIC1, .extended_size = size + sizeof(end),
					  .xstate_size = size };

	if (e->xstate_size == HODO_ATTACH_FXSAVE) {
		memcpy(to, e->xstate, e->xstate_size);
		return;
	}
	memcpy(&extended.xstate_bv, e->xstate + EXTENDED_AT, sizeof(extended.xstate_bv)); /* the mask of all there */
	memcpy(to, e->xstate, size);
	memcpy(to + EXTENDED_AT, &extended, sizeof(extended));
	memcpy(to + size, &end, sizeof(end));
}

/* ------------------------------------------------------------- restartable sequences */

/*
 * The kernel restarts a sequence only if the thread's instruction pointer is still in it when it continues:
 * one that we sent elsewhere and back would continue in the middle, perhaps on another CPU.
 */
bool hodo_attach_tracee_in_rseq(const struct hodo_attach_tracee *e)
{
	struct { uint64_t area; uint32_t size, signature, flags, pad; } config = { 0 };
	struct { uint32_t version, flags; uint64_t start, length, abort; } section;
	uint64_t pointer = 0;

	if (ptrace(GET_RSEQ_CONFIGURATION, e->tid, sizeof(config), &config) < 0 || !config.area)
		return false;
	if (!hodo_attach_read(e->target, config.area + 8, &pointer, sizeof(pointer)) || !pointer)
		return false;
	if (!hodo_attach_read(e->target, pointer, &section, sizeof(section)))
		return true;
	return e->regs.rip - section.start < section.length;
}

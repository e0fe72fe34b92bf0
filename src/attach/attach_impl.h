/* SPDX-License-Identifier: MIT */
/*
 * attach_impl.h - what the files of attach share. docs/design/attach.md describes the whole.
 *
 *	target.c     what is known of the process from /proc, and what speaks against it
 *	object.c     the ELF objects mapped there: functions by name and by address
 *	names.c      functions that hold locks that we would wait for
 *	unwind.c     whether a thread's stack is free of such functions
 *	tracee.c     one stopped thread: registers, signals, restarting system calls, signal frames
 *	call.c       calls made in it that find their way back without us
 *	load.c       all together
 *	stop_threads.c  all threads, stopped while code is written
 *	without_terminal.c  in a process of its own: the threads go on if that one is killed
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <base/why.h>
#include <elf/symbols.h>
#include <proc/maps.h>
#include <proc/process.h>

#include "attach.h"

#define HODO_ATTACH_MAPS_MAX    (1u << 20)
#define HODO_ATTACH_THREADS_MAX 4096u
#define HODO_ATTACH_XSTATE_MAX  (16u << 10)

/* ------------------------------------------------------------------- target */

enum hodo_attach_kind {
	HODO_ATTACH_OTHER = 0,
	HODO_ATTACH_LIBC,
	HODO_ATTACH_LOADER,
	HODO_ATTACH_ALLOCATOR,
	HODO_ATTACH_HODO
};

struct hodo_attach_function {
	const char *name;
	bool unsafe; /* a thread in it must not make our calls (names.c) */
};

struct hodo_attach_object {
	uint64_t start, end;   /* span of its mappings */
	uint64_t bias;         /* address in the process less that in the file */
	const char *name;      /* from maps */
	enum hodo_attach_kind kind;
	struct hodo_elf file;  /* fd -1: made from memory */
	void *image;
	struct hodo_elf_symbols symbols;
};

struct hodo_attach_target {
	pid_t pid;
	int pidfd;
	uint64_t start_time;
	char auxv[1024]; /* changes with every exec */
	ssize_t auxv_len;
	uint64_t loader_base, vdso_base;
	struct hodo_proc_maps lines; /* which maps are of */
	struct hodo_proc_map *maps;
	uint32_t nmaps;
	struct hodo_attach_object *objects; /* ascending */
	uint32_t nobjects;
	struct hodo_attach_object *libc, *hodo;
	struct hodo_why *why;
};

/* target.c. All: 0 or negative errno and why. */
int hodo_attach_target_open(struct hodo_attach_target *t);
void hodo_attach_target_close(struct hodo_attach_target *t);
bool hodo_attach_alive(int pidfd);
bool hodo_attach_target_same(const struct hodo_attach_target *t); /* the same process, and no exec since */
int hodo_attach_target_sees(struct hodo_attach_target *t, const char *library);
int hodo_attach_read_maps(struct hodo_attach_target *t);
const struct hodo_proc_map *hodo_attach_map_at(const struct hodo_attach_target *t, uint64_t address);
bool hodo_attach_read(const struct hodo_attach_target *t, uint64_t from, void *to, size_t len);
bool hodo_attach_write(const struct hodo_attach_target *t, uint64_t to, const void *from, size_t len);
/* object.c */
int hodo_attach_objects_open(struct hodo_attach_target *t);
void hodo_attach_objects_close(struct hodo_attach_target *t);
struct hodo_attach_object *hodo_attach_object_at(const struct hodo_attach_target *t, uint64_t address);
/* The function around an address of the process. false: not known. */
bool hodo_attach_function_at(const struct hodo_attach_object *o, uint64_t address, struct hodo_attach_function *f);
/* Address in the process of a function or data, and its size, which may be NULL; 0: none with that name. */
uint64_t hodo_attach_symbol(const struct hodo_attach_object *o, const char *name, uint64_t *size);
/* Where these bytes are in executable memory of the object; 0: nowhere. */
uint64_t hodo_attach_bytes(const struct hodo_attach_target *t, const struct hodo_attach_object *o, const void *bytes,
			   size_t len);

/* names.c */
bool hodo_attach_name_unsafe(const char *name);
enum hodo_attach_kind hodo_attach_object_kind(const char *path);

/* ------------------------------------------------------------------- tracee */

struct hodo_attach_tracee {
	struct hodo_attach_target *target;
	pid_t tid;
	bool seized;
	struct user_regs_struct regs; /* as when it was stopped */
	uint64_t mask;                /* the signal mask when it was stopped; set by the program */
	uint32_t xstate_size;
	uint8_t xstate[HODO_ATTACH_XSTATE_MAX] __attribute__((aligned(64)));
	uint64_t caught, ignored;     /* of the process */
	bool genuine;                 /* a signal of the program is pending */
	uint64_t held;                /* signals that came meanwhile, to be sent again */
	int64_t since;                /* CLOCK_MONOTONIC at the present stop */
	struct hodo_attach_done *done;
};

/* frames.c: removes signals from the masks that the handlers of a stopped thread restore when they return.
 * mem: the process's. 0 or negative errno. */
int hodo_attach_clean_frames(int mem, const struct hodo_attach_tracee *e, uint64_t unblocked);

/* Stops the thread. 0; -EAGAIN not now; -ESRCH it has exited; another negative errno. */
int hodo_attach_tracee_stop(struct hodo_attach_tracee *e);
/* Resumes it as if it had not been stopped. */
int hodo_attach_tracee_release(struct hodo_attach_tracee *e);
#define HODO_ATTACH_SYSCALL (SIGTRAP | 0x80) /* of PTRACE_O_TRACESYSGOOD */
/*
 * Resumes it by PTRACE_CONT or PTRACE_SYSCALL until it stops. Returns the signal that it is about to take,
 * HODO_ATTACH_SYSCALL at the entry and exit of a system call, 0: in PTRACE_EVENT_STOP; -ESRCH; -ETIMEDOUT.
 */
int hodo_attach_tracee_go_on(struct hodo_attach_tracee *e, enum __ptrace_request request, int deliver);
bool hodo_attach_tracee_is_fault(const struct hodo_attach_tracee *e, int signal); /* caused by the code itself */
/* Makes the thread enter again, from its instruction, a system call that the kernel would restart. False: it
 * is in none. */
bool hodo_attach_tracee_again(struct hodo_attach_tracee *e);
bool hodo_attach_tracee_set_regs(const struct hodo_attach_tracee *e, const struct user_regs_struct *regs);
bool hodo_attach_tracee_set_mask(const struct hodo_attach_tracee *e, uint64_t mask);
/* The vector state in XSAVE's layout: e->xstate_size bytes; it says which components are in use. Without
 * XSAVE, it has FXSAVE's layout, and does not say what is in use. */
#define HODO_ATTACH_FXSAVE 512
#define HODO_ATTACH_VECTORS_USED 512
bool hodo_attach_tracee_set_vectors(const struct hodo_attach_tracee *e, const uint8_t *xstate);
int hodo_attach_tracee_save(struct hodo_attach_tracee *e); /* the vector registers */
/* Registers with which the thread continues by itself, as the kernel would set them for a handler's return. */
void hodo_attach_tracee_resumed(const struct hodo_attach_tracee *e, struct user_regs_struct *regs);
bool hodo_attach_tracee_in_rseq(const struct hodo_attach_tracee *e);

/* What rt_sigreturn reads, in the kernel's layout (asm/ucontext.h, asm/sigcontext.h). */
struct hodo_attach_frame {
	uint64_t flags, link, stack, stack_flags, stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2, fpstate, reserved[8];
	uint64_t mask;
};
_Static_assert(sizeof(struct hodo_attach_frame) == 304, "ucontext is frozen");
#define HODO_ATTACH_FRAME_FLAGS 7 /* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */

/* vectors: the address in the process of what follows. */
void hodo_attach_frame_fill(struct hodo_attach_frame *f, const struct user_regs_struct *regs, uint64_t mask,
			    uint64_t vectors);
/* The saved vector registers: at most four bytes longer than e->xstate. */
void hodo_attach_frame_vectors(uint8_t *to, const struct hodo_attach_tracee *e);

/* -------------------------------------------------------------------- apart */

struct hodo_attach_answer {
	struct hodo_attach_done done;
	int error;
	struct hodo_why why;
	bool complete;
};
/* Calls run in a child, with ticks that bound every wait, and returns its answer. */
int hodo_attach_apart(pid_t pid, void (*run)(void *arg, struct hodo_attach_answer *a), void *arg,
		      struct hodo_attach_done *done, struct hodo_why *why);
/* Call in the child before threads are stopped: until then, it lets others run now and then. */
void hodo_attach_hurry(void);

/* ------------------------------------------------------------------- unwind */

struct hodo_attach_unwind;
struct hodo_attach_stack {
	bool whole;        /* unwound to its end */
	bool ordinary;     /* a single stack, which begins in libc's or the kernel's start function */
	uint64_t top;      /* after its highest frame */
	char reason[128];  /* why it is not safe; "" if it is */
};
/* Reads as much as possible before a thread is stopped. NULL: no memory. */
struct hodo_attach_unwind *hodo_attach_unwind_open(struct hodo_attach_target *t);
void hodo_attach_unwind_close(struct hodo_attach_unwind *u);
/* True: no function on the thread's stack holds a lock of the loader or an allocator. */
bool hodo_attach_unwind_safe(struct hodo_attach_unwind *u, const struct hodo_attach_tracee *e,
			     struct hodo_attach_stack *stack);

/* --------------------------------------------------------------------- call */

/* Addresses in the process that a call needs. */
struct hodo_attach_places {
	uint64_t syscall_return; /* the instructions syscall; ret */
	uint64_t pop_rdi_return; /* pop %rdi; ret */
	uint64_t restorer;       /* mov $15, %rax; syscall */
	uint64_t raise, dlopen, dlerror;
	uint64_t syscall;        /* 0: a static program without it */
	int64_t errno_offset;    /* from the thread pointer; 0: not known */
	uint64_t attach;         /* hodo_attach_(), 0: not loaded yet */
	uint64_t attach_offset;  /* its address in the library's file */
	uint64_t loader_data, loader_size; /* contain the loader's locks; 0: not known */
	const char *library;     /* absolute, as the process sees it */
	bool copied;             /* it is a copy, whose name no other file has */
};
/* Whether a thread of the process is inside the loader, or ended there. */
bool hodo_attach_loader_locked(const struct hodo_attach_target *t, const struct hodo_attach_places *p);
/* copy: the path of a copy of the library that the process sees, or NULL. */
int hodo_attach_places_find(struct hodo_attach_target *t, struct hodo_attach_places *p, const char *library,
			    const char *copy);
/*
 * The thread is at a safe place: loads the library if necessary, and calls hodo_attach_(), whose answer this
 * gives. Leaves the thread where it was, still stopped, except after -ESRCH and -ETIMEDOUT.
 */
int hodo_attach_call(struct hodo_attach_tracee *e, const struct hodo_attach_places *p,
		     const struct hodo_attach_stack *stack, int64_t answer[3]);

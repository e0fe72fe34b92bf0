/* SPDX-License-Identifier: MIT */
/*
 * hodo/abi_plan.h - the frozen part, continued: a plan, which says what a process must patch in code that
 * nobody prepared. It is made by whoever has decoded that code (docs/design/probes.md), and handed over as a
 * file.
 *
 * The file is a struct hodo_plan, the tables that it names, and the pages of the slots. All addresses are
 * those of the process. Tables begin at multiples of 8, pages at multiples of HODO_PAGE.
 */
#ifndef HODO_ABI_PLAN_H
#define HODO_ABI_PLAN_H

#include <hodo/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HODO_PLAN_MAGIC "hodoplan"
#define HODO_PLAN_BYTES_MAX (1ull << 30)
#define HODO_PLAN_WINDOW_BYTES 20u

struct hodo_plan_table {
	uint64_t offset; /* in the file */
	uint32_t n;
	uint32_t reserved;
};

struct hodo_plan {
	char magic[8];
	uint32_t version; /* HODO_ABI_VERSION */
	uint32_t reserved;
	uint64_t bytes;   /* of the file */
	struct hodo_plan_table pages;     /* struct hodo_plan_pages, by address */
	struct hodo_plan_table windows;   /* struct hodo_plan_window, by address, without overlap */
	struct hodo_plan_table traps;     /* struct hodo_plan_trap, by address */
	struct hodo_plan_table fixes;     /* struct hodo_plan_fix */
	struct hodo_plan_table functions; /* struct hodo_plan_function, by address */
	struct hodo_plan_table events;    /* struct hodo_plan_event */
	struct hodo_plan_table frames;    /* struct hodo_plan_frame, by slot */
	struct hodo_plan_table replacements; /* struct hodo_plan_replacement */
};
HODO_ASSERT_SIZE_(struct hodo_plan, 152);

/* Pages that nothing else may be in: of slots, which are executed, or of data that slots refer to, which is
 * written. */
#define HODO_PLAN_DATA 1u
struct hodo_plan_pages {
	uint64_t addr;
	uint64_t offset; /* of their contents in the file */
	uint64_t bytes;
	uint32_t flags; /* HODO_PLAN_DATA */
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_plan_pages, 32);

/*
 * What is replaced: the first byte by int3, and then, in a window that gets a jump, the first five by a jump.
 * Each of these bytes on which an instruction begins traps, in the jump as well.
 */
#define HODO_PLAN_JUMP 1u   /* otherwise it stays a breakpoint */
#define HODO_PLAN_ALWAYS 2u /* a system call that may change a signal mask: set before all others; stays */
#define HODO_PLAN_STAYS 4u  /* called by unwinders: set with the first others if it is as planned; stays */
#define HODO_PLAN_EVENT 8u  /* belongs to an event, not to a function */
#define HODO_PLAN_LANDING 16u /* a thread lands there (HODO_IMPORT_LANDED): set while functions are traced */
struct hodo_plan_window {
	uint64_t addr;
	uint8_t len;        /* how many bytes must be as here */
	uint8_t flags;      /* HODO_PLAN_* */
	uint8_t boundaries; /* bit k: an instruction begins at byte k, 1 to 4 */
	uint8_t jump[5];    /* E9 and the distance */
	uint8_t bytes[HODO_PLAN_WINDOW_BYTES];
	uint8_t reserved[4];
};
HODO_ASSERT_SIZE_(struct hodo_plan_window, 40);

/*
 * Comes after the instruction with which a thread in libhodo makes a system call of such a window. The thread
 * holds nothing of libhodo meanwhile, and may wait there forever. A no-op, with a number that no other no-op
 * has.
 */
#define HODO_PLAN_CALL_MARK "nopl 0x6f646f68(%%rax)"
#define HODO_PLAN_CALL_MARK_BYTES "\x0f\x1f\x80hodo"

/* A thread that traps at from goes on at to, in a slot. One for each instruction that begins in the first 5
 * bytes. */
struct hodo_plan_trap {
	uint64_t from, to;
};
HODO_ASSERT_SIZE_(struct hodo_plan_trap, 16);

/* An address in libhodo that slots go through: 8 bytes in pages of data. */
enum hodo_plan_import {
	HODO_IMPORT_ENTRY = 0,   /* a function's entry */
	HODO_IMPORT_EXIT = 1,    /* its exit */
	HODO_IMPORT_SYSCALL = 2, /* a system call: jumped to, rcx the address after the slot's own one */
	HODO_IMPORT_SITE = 3,    /* an event, as from sites (hodo/trace_user.h): r11 values, r10 way back */
	HODO_IMPORT_READ = 4,    /* reads memory that may not be there, for an event's values: called */
	HODO_IMPORT_FIND = 5,    /* _dl_find_object(): jumped to, with the copy of its first instruction in r11 */
	HODO_IMPORT_CALL_BEGIN = 6, /* for a function whose exits are events: called, rax, r11 as below */
	HODO_IMPORT_CALL_END = 7,   /* at an exit of such a function: called, rax, r11 as below */
	HODO_IMPORT_START = 8, /* the program's start: asks for another plan. Called; changes no register */
	HODO_IMPORT_LANDED = 9, /* calls are left, such as by an exception: called, rax, r11 as below */
	HODO_PLAN_IMPORTS = 10
};
/*
 * HODO_IMPORT_READ: rax is the source, r10 the destination, r11 the number of bytes, or, with
 * HODO_PLAN_READ_TEXT, the most that a string has; then there is room for at least 8. rax becomes the number
 * of bytes, for a string up to its NUL. If the memory cannot be read, that is 0, a string becomes "(fault)",
 * and a string at 0 gives r10 = 0. All other registers are preserved.
 */
#define HODO_PLAN_READ_TEXT 0x80000000u
/*
 * HODO_IMPORT_CALL_BEGIN, HODO_IMPORT_CALL_END: rax is the address of the call's return address, r11 any
 * number that identifies the function. At the end, rax becomes its duration in ns, or -1 if its start was not
 * seen. All other registers are preserved.
 */

/*
 * HODO_IMPORT_LANDED: at the entry of a function by which calls are left. rax is where its return address stands, r11
 * its address and, in the eight highest bits, what it says of where the thread goes on. All registers are kept but
 * rax, r11 and the flags.
 */
enum hodo_plan_landing {
	HODO_LANDING_HERE = 0,    /* the function was called there: __cxa_begin_catch(), _Unwind_Resume() */
	HODO_LANDING_JUMP = 1,    /* where its first argument says, a jmp_buf */
	HODO_LANDING_CONTEXT = 2, /* where its first argument says, a ucontext_t, maybe of another stack */
	HODO_LANDING_CONTEXT_2 = 3, /* where its second argument says, a ucontext_t, maybe of another stack */
	HODO_LANDINGS = 4
};
#define HODO_LANDING_SHIFT 56

struct hodo_plan_fix {
	uint64_t addr;   /* a multiple of 8 */
	uint32_t import; /* enum hodo_plan_import */
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_plan_fix, 16);

/*
 * A function whose calls can be traced. Its slots have a call, followed by a no-op with a number:
 *
 *	ff 15 disp32            call *disp32(%rip)       a fix
 *	0f 1f 80 number         nopl number(%rax)
 *
 * The address that the call returns to plus the number is an address in the function.
 *
 * Without an entry and without exits: a function that its compiler left slots in. These are used, where the recording's
 * patterns name files of source, of which the process knows nothing.
 */
struct hodo_plan_function {
	uint64_t addr;   /* of its first instruction */
	uint32_t entry;  /* its window; HODO_PLAN_NO_WINDOW: none */
	uint32_t exits;  /* how many windows have its exits; the entry's may be one of them */
	uint32_t first;  /* of these */
	uint32_t missed; /* exits that cannot have one */
};
#define HODO_PLAN_NO_WINDOW UINT32_MAX
HODO_ASSERT_SIZE_(struct hodo_plan_function, 24);

/*
 * What an event's code refers to. Zero in the file, except `outline`, which is 2, and the members after the
 * state: where the program is while a slot runs for it.
 */
struct hodo_plan_state {
	struct hodo_state state;
	uint64_t ip;    /* after the first byte of the instruction */
	uint32_t stack; /* its stack pointer is this many bytes above the slot's */
	uint32_t counted; /* 1: the event's semaphore is up for it */
};
HODO_ASSERT_SIZE_(struct hodo_plan_state, sizeof(struct hodo_state) + 16);

/*
 * An event that happens at one window, at several, or several times at one: then it is here several times,
 * each time with its own state. For an event at a function's exits, the entry's window is one of these.
 */
struct hodo_plan_event {
	uint64_t desc;   /* in the file: struct hodo_desc, HODO_KIND_EVENT; all strings have a length */
	uint64_t state;  /* struct hodo_plan_state, in pages of data */
	uint64_t semaphore; /* of the program: a uint16_t that is 1 greater while the event is recorded; 0: none */
	uint32_t bytes;  /* of the descriptor */
	uint32_t window;
};
HODO_ASSERT_SIZE_(struct hodo_plan_event, 32);

/*
 * A function in whose place another one is called while the recording goes on. Its slot ends with a jump to
 * that one, followed by code that still calls the original. Or: where the program begins (HODO_IMPORT_START).
 */
struct hodo_plan_replacement {
	uint64_t original; /* of the program: a pointer that is set to `first` before; 0: none */
	uint64_t first;    /* in a slot */
	uint32_t window;
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_plan_replacement, 24);

/* What an unwinder needs to know about a slot: an .eh_frame_hdr, which leads to exactly one description. */
struct hodo_plan_frame {
	uint64_t slot;
	uint64_t header; /* in the file */
	uint32_t bytes;  /* of the slot's code */
	uint32_t window; /* that leads there */
};
HODO_ASSERT_SIZE_(struct hodo_plan_frame, 24);
#define HODO_PLAN_FRAME_HEADER_BYTES 8u

/*
 * How a process gets its plan, between its configuration and its buffers (hodo/abi.h, section 4), unless it
 * is a forked child, which has its parent's code:
 *
 *   process -> recorder   hodo_msg_plan: it asks for one
 *   recorder -> process   hodo_msg_plan + the file (SCM_RIGHTS), or without: it has none
 *   process -> recorder   hodo_msg_planned
 *
 * If functions of a library are to be called in place of others, the first answer may be hodo_msg_plan with
 * `load`: the process loads these libraries if it can, and asks once more. It cannot while it starts, before
 * libc is there: then the plan makes it ask for another one where the program begins.
 *
 * The same happens during the recording whenever libraries have been opened, on a separate connection: hello
 * (HODO_START_OPENED) and the configuration, as at the start, and then the same messages, with the new
 * objects.
 *
 * With the result -EINPROGRESS, the recorder must stop all threads of the process, set the windows that are
 * HODO_PLAN_ALWAYS, and unblock SIGTRAP and SIGILL in each thread; the second and third message follow once
 * more, without a file. With the result -EEXIST, something (for example a thread's stack) has taken the place
 * of pages since the plan was made: the process asks once more, HODO_PLAN_TRIES times in all.
 */
#define HODO_PLAN_TRIES 4 /* one of them may be answered with libraries to load */
#define HODO_PLAN_TIMEOUT_MS 30000 /* for the recorder to make one */
#define HODO_OPENED_TIMEOUT_MS 5000 /* during the recording: dlopen() waits */
#define HODO_PLAN_LOAD_MAX 4096u
struct hodo_msg_plan {
	struct hodo_msg head;
	char load[HODO_PLAN_LOAD_MAX]; /* sent up to its NUL, or not at all: paths, each with a newline */
};

/* The process's question: for everything that it has mapped, or for part of it. */
#define HODO_PLAN_OBJECTS_MAX 64u
struct hodo_plan_object {
	uint64_t start, end; /* of its code */
};
struct hodo_msg_ask {
	struct hodo_msg head; /* HODO_MSG_PLAN */
	uint32_t n; /* 0: all */
	uint32_t reserved;
	struct hodo_plan_object object[HODO_PLAN_OBJECTS_MAX]; /* n are sent */
};
HODO_ASSERT_SIZE_(struct hodo_msg_ask, 16 + 16 * HODO_PLAN_OBJECTS_MAX);
struct hodo_msg_planned {
	struct hodo_msg head;
	int32_t result;     /* 0: it was adopted, or there was none; or negative errno */
	uint32_t functions; /* functions of the plan that can be traced */
	uint32_t refused;   /* functions that are not as planned */
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_msg_planned, 24);

#ifdef __cplusplus
}
#endif
#endif

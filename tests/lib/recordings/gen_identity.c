/* SPDX-License-Identifier: MIT */
/* gen_identity.c - see gen_identity.h. */
#include "gen_identity.h"

#include "gen.h"
#include <string.h>

#define ORIGIN 1795000000ll

/*
 * Spans whose ids are easily confused: texts with the same FNV-1a-64, bytes that begin with NULs, NULL and the text
 * that stands for it, numbers of all widths. All begin, then all end in the same order, so that a reader that takes
 * one id for another pairs wrongly.
 */
void gen_ids(const char *top)
{
	static const char *const names[] = { "text", "blob", "number", "list", "mixed" };
	static const struct gen_field ids[] = {
		{ "id", HODO_TYPE_STR }, { "id", HODO_TYPE_STR }, { "id", HODO_TYPE_BYTES }, { "id", HODO_TYPE_BYTES },
		{ "id", HODO_TYPE_I32 }, { "id", HODO_TYPE_U64 }, { "id", HODO_TYPE_U8 | HODO_TYPE_ARRAY },
		{ "id", HODO_TYPE_U8 | HODO_TYPE_ARRAY }, { "id", HODO_TYPE_STR }, { "id", HODO_TYPE_BYTES },
	};
	static const char *const text[] = { "8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ", NULL, "(null)", "" };
	static const uint8_t blob[] = { 0, 0, 5 };
	struct gen_trace t;
	struct gen_stream s;
	uint64_t now = 1000;
	char name[32];

	gen_trace_start(&t, top, "ids-1", "ids", 1, "discard", 1000000000, ORIGIN, 0);
	for (unsigned i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "kv:%s.%s", names[i / 2], i % 2 ? "end" : "begin");
		gen_class(&t, 1 + i, name, i % 2 ? "end" : "begin", "", &ids[i], 1);
	}
	gen_trace_end(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, now);
	for (unsigned end = 0; end < 2; end++) {
		for (unsigned i = 0; i < 5; i++) {
			gen_event(&s, 1 + end, 1, now += 10 + i);
			gen_str(&s, text[i]);
		}
		for (unsigned i = 0; i < 6; i++) {
			gen_event(&s, (i % 2 ? 3 : 7) + end, 1, now += 20 + i);
			gen_array(&s, blob + i / 2, 3 - i / 2, 1);
		}
		for (unsigned i = 0; i < 4; i++) {
			gen_event(&s, 5 + end, 1, now += 40 + i);
			gen_u32(&s, i < 2 ? i : UINT32_MAX);
			if (end)
				gen_u32(&s, i < 3 ? 0 : UINT32_MAX); /* as 64 bits, neither is -1 */
		}
		gen_event(&s, 9 + end, 1, now += 50);
		gen_put(&s, end ? "\4\0\0\0text" : "\4\0text", end ? 8 : 6); /* a length, and as many bytes */
	}
	gen_packet_end(&s, now, 0);
	gen_stream_end(&s);
}

/* ------------------------------------------------------------------------ names */

enum { SWITCH = 1, WAKEUP_NEW, WAKING, RENAME, EXECUTE, ENTER_READ, EXIT_READ };

#define SHELL 1000u
#define CHILD 1001u

static void put_comm(struct gen_stream *s, const char *comm)
{
	char text[16] = "";

	strncpy(text, comm, sizeof(text) - 1);
	gen_str_n(s, text, sizeof(text)); /* as the kernel records it, with NULs */
}

static void put_switch(struct gen_stream *s, uint64_t now, uint32_t prev, const char *prev_comm, uint32_t next,
		       const char *next_comm)
{
	gen_event(s, SWITCH, prev, now);
	gen_u32(s, prev);
	gen_u64(s, 1);
	gen_u32(s, next);
	put_comm(s, prev_comm);
	put_comm(s, next_comm);
}

static void put_thread(struct gen_stream *s, unsigned id, uint64_t now, uint32_t by, uint32_t tid, const char *comm)
{
	gen_event(s, id, by, now);
	gen_u32(s, tid);
	put_comm(s, comm);
}

static void put_read(struct gen_stream *s, uint64_t now, uint32_t tid)
{
	gen_event(s, ENTER_READ, tid, now);
	gen_u64(s, 0);
	gen_event(s, EXIT_READ, tid, now + 10);
	gen_u64(s, 0);
}

/* A shell forks, and the child executes ls during a system call; later the child calls itself "sorting". */
void gen_names(const char *top)
{
	static const struct gen_field change[] = {
		{ "prev_pid", HODO_TYPE_I32 },  { "prev_state", HODO_TYPE_I64 }, { "next_pid", HODO_TYPE_I32 },
		{ "prev_comm", HODO_TYPE_STR }, { "next_comm", HODO_TYPE_STR },
	};
	static const struct gen_field wake[] = { { "pid", HODO_TYPE_I32 }, { "comm", HODO_TYPE_STR } };
	static const struct gen_field rename[] = { { "pid", HODO_TYPE_I32 }, { "newcomm", HODO_TYPE_STR } };
	static const struct gen_field execute[] = {
		{ "filename", HODO_TYPE_STR }, { "pid", HODO_TYPE_I32 }, { "old_pid", HODO_TYPE_I32 },
	};
	static const struct gen_field nr[] = { { "fd", HODO_TYPE_U64 } };
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "kernel", "kernel", 0, "discard", 1000000000, ORIGIN, 0);
	gen_comment(&t, "kernel release=6.1.0-test");
	gen_class(&t, SWITCH, "sched:sched_switch", "tracepoint", "", change, 5);
	gen_class(&t, WAKEUP_NEW, "sched:sched_wakeup_new", "tracepoint", "", wake, 2);
	gen_class(&t, WAKING, "sched:sched_waking", "tracepoint", "", wake, 2);
	gen_class(&t, RENAME, "task:task_rename", "tracepoint", "", rename, 2);
	gen_class(&t, EXECUTE, "sched:sched_process_exec", "tracepoint", "", execute, 3);
	gen_class(&t, ENTER_READ, "syscalls:sys_enter_read", "tracepoint", "", nr, 1);
	gen_class(&t, EXIT_READ, "syscalls:sys_exit_read", "tracepoint", "", nr, 1);
	gen_comment(&t, "thread tid=%u comm=sh pid=%u", SHELL, SHELL);
	gen_comment(&t, "thread tid=%u comm=sorting pid=%u", CHILD, CHILD);
	gen_comment(&t, "end time=%lld.000000000", ORIGIN + 100);
	gen_trace_end(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	put_thread(&s, WAKEUP_NEW, 1100, SHELL, CHILD, "sh");
	put_switch(&s, 1200, SHELL, "sh", CHILD, "sh");
	put_read(&s, 1300, CHILD);
	gen_event(&s, EXECUTE, CHILD, 1400);
	gen_str(&s, "/usr/bin/ls");
	gen_u32(&s, CHILD);
	gen_u32(&s, CHILD);
	put_read(&s, 1500, CHILD);
	put_switch(&s, 1600, CHILD, "ls", SHELL, "sh");
	put_thread(&s, WAKING, 1700, SHELL, CHILD, "ls");
	put_switch(&s, 1800, SHELL, "sh", CHILD, "ls");
	put_thread(&s, RENAME, 1900, CHILD, CHILD, "sorting");
	put_read(&s, 2000, CHILD);
	put_switch(&s, 2100, CHILD, "sorting", SHELL, "sh");
	gen_packet_end(&s, 3000, 0);
	gen_stream_end(&s);
}

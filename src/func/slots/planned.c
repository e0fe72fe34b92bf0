/* SPDX-License-Identifier: MIT */
/*
 * planned.c - functions of unprepared code: a plan (hodo/abi_plan.h) says where their slots are, and the
 * engine puts windows there that lead to these. The plan's author has chosen the functions, so all of them
 * are wanted in its recording (select.c). Functions without windows in it have slots of their own. Under the
 * control lock.
 */
#include <func/engine/engine.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "near.h"
#include <user/objects/objects.h>
#include <user/user.h>
#include <func/dispatch.h>
#include <func/tracers/tracers.h>
#include "slots.h"

static uint32_t plans; /* received, or reported as empty */

static const struct hodo_plan_window *window(unsigned plan, uint32_t i)
{
	return i == HODO_PLAN_NO_WINDOW ? 0 : hodo_engine_window(plan, i);
}

/* Drops those of earlier plans, which nobody wants any more. */
static void drop(struct hodo_func_object *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->nslots; i++) {
		if (o->slots[i].kind < HODO_SLOT_PLANNED)
			o->slots[kept++] = o->slots[i];
		else
			hodo_engine_want(o->text + o->slots[i].addr, HODO_ENGINE_WANTED, false);
	}
	o->nslots = kept;
}

/* Windows of system calls and events may lie between a function's windows. */
static void add_exits(struct hodo_scan *scan, unsigned plan, const struct hodo_plan_function *f,
		      enum hodo_slot_kind kind)
{
	for (uint32_t i = f->first; i < f->first + f->exits; i++) {
		const struct hodo_plan_window *w = i == f->entry ? 0 : window(plan, i);

		if (w && !(w->flags & (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS | HODO_PLAN_EVENT)))
			hodo_scan_add(scan, w->addr, f->addr, kind, HODO_AT_EXIT, 1, 0);
	}
}

static void add_function(struct hodo_scan *scan, unsigned plan, const struct hodo_plan_function *f)
{
	const struct hodo_plan_window *entry = window(plan, f->entry);

	if (f->entry == HODO_PLAN_NO_WINDOW)
		add_exits(scan, plan, f, HODO_SLOT_PLANNED_PART);
	else if (entry && hodo_scan_add(scan, entry->addr, f->addr, HODO_SLOT_PLANNED, HODO_AT_ENTRY, 1, 0))
		add_exits(scan, plan, f, HODO_SLOT_PLANNED);
}

void hodo_scan_planned(struct hodo_scan *scan)
{
	struct hodo_func_object *o = scan->object;
	const struct hodo_plan_function *functions;
	uint32_t n;

	drop(o);
	for (unsigned plan = 0; (functions = hodo_engine_functions(plan, &n)) != 0; plan++) {
		uint32_t i = hodo_search(k, n, functions[k].addr >= o->text);

		for (; i < n && functions[i].addr < o->text_end; i++)
			add_function(scan, plan, &functions[i]);
	}
	o->plans = plans;
}

/* In some plan; NULL: in none. */
static const struct hodo_plan_function *find(uintptr_t function, bool with_window)
{
	const struct hodo_plan_function *functions;
	uint32_t n;

	for (unsigned plan = 0; (functions = hodo_engine_functions(plan, &n)) != 0; plan++) {
		uint32_t i = hodo_search(k, n, functions[k].addr >= function);

		if (i < n && functions[i].addr == function &&
		    (with_window ? window(plan, functions[i].entry) != 0 :
				   functions[i].entry == HODO_PLAN_NO_WINDOW && !functions[i].exits))
			return &functions[i];
	}
	return 0;
}

bool hodo_planned_has(uintptr_t function)
{
	return find(function, true) != 0;
}

bool hodo_planned_chose(uintptr_t function)
{
	return find(function, false) != 0;
}

bool hodo_planned_known(const struct hodo_func_object *o)
{
	return o->plans == plans;
}

/* Counts functions whose entry is as planned, and those where it is not. */
static void count(uint32_t *fine, uint32_t *refused)
{
	const struct hodo_plan_function *functions;
	uint32_t n;

	for (unsigned plan = 0; (functions = hodo_engine_functions(plan, &n)) != 0; plan++) {
		for (uint32_t i = 0; i < n; i++) {
			if (functions[i].entry != HODO_PLAN_NO_WINDOW)
				++*(window(plan, functions[i].entry) ? fine : refused);
		}
	}
}

static int take(int file, bool more, uint32_t *functions, uint32_t *refused)
{
	uintptr_t stubs = (uintptr_t)hodo_x86_near;
	int error;

	hodo_engine_import(HODO_IMPORT_ENTRY, stubs + HODO_HOOK_PLANNED_ENTRY * HODO_NEAR_STUB_BYTES);
	hodo_engine_import(HODO_IMPORT_EXIT, stubs + HODO_HOOK_PLANNED_EXIT * HODO_NEAR_STUB_BYTES);
	hodo_engine_gives_up = hodo_planned_given_up;
	hodo_engine_import(HODO_IMPORT_CALL_BEGIN, (uintptr_t)hodo_x86_duration_begin);
	hodo_engine_import(HODO_IMPORT_CALL_END, (uintptr_t)hodo_x86_duration_end);
	hodo_engine_import(HODO_IMPORT_LANDED, (uintptr_t)hodo_x86_landed);
	error = hodo_loader_blind ? -EOPNOTSUPP : hodo_engine_take(file, more);
	if (!error || error == -EINPROGRESS)
		count(functions, refused);
	if (*functions) /* before an event's window may be where slots are looked for */
		hodo_func_want();
	return error;
}

/* Another plan needs to be applied only to the objects that it covers. */
static void keep_known(void)
{
	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		struct hodo_func_object *o = &hodo_func_objects[i];

		o->plans += o->in_use && o->plans == plans && !hodo_engine_is_about(o->text, o->text_end);
	}
}

/*
 * Handles what the recorder has sent: a plan, that there is none, or that the threads have been stopped for
 * the last one. In a recording that has begun, it is an additional plan, or (anew) replaces all; its windows
 * are on when this returns.
 */
static int go_on(int file, enum hodo_plan_step step, struct hodo_msg_planned *planned)
{
	const bool begun = hodo_recording.on, more = begun && !(step & HODO_PLAN_ANEW), stood = step & HODO_PLAN_STOOD;
	const bool none = file < 0 && !stood;
	int error = 0;

	if (stood)
		error = hodo_engine_guard();
	else if (file >= 0)
		error = take(file, more, &planned->functions, &planned->refused);
	if ((error && error != -EINPROGRESS && !begun) || (none && !more))
		hodo_engine_absent();
	if (error == -EINPROGRESS || (error && begun) || (more && none))
		return error;
	if (more)
		keep_known();
	plans++;
	/* Before functions: otherwise, a window that has both would be on only for those. */
	if (begun && !more)
		hodo_engine_recording();
	if (hodo_func_wanted)
		hodo_objects_scan();
	if (begun)
		hodo_engine_recording();
	return error;
}

/* ------------------------------------------------------------------- conversation */

static struct hodo_msg_plan message;

/* Bytes of the message, or negative errno. *file: the descriptor that came along, or -1. */
static long receive(int fd, int *file)
{
	struct iovec io = { &message, sizeof(message) };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = CMSG_LEN(sizeof(int)) }; /* only one: the kernel closes others */
	long n = hodo_sys3(SYS_recvmsg, fd, &msg, MSG_CMSG_CLOEXEC);

	*file = -1;
	if (n >= 0 && msg.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_level == SOL_SOCKET &&
	    control.head.cmsg_type == SCM_RIGHTS)
		__builtin_memcpy(file, CMSG_DATA(&control.head), sizeof(int));
	return n;
}

/* Whether the message names libraries to load. Their paths fill the rest of it. */
static bool is_load(long bytes, int file)
{
	long paths = bytes - (long)sizeof(message.head);

	return paths > 1 && file < 0 && !message.load[paths - 1];
}

int hodo_planned_answer(int fd, enum hodo_plan_step step, char load[HODO_PLAN_LOAD_MAX])
{
	struct hodo_msg_planned planned = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLANNED } };
	int file;
	long n = receive(fd, &file);
	bool sent = n >= (long)sizeof(message.head) && message.head.magic == HODO_MSG_MAGIC &&
		    message.head.type == HODO_MSG_PLAN, plan = sent && n == sizeof(message.head);

	if (sent && !(step & HODO_PLAN_STOOD) && is_load(n, file)) {
		__builtin_memcpy(load, message.load, (size_t)n - sizeof(message.head));
		return -ELIBACC;
	}
	if (plan)
		planned.result = go_on(file, step, &planned);
	if (file >= 0)
		hodo_sys1(SYS_close, file);
	if (!plan)
		return n < 0 ? (int)n : -ECONNREFUSED;
	n = hodo_sys6(SYS_sendto, fd, (long)&planned, sizeof(planned), MSG_NOSIGNAL, 0, 0);
	if (n < 0)
		return (int)n;
	return planned.result == -EINPROGRESS || planned.result == -EEXIST ? planned.result : 0;
}

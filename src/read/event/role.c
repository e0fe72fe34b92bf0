/* SPDX-License-Identifier: MIT */
/*
 * role.c - determines the roles of classes: instants, starts and ends of spans, values, calls; and the name
 * of a span.
 */
#include "role.h"
#include "threads.h"

#include <base/intern.h>
#include <base/scope.h>
#include <base/text.h>
#include <read/file/class.h>

#include <errno.h>
#include <string.h>

static const char syscall_entry[] = "syscalls:sys_enter_", syscall_exit[] = "syscalls:sys_exit_";

/* Further fields are ignored. */
static const struct function_event {
	const char *name;
	enum hodo_read_role role;
	enum hodo_call_event call;
	uint8_t types[5];
} function_events[] = {
	{ "func:entry", HODO_READ_ROLE_CALL_ENTRY, HODO_CALL_EVENT_ENTRY, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:exit", HODO_READ_ROLE_CALL_EXIT, HODO_CALL_EVENT_EXIT, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:entry_sp", HODO_READ_ROLE_CALL_ENTRY, HODO_CALL_EVENT_ENTRY_SP, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:exit_sp", HODO_READ_ROLE_CALL_EXIT, HODO_CALL_EVENT_EXIT_SP, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:reached", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_REACHED, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:landed", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_LANDED, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:switched", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_SWITCHED, { HODO_TYPE_PTR, HODO_TYPE_U32 } },
	{ "func:call", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_CALL,
	  { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_BOOL } },
	{ "func:open", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_OPEN,
	  { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U64 } },
	{ "func:callee", HODO_READ_ROLE_CALL, HODO_CALL_EVENT_CALLEE,
	  { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U64, HODO_TYPE_U64, HODO_TYPE_U64 } },
};

static enum hodo_read_role function_role(struct hodo_class *c)
{
	for (size_t i = 0; i < sizeof(function_events) / sizeof(*function_events); i++) {
		const struct function_event *f = &function_events[i];
		size_t n = 0;

		if (strcmp(c->pub.name, f->name) != 0)
			continue;
		while (n < sizeof(f->types) && f->types[n] && n < c->pub.nfields && c->types[n] == f->types[n])
			n++;
		if (n == sizeof(f->types) || !f->types[n])
			c->call = f->call;
		return f->role;
	}
	return HODO_READ_ROLE_POINT;
}

static enum hodo_read_role role_of(struct hodo_class *class, bool kernel)
{
	const struct hodo_read_class *c = &class->pub;

	switch (c->kind) {
	case HODO_KIND_SPAN_BEGIN:
		return HODO_READ_ROLE_SPAN_BEGIN;
	case HODO_KIND_SPAN_END:
		return HODO_READ_ROLE_SPAN_END;
	case HODO_KIND_BEGIN:
		return HODO_READ_ROLE_BEGIN;
	case HODO_KIND_END:
		return HODO_READ_ROLE_END;
	case HODO_KIND_COUNTER:
		return c->nfields ? HODO_READ_ROLE_COUNTER : HODO_READ_ROLE_POINT;
	case HODO_KIND_FUNCTION:
		return function_role(class);
	}
	if (kernel && strncmp(c->name, syscall_entry, sizeof(syscall_entry) - 1) == 0)
		return HODO_READ_ROLE_SYSCALL_BEGIN;
	if (kernel && strncmp(c->name, syscall_exit, sizeof(syscall_exit) - 1) == 0)
		return HODO_READ_ROLE_SYSCALL_END;
	return HODO_READ_ROLE_POINT;
}

/* The name that start and end events share: one text for all classes of the process with it. NULL: no memory. */
static const char *base_of(struct hodo_strings *bases, const struct hodo_read_class *c)
{
	bool begins = c->role == HODO_READ_ROLE_SPAN_BEGIN || c->role == HODO_READ_ROLE_BEGIN;
	bool ends = c->role == HODO_READ_ROLE_SPAN_END || c->role == HODO_READ_ROLE_END;
	const char *end = begins ? ".begin" : ends ? ".end" : "";
	size_t len = strlen(c->name), tail = strlen(end), cut = 0;
	HODO_AUTO(hodo_text_free) struct hodo_text base = { 0 };
	uint32_t i;

	if (len > tail && strcmp(c->name + len - tail, end) == 0)
		len -= tail;
	if (c->role == HODO_READ_ROLE_SYSCALL_BEGIN || c->role == HODO_READ_ROLE_SYSCALL_END) {
		cut = c->role == HODO_READ_ROLE_SYSCALL_BEGIN ? sizeof(syscall_entry) - 1 : sizeof(syscall_exit) - 1;
		hodo_text_add(&base, "syscalls:");
	}
	hodo_text_bytes(&base, c->name + cut, len - cut);
	i = base.error ? HODO_STRINGS_NONE : hodo_strings_add_bytes(bases, base.data, base.len);
	return i == HODO_STRINGS_NONE ? NULL : hodo_strings_at(bases, i);
}

/*
 * A start event and its end share an address inside an object that both have: the process, or the base name, a
 * single text in all classes of one process. Each kind of pairing has its own address there.
 */
static void bind_pairing(struct hodo_class *c, const struct hodo_read_process *p)
{
	enum { SYSCALL, CALL };               /* in the process */
	enum { SPAN, ID, NUMBER, NEGATIVE };  /* in the base name */
	uint32_t id = c->pub.nfields ? c->fields[0].type : HODO_TYPE_STR;
	bool integer = id <= HODO_TYPE_CHAR || id == HODO_TYPE_PTR;
	bool is_signed = id == HODO_TYPE_CHAR || (id <= HODO_TYPE_I64 && id % 2 != 0);
	uint64_t process = (uintptr_t)p, base = (uintptr_t)c->pub.base;

	_Static_assert(NEGATIVE == NUMBER + 1, "as hodo_pair_key() has it");
	switch (c->pub.role) {
	case HODO_READ_ROLE_SPAN_BEGIN:
	case HODO_READ_ROLE_SPAN_END:
		c->pairing = HODO_PAIRING_THREAD;
		c->paired_by = base + SPAN;
		break;
	case HODO_READ_ROLE_BEGIN:
	case HODO_READ_ROLE_END:
		c->pairing = is_signed ? HODO_PAIRING_SIGNED : integer ? HODO_PAIRING_NUMBER : HODO_PAIRING_ID;
		c->paired_by = base + (integer ? NUMBER : ID);
		break;
	case HODO_READ_ROLE_SYSCALL_BEGIN:
	case HODO_READ_ROLE_SYSCALL_END:
		c->pairing = HODO_PAIRING_THREAD;
		c->paired_by = process + SYSCALL;
		break;
	case HODO_READ_ROLE_CALL_ENTRY:
	case HODO_READ_ROLE_CALL_EXIT:
		if (c->pub.nfields < 2 || c->types[1] != HODO_TYPE_U32 || strcmp(c->fields[1].name, "frame") != 0)
			break;
		c->pairing = HODO_PAIRING_FRAME;
		c->paired_by = process + CALL;
	}
}

int hodo_read_role_settle(struct hodo_strings *bases, const struct hodo_read_process *p, struct hodo_class *c)
{
	c->pub.role = role_of(c, p->kernel != NULL);
	if (p->kernel)
		hodo_read_names_bind(c);
	c->more = c->nnames || c->pub.ncontext;
	c->pub.base = base_of(bases, &c->pub);
	if (!c->pub.base)
		return -ENOMEM;
	bind_pairing(c, p);
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * syscalls_table.c - which calls there are and what they take: by the headers, as syscalls/generate.py found it, and by
 * the running kernel, which describes its calls to its own tracer. The headers leave many arguments without a name, and
 * do not declare what only one architecture has; the kernel knows them all, in the words of its source. The headers
 * know sizes and signs, since a compiler has read them.
 */
#include <kmod/kmod.h>
#include "syscalls.h"

#include <core/fields.h>

#include <asm/ptrace.h>
#include <linux/mm.h>
#include <linux/trace_events.h>
#include <trace/syscall.h>

static const struct hodo_field nr_args[] = {
	{ "nr", "long", HODO_TYPE_I64 },
	{ "args", "unsigned long[6]", HODO_TYPE_ARRAY | HODO_TYPE_U64 },
};
static const struct hodo_field nr_ret[] = { { "nr", "long", HODO_TYPE_I64 }, { "ret", "long", HODO_TYPE_I64 } };

struct hodo_call_shape hodo_call_shapes[HODO_CALLS_END];

/* One call while it is looked at. */
struct call {
	const struct hodo_syscall *declared;
	unsigned int nargs;
	struct hodo_call_arg arg[HODO_CALL_ARGS];
};

/* "char *" and "char*" are the same. */
static bool same_type(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* What a type of the kernel's is, HODO_TYPE_NONE if it is one that no declared call takes. */
static uint8_t type_by_name(const char *ctype)
{
	size_t i;

	if (strchr(ctype, '*'))
		return HODO_TYPE_PTR;
	for (i = 0; i < ARRAY_SIZE(hodo_call_args); i++) {
		if (same_type(hodo_call_args[i].ctype, ctype))
			return hodo_call_args[i].type;
	}
	return HODO_TYPE_NONE;
}

/* By the table. */
static void by_header(const struct hodo_syscall *entry, struct call *call)
{
	call->declared = entry;
	call->nargs = entry->nargs;
	memcpy(call->arg, &hodo_call_args[entry->first], entry->nargs * sizeof(call->arg[0]));
}

/* And by the kernel. That a char * is a text only the table says, which knows what follows it. */
static void by_metadata(const struct syscall_metadata *meta, struct call *call)
{
	bool agree = call->declared->nargs == meta->nb_args;
	unsigned int i;

	if (meta->nb_args < 0 || meta->nb_args > HODO_CALL_ARGS)
		return;
	call->nargs = meta->nb_args;
	for (i = 0; i < call->nargs; i++) {
		struct hodo_call_arg *arg = &call->arg[i];
		uint8_t type = type_by_name(meta->types[i]);

		arg->name = meta->args[i];
		arg->ctype = meta->types[i];
		if (!agree)
			arg->type = type ? type : HODO_TYPE_U64;
		else if (type && !(type == HODO_TYPE_PTR && arg->type == HODO_TYPE_STR))
			arg->type = type;
	}
}

static void by_kernel(struct call *call)
{
#ifdef CONFIG_FTRACE_SYSCALLS
	struct trace_event_file *file;
	char name[sizeof("sys_enter_") + HODO_NAME_MAX];

	snprintf(name, sizeof(name), "sys_enter_%s", call->declared->name);
	file = trace_get_event_file(NULL, "syscalls", name);
	if (IS_ERR(file))
		return;
	/* Of the kernel proper: it stays when the reference goes. */
	if (file->event_call->data)
		by_metadata(file->event_call->data, call);
	trace_put_event_file(file);
#endif
}

/* Where argument i is among the longs that hodo_call_args_of() gives. */
static uint8_t place(unsigned int i)
{
#ifdef CONFIG_X86_64
	static const uint8_t places[HODO_CALL_ARGS] = {
		offsetof(struct pt_regs, di) / 8, offsetof(struct pt_regs, si) / 8, offsetof(struct pt_regs, dx) / 8,
		offsetof(struct pt_regs, r10) / 8, offsetof(struct pt_regs, r8) / 8, offsetof(struct pt_regs, r9) / 8,
	};

	return places[i];
#else
	return i;
#endif
}

/* The event's fields and the number's shape: first what has a fixed size, then the texts. */
static void shape(const struct call *call, struct hodo_syscall_event *e)
{
	struct hodo_call_shape *s = &hodo_call_shapes[call->declared->nr];
	unsigned int i, n = 0, texts;

	for (texts = 0; texts < 2; texts++) {
		for (i = 0; i < call->nargs; i++) {
			const struct hodo_call_arg *arg = &call->arg[i];

			if ((arg->type == HODO_TYPE_STR) != texts)
				continue;
			e->fields[n] = (struct hodo_field){ arg->name, arg->ctype, arg->type };
			s->reg[n] = place(i);
			if (!texts) {
				s->offset[n] = s->fixed;
				s->fixed += hodo_fields_fixed_size(arg->type);
				s->nregs++;
			} else {
				s->ntexts++;
			}
			n++;
		}
	}
	e->event.fields = e->fields;
	e->event.nfields = n;
	for (i = n; s->ntexts == 0 && n > 0 && i < HODO_CALL_ARGS; i++) {
		s->reg[i] = s->reg[n - 1];
		s->offset[i] = s->offset[n - 1];
	}
}

static void name_event(struct hodo_syscall_event *e, const struct hodo_source *source, uint16_t nr, bool exit,
		       const char *name)
{
	e->nr = nr;
	e->exit = exit;
	snprintf(e->name, sizeof(e->name), "sys_%s_%s", exit ? "exit" : "enter", name);
	e->event.provider = "syscalls";
	e->event.name = e->name;
	e->event.kind = HODO_KIND_EVENT;
	e->event.format = e->event.file = e->event.function = "";
	e->event.object = "vmlinux";
	e->event.source = source;
}

static void other(struct hodo_syscall_event *e, const struct hodo_source *source, uint16_t nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		name_event(&e[i], source, nr, i, name);
		e[i].event.fields = i ? nr_ret : nr_args;
		e[i].event.nfields = 2;
	}
}

/* Of one number, both. */
static void make_call(const struct hodo_syscall *declared, const struct hodo_source *source,
		      struct hodo_syscall_event *e)
{
	struct call call;

	by_header(declared, &call);
	by_kernel(&call);
	hodo_call_shapes[declared->nr].ntexts = 0;
	name_event(&e[0], source, declared->nr, false, declared->name);
	shape(&call, &e[0]);
	name_event(&e[1], source, declared->nr, true, declared->name);
	e[1].event.fields = &nr_ret[1];
	e[1].event.nfields = 1;
}

int hodo_calls_make(const struct hodo_source *source, struct hodo_event ***events, size_t *n)
{
	size_t count = 2 * (ARRAY_SIZE(hodo_calls) + 2), i;
	struct hodo_event **all = kvcalloc(count, sizeof(**events), GFP_KERNEL);
	struct hodo_syscall_event *e = kvcalloc(count, sizeof(*e), GFP_KERNEL);

	if (!e || !all) {
		kvfree(all);
		kvfree(e);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		all[i] = &e[i].event;
	for (i = 0; i < HODO_CALLS_END; i++)
		hodo_call_shapes[i] = (struct hodo_call_shape){ .ntexts = HODO_CALL_UNKNOWN };
	for (i = 0; i < ARRAY_SIZE(hodo_calls); i++)
		make_call(&hodo_calls[i], source, &e[2 * i]);
	other(&e[count - 4], source, HODO_CALLS_COMPAT, "compat");
	other(&e[count - 2], source, HODO_CALLS_UNKNOWN, "unknown");
	*events = all;
	*n = count;
	return 0;
}

void hodo_calls_free(struct hodo_event **events)
{
	if (!events)
		return;
	kvfree(container_of(events[0], struct hodo_syscall_event, event));
	kvfree(events);
}

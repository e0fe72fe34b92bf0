/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kprobes.c - probes in any code of the kernel, by its own kprobes and kretprobes: at a function's entry
 * these use ftrace, elsewhere jumps or breakpoints, as the kernel decides.
 *
 *             | handler, same CPU     | handler, other CPU | set()         | removal
 *   handler   | one at a time: `busy` | beside             | beside: `on`  | before: unregistered, hodo_quiesce()
 *
 * The kernel runs one handler on a CPU at a time, and counts the others as missed: a probe in a function that
 * a handler calls, or in an interrupt meanwhile. If two meet anyway, the CPU's `busy` is set, and we count
 * the inner one. The values are collected in the CPU's memory before the event is begun: a text's length is
 * only known once it is read, and nothing that could fault is read inside the writer.
 *
 * Handlers run with preemption off, which is what hodo_quiesce() waits for.
 */
#include <kmod/catalog.h>
#include <kmod/emit.h>
#include <kmod/kmod.h>
#include "kprobes.h"
#include <kmod/state.h>

#include <core/kprobe.h>

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#if defined(CONFIG_KPROBES) && defined(CONFIG_KRETPROBES)

#define ACTIVE 1024 /* calls of one function with pending returns, at one time */

struct kprobe_event {
	struct hodo_event event;
	struct list_head list;
	struct hodo_kprobe *program;
	bool on;
	bool returns;
	uint32_t keeps; /* of the entry, for the return */
	atomic_long_t missed; /* by us */
	struct kretprobe probe; /* only its kp, if the event is not at the return */
	struct hodo_field fields[HODO_FIELDS_MAX];
};

struct scratch {
	uint32_t busy;
	uint8_t bytes[HODO_KPROBE_BYTES_MAX];
};
static struct scratch __percpu *scratch; /* of all files' probes */
static uint32_t users;

/* ---------------------------------------------------------------- handlers */

static void write_event(struct kprobe_event *p, const uint8_t *bytes, uint32_t len)
{
	HODO_EMIT(e);
	uint8_t *payload = hodo_emit_begin(&e, &p->event, len);

	if (payload) {
		memcpy(payload, bytes, len);
		hodo_emit_end(&e, &p->event);
	}
}
NOKPROBE_SYMBOL(write_event);

static void on_event(struct kprobe_event *p, struct pt_regs *regs, const struct hodo_kprobe_entry *entry)
{
	struct scratch *s = this_cpu_ptr(scratch);

	if (s->busy) {
		atomic_long_inc(&p->missed);
		return;
	}
	s->busy = 1;
	barrier(); /* interruptions come from this CPU */
	write_event(p, s->bytes, hodo_kprobe_fetch(p->program, regs, entry, s->bytes) - s->bytes);
	barrier();
	s->busy = 0;
}
NOKPROBE_SYMBOL(on_event);

static int on_reached(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_event *p = container_of(kp, struct kprobe_event, probe.kp);

	/* Acquire: sees the id that the event got before it was switched on. */
	if (smp_load_acquire(&p->on))
		on_event(p, regs, NULL);
	return 0;
}
NOKPROBE_SYMBOL(on_reached);

static struct kprobe_event *event_of(struct kretprobe_instance *call)
{
	struct kretprobe *probe = get_kretprobe(call);

	return probe ? container_of(probe, struct kprobe_event, probe) : NULL;
}
NOKPROBE_SYMBOL(event_of);

static int on_entry(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct kprobe_event *p = event_of(call);

	if (!p || !READ_ONCE(p->on))
		return 1; /* nobody waits for the return */
	hodo_kprobe_keep((struct hodo_kprobe_entry *)call->data, p->keeps, regs);
	return 0;
}
NOKPROBE_SYMBOL(on_entry);

static int on_return(struct kretprobe_instance *call, struct pt_regs *regs)
{
	struct kprobe_event *p = event_of(call);

	if (p && smp_load_acquire(&p->on))
		on_event(p, regs, (const struct hodo_kprobe_entry *)call->data);
	return 0;
}
NOKPROBE_SYMBOL(on_return);

/* ------------------------------------------------------------- on and off */

static int set(struct hodo_event *event, bool on)
{
	/* After the id is set: see on_reached(). */
	smp_store_release(&container_of(event, struct kprobe_event, event)->on, on);
	return 0;
}

static const struct hodo_source source = { .name = "kprobe", .set = set };

static int register_probe(struct kprobe_event *p)
{
	struct kprobe *kp = &p->probe.kp;
	int err;

	kp->offset = p->program->offset;
	if (p->returns) {
		p->probe.entry_handler = on_entry;
		p->probe.handler = on_return;
		p->probe.data_size = sizeof(struct hodo_kprobe_entry);
		p->probe.maxactive = ACTIVE;
		err = register_kretprobe(&p->probe);
	} else {
		kp->pre_handler = on_reached;
		err = register_kprobe(kp);
	}
	return err;
}

static void unregister_probe(struct kprobe_event *p)
{
	if (p->returns)
		unregister_kretprobe(&p->probe);
	else
		unregister_kprobe(&p->probe.kp);
}

/* ------------------------------------------------------------ come and go */

static int use_scratch(void)
{
	if (users == 0) {
		scratch = alloc_percpu(struct scratch);
		if (!scratch)
			return -ENOMEM;
	}
	users++;
	return 0;
}

/* No handler runs. */
static void unuse_scratch(uint32_t n)
{
	users -= n;
	if (users == 0 && n > 0) {
		free_percpu(scratch);
		scratch = NULL;
	}
}

static void describe(struct kprobe_event *p, const char *const *text)
{
	struct hodo_event *e = &p->event;

	p->returns = p->program->flags & HODO_KPROBE_RETURN;
	p->keeps = hodo_kprobe_keeps(p->program);
	p->probe.kp.symbol_name = text[0];
	e->provider = "kprobe";
	e->name = text[1];
	e->function = text[0];
	e->format = e->file = "";
	e->object = "vmlinux";
	e->kind = HODO_KIND_EVENT;
	e->source = &source;
	e->fields = p->fields;
	e->nfields = p->program->values;
	for (unsigned int i = 0; i < e->nfields; i++)
		p->fields[i] = (struct hodo_field){ .name = text[2 + i], .type = p->program->value[i].type };
}

static void free_event(struct kprobe_event *p)
{
	kvfree(p->program);
	kfree(p);
}

/* Whether the offset is still inside the function. Under hodo_lock. */
static bool is_inside(const struct kprobe *kp)
{
	static char function[KSYM_SYMBOL_LEN], place[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(function, (unsigned long)kp->addr - kp->offset);
	sprint_symbol_no_offset(place, (unsigned long)kp->addr);
	return strcmp(function, place) == 0;
}

/* The probe first, which may be refused; it does nothing while its event is off. */
static int begin(struct kprobe_event *p)
{
	int err = register_probe(p);

	if (err)
		return err;
	/* In this module's code, its writers would have to write about themselves. */
	if (within_module((unsigned long)p->probe.kp.addr, THIS_MODULE))
		err = -EINVAL;
	else if (!is_inside(&p->probe.kp))
		err = -EILSEQ;
	else
		err = hodo_event_add(&p->event);
	if (err) {
		unregister_probe(p);
		hodo_quiesce();
	}
	return err;
}

int hodo_kprobe_add(struct hodo_kprobes *kprobes, struct hodo_kprobe *k)
{
	const char *text[HODO_FIELDS_MAX + 2];
	struct kprobe_event *p;
	int err;

	if (!hodo_kprobe_check(k, k->size, text))
		return -EBADMSG;
	if (!kprobes->list.next)
		INIT_LIST_HEAD(&kprobes->list);
	if (kprobes->n >= HODO_KPROBES_MAX)
		return -ENOSPC;
	if (hodo_event_find("kprobe", text[1]))
		return -EEXIST;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	err = use_scratch();
	if (!err) {
		p->program = k;
		describe(p, text);
		err = begin(p);
		if (err)
			unuse_scratch(1);
	}
	if (err) {
		kfree(p); /* the message is the caller's */
		return err;
	}
	list_add_tail(&p->list, &kprobes->list);
	kprobes->n++;
	return 0;
}

/* To the recorder, which shows it. */
static void warn_of_missed(const struct kprobe_event *p)
{
	long missed = p->probe.kp.nmissed + p->probe.nmissed + atomic_long_read(&p->missed);
	char text[2 * HODO_NAME_MAX];

	if (!missed)
		return;
	scnprintf(text, sizeof(text), "kprobe:%s: %ld events were missed: %s", p->event.name, missed, p->returns ?
		  "more calls at once than the kernel allows for, or another probe was being handled" :
		  "another probe was being handled on the CPU");
	hodo_catalog_warning(hodo_recording.memory, text);
}

/* All at once, since each would wait for every CPU; the kernel accepts lists of either kind. */
static void unregister_all(struct hodo_kprobes *kprobes)
{
	struct kretprobe **exits = kvmalloc_array(kprobes->n, sizeof(*exits), GFP_KERNEL);
	struct kprobe **places = kvmalloc_array(kprobes->n, sizeof(*places), GFP_KERNEL);
	struct kprobe_event *p;
	int nexits = 0, nplaces = 0;

	list_for_each_entry(p, &kprobes->list, list) {
		if (!exits || !places)
			unregister_probe(p);
		else if (p->returns)
			exits[nexits++] = &p->probe;
		else
			places[nplaces++] = &p->probe.kp;
	}
	if (nexits)
		unregister_kretprobes(exits, nexits);
	if (nplaces)
		unregister_kprobes(places, nplaces);
	kvfree(exits);
	kvfree(places);
}

void hodo_kprobes_remove(struct hodo_kprobes *kprobes, bool says)
{
	struct kprobe_event *p, *next;

	if (kprobes->n == 0)
		return;
	unregister_all(kprobes);
	hodo_quiesce();
	list_for_each_entry_safe(p, next, &kprobes->list, list) {
		if (says)
			warn_of_missed(p);
		/* Nobody can be inside: this does not wait. */
		set(&p->event, false);
		p->event.recorded = false;
		hodo_event_remove(&p->event);
		list_del(&p->list);
		free_event(p);
	}
	unuse_scratch(kprobes->n);
	kprobes->n = 0;
}

#else

int hodo_kprobe_add(struct hodo_kprobes *kprobes, struct hodo_kprobe *k)
{
	return -EOPNOTSUPP;
}

void hodo_kprobes_remove(struct hodo_kprobes *kprobes, bool says)
{
}

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* functions_kretprobe.c - entry and exit of individually named functions, by a kretprobe each. */
#include "functions.h"
#include <kmod/kmod.h>

#include <linux/kprobes.h>
#include <linux/slab.h>

#ifdef CONFIG_KRETPROBES

#define ACTIVE 128 /* calls of one function in progress at one time */

static struct kretprobe *probes;    /* [nprobes]; those that could not be registered have no address */
static struct kretprobe **pointers; /* to those that were */
static uint32_t nprobes, nset;

static unsigned long address_of(struct kretprobe_instance *call)
{
	struct kretprobe *p = get_kretprobe(call);

	return p ? (unsigned long)p->kp.addr : 0;
}

static int on_entry(struct kretprobe_instance *call, struct pt_regs *regs)
{
	uint32_t frame = HODO_FRAME32(kernel_stack_pointer(regs));

	*(uint32_t *)call->data = frame;
	return !hodo_function_entered(address_of(call), frame);
}

static int on_exit(struct kretprobe_instance *call, struct pt_regs *regs)
{
	unsigned long address = address_of(call);

	if (address)
		hodo_function_left(address, *(const uint32_t *)call->data);
	return 0;
}

/* Probes are only for a small number of known functions. */
static bool kretprobe_can(const struct hodo_function_wanted *w)
{
	return w->addresses > 0 && w->globs == 0 && w->without == 0;
}

static void free_all(void)
{
	kvfree(probes);
	kvfree(pointers);
	probes = NULL;
	pointers = NULL;
	nprobes = nset = 0;
}

static int kretprobe_start(struct hodo_function_wanted *w)
{
	nprobes = w->addresses;
	probes = kvcalloc(nprobes, sizeof(*probes), GFP_KERNEL);
	pointers = kvcalloc(nprobes, sizeof(*pointers), GFP_KERNEL);
	if (!probes || !pointers) {
		free_all();
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nprobes; i++) {
		struct kretprobe *p = &probes[i];

		p->kp.addr = (kprobe_opcode_t *)w->address[i];
		p->entry_handler = on_entry;
		p->handler = on_exit;
		p->data_size = sizeof(uint64_t);
		p->maxactive = ACTIVE;
		/* Refused: functions that must not be probed, and addresses that are not functions'. */
		if (register_kretprobe(p) == 0)
			pointers[nset++] = p;
		cond_resched();
	}
	w->found = nprobes;
	w->set = nset;
	if (nset == 0) {
		free_all();
		return -ESRCH;
	}
	return 0;
}

static uint64_t kretprobe_stop(void)
{
	uint64_t missed = 0;

	unregister_kretprobes(pointers, nset);
	for (uint32_t i = 0; i < nset; i++)
		missed += pointers[i]->nmissed + pointers[i]->kp.nmissed;
	/* A handler of exits that has begun runs with preemption off. */
	hodo_quiesce();
	free_all();
	return missed;
}

const struct hodo_function_probe hodo_function_kretprobe = {
	.name = "kretprobe", .exits = true, .can = kretprobe_can, .start = kretprobe_start, .stop = kretprobe_stop,
};

#endif

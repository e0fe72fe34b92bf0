/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_kernel.h - the part of hodo/trace.h that differs in kernel modules: what a module carries, how a site
 * branches, and how an event is passed to hodo.ko. Its counterpart is hodo/trace_user.h.
 *
 * A module refers to no symbol of hodo.ko: it loads and runs without hodo.ko, which may be loaded later, be
 * unloaded, and be loaded again. Each event of the module is a hodo_kernel_state. It begins with a struct
 * tracepoint, whose place is listed with those of the kernel's own tracepoints (section __tracepoints_ptrs),
 * so that the kernel tells hodo.ko about the module. The tracepoint's name says whose it is, and its static
 * key is that of the event's sites; it never has probes of the kernel's kind.
 *
 * What may run at the same time ("beside") on one state:
 *
 *                      | event, probes | register | hodo.ko sets | hodo.ko clears | module goes
 *   event, calls probes| beside        | beside   | beside       | beside         | before
 *   register, unregist.|               | excluded | excluded     | excluded       | before
 *   hodo.ko sets       |               |          | excluded     | excluded       | excluded
 *   hodo.ko clears     |               |          |              | excluded       | excluded
 *
 * "excluded": one mutex of hodo.ko, which events never take. "before": the module's own responsibility, as
 * with any of its functions: none of them runs any more when it goes.
 *
 * An event switches preemption off, then loads ops, event and probes, and uses them until it switches it on
 * again. hodo.ko clears them, then waits with synchronize_rcu(), which returns when every CPU that had
 * preemption off has had it on. Only after that does hodo.ko free them, or is unloaded. If an event loaded
 * them before preemption is off, hodo.ko could be gone when they are called. What they point to was stored
 * before them (release), and the loads through them depend on them; without that, an event could see a list
 * of probes that is not filled in yet.
 *
 * As with the kernel's tracepoints, RCU must be watching: put no site in noinstr code, or where a CPU idles.
 */
#ifndef HODO_TRACE_KERNEL_H
#define HODO_TRACE_KERNEL_H

#pragma GCC system_header

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

/* hodo.ko finds only modules, and finds them by their tracepoints. */
#if !defined(HODO_DISABLE) && (!defined(MODULE) || !defined(CONFIG_TRACEPOINTS))
#define HODO_DISABLE
#endif

#ifndef HODO_DISABLE

#define HODO_JUMPS_ 0 /* events are handed over by calls */

#include <hodo/abi.h>
#include <linux/err.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/stringify.h>
#include <linux/tracepoint-defs.h>

/* Beginning of the names of the states' tracepoints, which no name of a C object can have: whose they are,
 * and the version of everything below and in <hodo/abi.h>. */
#define HODO_KERNEL_NAME "hodo:2:"

struct hodo_kernel_ops;

struct hodo_kernel_state {
	struct tracepoint tracepoint; /* its name and key alone */
	uint32_t size;                /* sizeof(struct hodo_kernel_state) */
	uint32_t reserved;
	const struct hodo_desc *desc;
	/* For hodo.ko; all 0 without it. */
	const struct hodo_kernel_ops *ops;
	struct hodo_event *event;         /* records it; NULL: nobody does at present */
	const struct hodo_probes *probes; /* NULL: none */
	void *known;                      /* the event it is a place of; NULL: none, or refused */
	struct hodo_kernel_state *next;   /* of the same event */
};

/* What hodo.ko provides. All but the last two are called with preemption off, from any context. */
struct hodo_kernel_ops {
	uint32_t size;    /* bytes of this struct */
	uint32_t version; /* HODO_ABI_VERSION */
	struct module *owner;
	/* Fields of fixed size only: len bytes at data, readable up to the next multiple of 8. */
	void (*emit_fixed)(struct hodo_kernel_state *state, const void *data, size_t len);
	/* Any fields: total is the sum of the lengths; SIZE_MAX / 2 or more means that one is too long. */
	void (*emit_pieces)(struct hodo_kernel_state *state, const struct hodo_piece *pieces, size_t count,
			    size_t total);
	/* The probes to call; NULL: none, and there is nothing to leave. */
	const struct hodo_probes *(*probe_enter)(struct hodo_kernel_state *state);
	void (*probe_leave)(void);
	/* They sleep, and hold owner meanwhile. 0 or negative errno; see register_trace_x in hodo/trace.h. */
	int (*probe_register)(struct hodo_kernel_state *state, void (*func)(void), void *data);
	int (*probe_unregister)(struct hodo_kernel_state *state, void (*func)(void), void *data);
};

/* ------------------------------------------------------------------- sites */

/* Different for every state of all loaded modules: some tracers expect this of tracepoints. */
#define HODO_KERNEL_NAME_(n) HODO_KERNEL_NAME KBUILD_MODNAME ":" __BASE_FILE__ ":" __stringify(n)

#define HODO_STATE_TYPE_ struct hodo_kernel_state
#define HODO_STATE_(var, desc_)                                            \
	static struct hodo_kernel_state var __attribute__((unused)) = {    \
		.tracepoint = { .name = HODO_KERNEL_NAME_(__COUNTER__) },  \
		.size = sizeof(struct hodo_kernel_state),                  \
		.desc = (const struct hodo_desc *)&(desc_)                 \
	}
#define HODO_TP_STATE_(var, desc_) HODO_STATE_(var, desc_)

/* Says where a state is: emitted with the code that uses it, and dropped with that code. No instruction. */
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
#define HODO_KERNEL_PLACE_ ".balign 4\n.long %c0 - .\n"
#else
#define HODO_KERNEL_PLACE_ ".balign 8\n.quad %c0\n"
#endif
#define HODO_NO_SITE_(state, desc)                                                             \
	asm_inline volatile(".pushsection __tracepoints_ptrs, \"a\"\n" HODO_KERNEL_PLACE_ ".popsection\n" \
			    : : "i"(state))

/* In newer kernels, the key of a tracepoint is a static_key_false, which begins with the key. */
#define HODO_KERNEL_ON_(state) static_branch_unlikely(((struct static_key_false *)&(state)->tracepoint.key))

#define HODO_BRANCH_(state, desc, label)            \
	do {                                        \
		HODO_NO_SITE_(state, desc);         \
		if (HODO_KERNEL_ON_(state))         \
			goto label;                 \
	} while (0)

/* HODO_WHEN_(state, desc, body): runs the body, out of line, when the site is enabled. */
#define HODO_WHEN_(state, desc, body)               \
	do {                                        \
		HODO_NO_SITE_(&state, &desc);       \
		if (HODO_KERNEL_ON_(&state)) {      \
			body;                       \
		}                                   \
	} while (0)

#define HODO_LABELS_RECORD_(desc)                   \
	do {                                        \
		HODO_STATE_(hodo_state_, desc);     \
		HODO_NO_SITE_(&hodo_state_, &desc); \
	} while (0)

/* ------------------------------------------------------------- passing it on */

/*
 * The event is put together in its own function, not in the one that has the site: that would need a frame
 * and, where stacks are protected, a canary, which it would store and compare even while the site is off. A
 * nested function that uses no variable of the outer one is an ordinary function. Clang has no nested
 * functions.
 */
#ifdef __clang__
#define HODO_EMIT_SITE_(state, ...) HODO_EMIT_(state, __VA_ARGS__)
#else
#define HODO_EMIT_SITE_(state, ...)                                                                         \
	do {                                                                                                \
		HODO_EACH_(HODO_HOLD_, __VA_ARGS__)                                                         \
		__extension__ noinline __attribute__((cold)) HODO_OWN_ void hodo_cold_(                     \
			struct hodo_kernel_state *hodo_to_ HODO_EACH_(HODO_KERNEL_PARAM_, __VA_ARGS__))     \
		{                                                                                           \
			HODO_EMIT_HELD_(hodo_to_, __VA_ARGS__);                                             \
		}                                                                                           \
		hodo_cold_((state) HODO_EACH_(HODO_KERNEL_VALUE_, __VA_ARGS__));                            \
	} while (0)
#define HODO_KERNEL_PARAM_(i, a) , __typeof__(hodo_v##i##_) hodo_v##i##_
#define HODO_KERNEL_VALUE_(i, a) , hodo_v##i##_
#endif

#define HODO_TP_OUTLINE_(id, empty, ...)                                                          \
	static noinline __attribute__((unused, cold)) HODO_OWN_ void hodo_tp_cold_##id(           \
		HODO_TP_PARAMS_(empty, __VA_ARGS__))                                              \
	{                                                                                         \
		HODO_TP_COLD_(id, empty, __VA_ARGS__)                                             \
	}
#define HODO_TP_ON_(id, empty, ...) hodo_tp_cold_##id(HODO_LIST_(HODO_TP_NAME_, __VA_ARGS__));

/*
 * A site may be given something that is not an address of the kernel: an error, or a user's pointer. That
 * must not crash the machine once the event is switched on.
 */
static __always_inline bool hodo_kernel_bad_(const void *p)
{
	if (p && ((unsigned long)p < PAGE_SIZE || IS_ERR(p)))
		return true;
#ifdef CONFIG_X86_64
	return (long)p > 0;
#else
	return false;
#endif
}
#define HODO_KERNEL_BAD_TEXT_ "(efault)"

#define HODO_CHECK_TEXT_(text)        \
	if (hodo_kernel_bad_(text))   \
		text = HODO_KERNEL_BAD_TEXT_;
#define HODO_CHECK_STR_(s)                                                \
	const struct hodo_str_ hodo_bad_ = { HODO_KERNEL_BAD_TEXT_, s->n };\
	if (hodo_kernel_bad_(s->data))                                    \
		s = &hodo_bad_;
#define HODO_CHECK_DATA_(data)        \
	if (hodo_kernel_bad_(data))   \
		data = NULL;

/* Out of line, once per file: the code of a site stays small. */
static __attribute__((unused)) noinline HODO_OWN_ void hodo_kernel_fixed_(struct hodo_kernel_state *state,
									  const void *data, size_t len)
{
	const struct hodo_kernel_ops *ops;

	preempt_disable_notrace();
	ops = READ_ONCE(state->ops);
	if (ops)
		ops->emit_fixed(state, data, len);
	preempt_enable_notrace();
}

static __attribute__((unused)) noinline HODO_OWN_ void hodo_kernel_pieces_(struct hodo_kernel_state *state,
									   const struct hodo_piece *pieces,
									   size_t count, size_t total)
{
	const struct hodo_kernel_ops *ops;

	preempt_disable_notrace();
	ops = READ_ONCE(state->ops);
	if (ops)
		ops->emit_pieces(state, pieces, count, total);
	preempt_enable_notrace();
}

#define HODO_EMIT_FIXED_(state, data, len) hodo_kernel_fixed_((state), (data), (len))
#define HODO_EMIT_PIECES_(state, pieces, count, total) hodo_kernel_pieces_((state), (pieces), (count), (total))

/* ------------------------------------------------------------------ probes */

/* If there are any, preemption stays off until hodo_kernel_leave_(). */
static __attribute__((unused)) noinline HODO_OWN_ const struct hodo_probes *
hodo_kernel_enter_(struct hodo_kernel_state *state)
{
	const struct hodo_kernel_ops *ops;
	const struct hodo_probes *probes = NULL;

	preempt_disable_notrace();
	ops = READ_ONCE(state->ops);
	if (ops)
		probes = ops->probe_enter(state);
	if (!probes)
		preempt_enable_notrace();
	return probes;
}

/* ops are there: hodo.ko does not go while there are probes, nor before all callers inside have left. */
static __attribute__((unused)) noinline HODO_OWN_ void hodo_kernel_leave_(struct hodo_kernel_state *state)
{
	READ_ONCE(state->ops)->probe_leave();
	preempt_enable_notrace();
}

static __attribute__((unused)) noinline HODO_OWN_ int hodo_kernel_change_(struct hodo_kernel_state *state,
									  void (*func)(void), void *data, bool add)
{
	const struct hodo_kernel_ops *ops;
	int err;

	preempt_disable_notrace();
	ops = READ_ONCE(state->ops);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	preempt_enable_notrace();
	if (!ops)
		return -ENOSYS;
	err = (add ? ops->probe_register : ops->probe_unregister)(state, func, data);
	module_put(ops->owner);
	return err;
}

#define HODO_PROBE_ENTER_(state, token) ((void)(token), hodo_kernel_enter_(state))
#define HODO_PROBE_LEAVE_(state, token) hodo_kernel_leave_(state)
#define HODO_PROBE_REGISTER_(state, desc, func, data)             \
	__extension__({                                           \
		HODO_NO_SITE_(state, desc);                       \
		hodo_kernel_change_((state), (func), (data), true); \
	})
#define HODO_PROBE_UNREGISTER_(state, desc, func, data)             \
	__extension__({                                             \
		HODO_NO_SITE_(state, desc);                         \
		hodo_kernel_change_((state), (func), (data), false); \
	})

#endif /* !HODO_DISABLE */

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * functions.c - entry and exit of the kernel's functions, by the kernel's own mechanisms:
 *
 *	fprobe      any functions, entry and exit            func:entry, func:exit
 *	kretprobe   where there is no fprobe, functions that the recorder names one by one, by address
 *	ftrace      any functions, entry alone               func:reached
 *
 * The mechanism is chosen when the recording begins. The recorder sends globs, which the kernel itself
 * compares with its names ("*", "?", "[...]", as in hodo_glob()), globs with "!", and addresses
 * 0xSTART-0xEND, which mean the function at START. Functions of modules loaded later are included.
 *
 *                    | handler (any context, any CPU) | start, stop, set (hodo_lock) | module comes (hodo_lock)
 *   on[], frames     | reads                          | writes                       |
 *   probes           |                                | before and after all handlers| adds functions
 *
 * This module itself cannot be traced, since it is built without the calls that ftrace patches (Kbuild);
 * functions that it calls can: the kernel's recursion mark, one for each context, prevents a handler from
 * being entered through its own calls. An event caused by another event's probe goes to the fallback ring
 * (emit.h).
 */
#include <kmod/emit.h>
#include "functions.h"
#include <kmod/kmod.h>
#include <kmod/state.h>

#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/string.h>

enum { EXIT, ENTRY, REACHED, EVENTS };

static const struct hodo_field fields[] = {
	{ "addr", NULL, HODO_TYPE_PTR },
	{ "frame", NULL, HODO_TYPE_U32 },
};

static int set(struct hodo_event *event, bool on);
static const struct hodo_source source = { .name = "function", .set = set };

#define EVENT(text)                                                                                                  \
	{                                                                                                            \
		.provider = "func", .name = text, .fields = fields, .nfields = ARRAY_SIZE(fields),                   \
		.kind = HODO_KIND_FUNCTION, .format = "", .file = "", .function = "", .object = "vmlinux",           \
		.source = &source, .absent = true,                                                                   \
	}
/* The exit comes first, so that it is on before the first entry is seen. */
static struct hodo_event events[EVENTS] = { EVENT("exit"), EVENT("entry"), EVENT("reached") };
static struct hodo_event *const all_events[EVENTS] = { &events[EXIT], &events[ENTRY], &events[REACHED] };
static bool on[EVENTS];
static const struct hodo_function_probe *probe; /* of the recording; NULL: none */
static struct hodo_function_wanted wanted;

/* ---------------------------------------------------------------- handlers */

static __always_inline void emit(struct hodo_event *event, unsigned long addr, uint32_t frame)
{
	struct hodo_emit e;
	uint8_t *p = hodo_emit_begin(&e, event, 12);

	if (p) {
		put_unaligned((uint64_t)addr, (uint64_t *)p);
		put_unaligned(frame, (uint32_t *)(p + 8));
		hodo_emit_end(&e, event);
	}
}

bool hodo_function_entered(unsigned long addr, uint32_t frame)
{
	if (READ_ONCE(on[ENTRY]))
		emit(&events[ENTRY], addr, frame);
	return READ_ONCE(on[EXIT]);
}

void hodo_function_left(unsigned long addr, uint32_t frame)
{
	if (READ_ONCE(on[EXIT]))
		emit(&events[EXIT], addr, frame);
}

void hodo_function_reached(unsigned long addr, uint32_t frame)
{
	if (READ_ONCE(on[REACHED]))
		emit(&events[REACHED], addr, frame);
}

/* ---------------------------------------------------------- what is wanted */

/* "0xSTART-0xEND"; the end is after the start. */
static bool parse_range(const char *p, unsigned long *start)
{
	unsigned long end;
	char more;

	return sscanf(p, "%lx-%lx%c", start, &end, &more) == 2 && *start < end;
}

/* To ftrace, a leading digit would be the number of a function, and '!' and ':' have special meanings. */
static bool glob_is_valid(const char *p)
{
	return *p && *p != '!' && !(*p >= '0' && *p <= '9') && strlen(p) < HODO_FUNCTION_GLOB_MAX && !strpbrk(p, ":\n");
}

static int take(struct hodo_function_wanted *w, const char *p)
{
	bool without = *p == '!';

	p += without;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		if (without || w->addresses >= HODO_FUNCTION_ADDRESSES_MAX ||
		    !parse_range(p, &w->address[w->addresses]))
			return -EINVAL;
		w->addresses++;
		return 0;
	}
	if (!glob_is_valid(p))
		return -EINVAL;
	if (without)
		w->without++;
	else
		w->globs++;
	return 0;
}

static int take_all(struct hodo_function_wanted *w, const struct hodo_functions_config *c)
{
	const char *p = (const char *)(c + 1);
	uint32_t n = get_unaligned(&c->patterns);

	*w = (struct hodo_function_wanted){ .text = p, .patterns = n };
	for (uint32_t i = 0; i < n; i++, p += strlen(p) + 1) {
		int err = take(w, p);

		if (err)
			return err;
	}
	return 0;
}

/* Records only entries and exits: the rest is derived from them when the recording is read. */
static bool is_offered(const struct hodo_functions_config *c)
{
	return get_unaligned(&c->tracers) == 1u << HODO_TRACER_RECORD && get_unaligned(&c->depth_max) == 0 &&
	       get_unaligned(&c->flags) == 0 && get_unaligned(&c->loops) == 0;
}

/* ------------------------------------------------------------- start, stop */

/* The first mechanism that can do what is wanted. */
static const struct hodo_function_probe *choose(const struct hodo_function_wanted *w)
{
	static const struct hodo_function_probe *const probes[] = {
#ifdef HODO_HAVE_FPROBE
		&hodo_function_fprobe,
#endif
#ifdef CONFIG_KRETPROBES
		&hodo_function_kretprobe,
#endif
#ifdef CONFIG_DYNAMIC_FTRACE
		&hodo_function_ftrace,
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(probes); i++)
		if (!probes[i]->can || probes[i]->can(w))
			return probes[i];
	return NULL;
}

/* Sent to the recorder, which shows it to the user. */
static void warn_of_entries(void)
{
	char text[120];

	scnprintf(text, sizeof(text),
		  "no exits of functions: this kernel allows them for at most %u functions at once: name "
		  "fewer",
		  HODO_FUNCTION_ADDRESSES_MAX);
	hodo_catalog_warning(hodo_recording.memory, text);
}

int hodo_functions_start(const struct hodo_functions_config *config)
{
	struct hodo_shm *shm = hodo_recording.memory->shm;
	int err;

	if (!is_offered(config))
		return -EOPNOTSUPP;
	err = take_all(&wanted, config);
	if (err)
		return err;
	probe = choose(&wanted);
	if (!probe) {
		pr_err("functions: this kernel was built without CONFIG_DYNAMIC_FTRACE\n");
		return -EOPNOTSUPP;
	}
	err = probe->start(&wanted);
	if (err) {
		if (err != -ESRCH)
			pr_err("functions: %s could not be set up: error %d\n", probe->name, -err);
		probe = NULL;
		return err;
	}
	events[REACHED].absent = probe->exits;
	events[ENTRY].absent = events[EXIT].absent = !probe->exits;
	WRITE_ONCE(shm->functions, wanted.found);
	WRITE_ONCE(shm->functions_on, wanted.set);
	pr_info("functions: %s, by %s\n", probe->exits ? "entry and exit" : "entry", probe->name);
	if (!probe->exits)
		warn_of_entries();
	return 0;
}

/* No handler runs any more when it returns. */
static void end_probes(void)
{
	uint64_t missed;

	if (!probe)
		return;
	missed = probe->stop();
	probe = NULL;
	WRITE_ONCE(hodo_recording.memory->shm->func_missed, missed);
}

static int set(struct hodo_event *event, bool to)
{
	WRITE_ONCE(on[event - events], to);
	/*
	 * The event's rules are freed when all are off: handlers that RCU does not wait for could still use
	 * them.
	 */
	if (!to)
		end_probes();
	return 0;
}

void hodo_functions_stop(void)
{
	end_probes();
	for (size_t i = 0; i < EVENTS; i++) {
		on[i] = false;
		events[i].absent = true;
	}
	wanted = (struct hodo_function_wanted){ 0 };
}

/* ---------------------------------------------------------- modules, begin */

static int module_changes(struct notifier_block *nb, unsigned long what, void *data)
{
	if (what != MODULE_STATE_COMING)
		return NOTIFY_OK;
	mutex_lock(&hodo_lock);
	if (probe && probe->refresh)
		probe->refresh(&wanted);
	mutex_unlock(&hodo_lock);
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = module_changes };

int hodo_functions_init(void)
{
	mutex_lock(&hodo_lock);
	hodo_events_add(all_events, EVENTS);
	mutex_unlock(&hodo_lock);
	return register_module_notifier(&modules);
}

void hodo_functions_exit(void)
{
	unregister_module_notifier(&modules);
	mutex_lock(&hodo_lock);
	hodo_events_remove(all_events, EVENTS);
	mutex_unlock(&hodo_lock);
}

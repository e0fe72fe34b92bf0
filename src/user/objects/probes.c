/* SPDX-License-Identifier: MIT */
/*
 * probes.c - probes on tracepoints: lists that are read without locks and replaced as a whole, and the grace
 * period that releases a probe.
 *
 * The grace period is that of sleepable RCU (McKenney, "Sleepable RCU", LWN
 * 2006, in its later form): readers count themselves in and out in one of two
 * banks of counters; the updater replaces the list, then flips the bank that
 * new readers take and waits until the ins and outs of the other are equal, twice.
 * Twice, because a reader may fetch the bank's index, sleep, and count
 * itself in only after the first flip's check. Counters are spread over cache
 * lines by thread.
 *
 *                 | reader  | register / unregister
 *   reader        | beside  | beside
 *   register, …   |         | excluded (probe_lock)
 *
 * Order, all sequentially consistent: a reader counts in before it loads the
 * list (else it could use an old list uncounted); an updater stores the list
 * before it sums (for the same reason), and sums the outs before the ins (a reader that
 * goes in and out between the two sums would else be seen out but not in,
 * hiding one that is still inside).
 */
#include <user/libc/sys.h>
#include <user/process/process.h>
#include "objects.h"

#define LANES 64
#define PROBES_MAX 64 /* of one tracepoint */

static struct lane {
	uint64_t in[2], out[2];
	uint64_t pad[4];
} lanes[LANES] __attribute__((aligned(64)));
static uint32_t bank;
static uint32_t probe_lock; /* its holder */
/*
 * How many probe lists this thread is inside of, by bank: for -EDEADLK, and for a fork from inside a probe.
 */
static __thread uint32_t inside[2] __attribute__((tls_model("initial-exec")));

static uint32_t lane_hint(void)
{
	/*
	 * Any lane will do, but neighbouring threads should differ; a system call would cost more than the
	 * probe.
	 */
	return (uint32_t)((uintptr_t)__builtin_thread_pointer() >> 12) % LANES;
}

const struct hodo_probes *hodo_probe_enter(struct hodo_state *state, uint32_t *token)
{
	struct hodo_event *event = state->event;
	const struct hodo_probes *probes;
	uint32_t b;

	if (!event || !hodo_load(&event->probes))
		return 0;
	b = hodo_load(&bank) & 1;
	hodo_add_seq(&lanes[lane_hint()].in[b], 1);
	HODO_INJECT(HODO_INJECT_PROBE_ENTER);
	probes = hodo_load_seq(&event->probes);
	*token = b;
	if (!probes) {
		hodo_add_seq(&lanes[lane_hint()].out[b], 1);
		return 0;
	}
	inside[b]++;
	return probes;
}

void hodo_probe_leave(uint32_t token)
{
	inside[token & 1]--;
	hodo_add_seq(&lanes[lane_hint()].out[token & 1], 1);
}

static uint64_t sum(bool out, uint32_t b)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < LANES; i++)
		total += hodo_load_seq(out ? &lanes[i].out[b] : &lanes[i].in[b]);
	return total;
}

/* Returns once every reader that may have the old list has left. */
static void grace_period(void)
{
	for (int flip = 0; flip < 2; flip++) {
		uint32_t old = hodo_load_seq(&bank) & 1;
		uint64_t out;

		hodo_store_seq(&bank, old ^ 1);
		for (;;) {
			out = sum(true, old);
			if (out == sum(false, old))
				break;
			hodo_sleep_ns(50000);
		}
	}
}

/* A fork child has only this thread: others that were inside a probe are not there to leave it. */
void hodo_probe_after_fork(void)
{
	__builtin_memset(lanes, 0, sizeof(lanes));
	lanes[0].in[0] = inside[0];
	lanes[0].in[1] = inside[1];
	probe_lock = 0;
}

/* ----------------------------------------------------------------- updates */

static size_t size_of(uint32_t n)
{
	return sizeof(struct hodo_probes) + n * sizeof(struct hodo_probe);
}

static void list_free(struct hodo_probes *list)
{
	if (list)
		hodo_sys2(SYS_munmap, list, size_of(list->n));
}

static int find(const struct hodo_probes *list, void (*func)(void), void *data)
{
	for (uint32_t i = 0; list && i < list->n; i++) {
		if (list->probe[i].func == func && list->probe[i].data == data)
			return (int)i;
	}
	return -1;
}

/* Publishes the list (NULL: none) and turns sites on or off to match. */
static int publish(struct hodo_event *event, struct hodo_probes *list)
{
	uint64_t mask = hodo_control_lock();
	uint32_t before = event->nprobes;
	int error = 0;

	hodo_store_seq(&event->probes, list);
	event->nprobes = list ? list->n : 0;
	if (!before != !event->nprobes)
		error = hodo_sites_patch();
	hodo_control_unlock(mask);
	return error;
}

static struct hodo_event *event_of(const struct hodo_desc *desc)
{
	uint64_t mask = hodo_control_lock();
	struct hodo_event *event = hodo_registry_add(desc, desc->total, "");

	hodo_control_unlock(mask);
	return event;
}

static int replace(struct hodo_event *event, void (*func)(void), void *data, bool add)
{
	struct hodo_probes *old = event->probes, *fresh = 0;
	int at = find(old, func, data);
	uint32_t n = old ? old->n : 0;
	int error;

	if (add ? at >= 0 : at < 0)
		return add ? -EEXIST : -ENOENT;
	if (add && n == PROBES_MAX)
		return -ENOSPC;
	if (add || n > 1) {
		fresh = hodo_map(size_of(n + 1));
		if (!fresh)
			return -ENOSPC;
		for (uint32_t i = 0; i < n; i++) {
			if ((int)i != at)
				fresh->probe[fresh->n++] = old->probe[i];
		}
		if (add)
			fresh->probe[fresh->n++] = (struct hodo_probe){ func, data };
	}
	error = publish(event, fresh);
	if (error && add) { /* no site could be switched on */
		publish(event, old);
		grace_period();
		list_free(fresh);
		return error;
	}
	if (old)
		grace_period();
	list_free(old);
	return 0;
}

static int change(const struct hodo_desc *desc, void (*func)(void), void *data, bool add)
{
	struct hodo_event *event;
	int error;

	if (!func)
		return -EINVAL;
	/* It would wait for itself: registering replaces a list, too. */
	if (inside[0] || inside[1])
		return -EDEADLK;
	event = event_of(desc);
	if (!event)
		return -EINVAL;
	hodo_await(&probe_lock, 0, hodo_gettid());
	error = replace(event, func, data, add);
	hodo_store_release(&probe_lock, 0);
	return error;
}

int hodo_probe_register(const struct hodo_desc *desc, void (*func)(void), void *data)
{
	return change(desc, func, data, true);
}

int hodo_probe_unregister(const struct hodo_desc *desc, void (*func)(void), void *data)
{
	return change(desc, func, data, false);
}

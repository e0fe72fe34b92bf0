/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* recording.c - begins and ends recordings. */
#include "recording.h"
#include "emit.h"
#include "kmod.h"
#include "writer.h"

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/utsname.h>

struct hodo_tree_config hodo_tree_config = {
	.mode = HODO_MODE_OVERWRITE, .packet_size = 64u << 10, .ring_size = 2u << 20,
};

/* ---------------------------------------------------------- what is asked */

static int check(const struct hodo_msg_config *c, size_t len)
{
	if (hodo_config_check(c, len) != len)
		return -EINVAL;
	return c->context_len || (c->clock == HODO_CLOCK_TSC && !hodo_tsc_usable()) ? -EOPNOTSUPP : 0;
}

/* ------------------------------------------------------------- begin, end */

static void fill_moment(struct hodo_moment *m)
{
	m->ticks = hodo_ticks();
	m->mono_ns = ktime_get_ns();
	m->real_ns = ktime_get_real_ns();
}

/* Its description, also for readers that did not begin it. */
static void fill_shm(const struct hodo_recording *r, enum hodo_clock clock)
{
	struct hodo_memory *m = r->memory;
	struct hodo_flight *f = (struct hodo_flight *)((uint8_t *)m->shm + HODO_SHM_FLIGHT_HEAD);

	memcpy(m->shm->magic, HODO_SHM_MAGIC, sizeof(m->shm->magic));
	m->shm->version = HODO_ABI_VERSION;
	m->shm->rings = m->layout.rings;
	f->size = sizeof(*f);
	f->packet_size = m->layout.packet_size;
	f->ring_size = m->layout.ring_size;
	f->mode = m->mode;
	f->clock = clock;
	memcpy(f->uuid, r->config.uuid, sizeof(f->uuid));
	f->start = HODO_START_EXEC;
	strscpy(f->comm, "kernel", sizeof(f->comm));
	strscpy(f->hostname, init_utsname()->nodename, sizeof(f->hostname));
	fill_moment(&f->first);
}

/* With by, asked and config set. */
static int begin(struct hodo_recording *r, enum hodo_clock clock)
{
	int err;

	r->memory = hodo_memory_new(r->config.packet_size, r->config.ring_size, r->config.mode,
				    r->asked && r->asked->conditions > 0);
	if (!r->memory)
		return -ENOMEM;
	r->number++;
	r->stopped = false;
	hodo_writers_attach(r->memory, &r->config, clock == HODO_CLOCK_MONOTONIC);
	fill_shm(r, clock);
	err = hodo_rules_prepare();
	if (err)
		goto detach;
	err = hodo_threads_start();
	if (err)
		goto threads; /* one of its probes may have been on */
	hodo_registry_begin();
	if (hodo_recording_functions())
		err = hodo_functions_start(hodo_recording_functions());
	if (err)
		goto threads;
	hodo_registry_on();
	return 0;
threads:
	hodo_threads_stop();
	hodo_quiesce();
detach:
	hodo_writers_detach();
	hodo_memory_put(r->memory);
	r->memory = NULL;
	return err;
}

/* The latest recording's memory is no longer available. */
static void drop(struct hodo_recording *r)
{
	hodo_memory_put(r->memory);
	r->memory = NULL;
	kvfree(r->asked);
	r->asked = NULL;
}

/* Sizes that hodo_layout_init() takes. */
static bool sizes_valid(const struct hodo_ring_config *c)
{
	struct hodo_layout layout;

	return hodo_layout_init(&layout, nr_cpu_ids + 1, c->packet_size, c->ring_size) == 0;
}

/*
 * The previous recording's memory stays readable if this one cannot begin, but is freed if there is no room
 * for both.
 */
static int start(struct hodo_recording *r, enum hodo_recorded by, enum hodo_clock clock)
{
	struct hodo_memory *last = r->memory;
	int err;

	if (!sizes_valid(&r->config))
		return -EINVAL;
	r->by = by;
	r->memory = NULL;
	err = begin(r, clock);
	if (err == -ENOMEM && last) {
		hodo_memory_put(last);
		last = NULL;
		err = begin(r, clock);
	}
	if (err) {
		r->by = HODO_RECORDED_NOT;
		r->memory = last;
		return err;
	}
	hodo_memory_put(last);
	return 0;
}

int hodo_recording_start_tree(void)
{
	struct hodo_recording *r = &hodo_recording;

	if (r->by != HODO_RECORDED_NOT)
		return -EBUSY;
	get_random_bytes(r->config.uuid, sizeof(r->config.uuid));
	r->config.mode = hodo_tree_config.mode;
	r->config.packet_size = hodo_tree_config.packet_size;
	r->config.ring_size = hodo_tree_config.ring_size;
	return start(r, HODO_RECORDED_BY_TREE, hodo_tsc_usable() ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC);
}

int hodo_recording_start(struct hodo_msg_config *config, size_t len)
{
	struct hodo_recording *r = &hodo_recording;
	int err;

	if (r->by != HODO_RECORDED_NOT)
		return -EBUSY;
	err = check(config, len);
	if (err)
		return err;
	r->asked = config;
	memcpy(r->config.uuid, config->uuid, sizeof(r->config.uuid));
	r->config.mode = config->mode;
	r->config.packet_size = config->packet_size;
	r->config.ring_size = config->ring_size;
	err = start(r, HODO_RECORDED_BY_FILE, config->clock);
	if (err)
		r->asked = NULL; /* the caller's */
	return err;
}

void hodo_recording_stop(void)
{
	struct hodo_recording *r = &hodo_recording;
	struct hodo_flight *f;

	if (r->by == HODO_RECORDED_NOT || r->stopped)
		return;
	hodo_registry_off();
	if (hodo_recording_functions())
		hodo_functions_stop();
	hodo_threads_stop();
	hodo_quiesce();
	r->stopped = true;
	f = (struct hodo_flight *)((uint8_t *)r->memory->shm + HODO_SHM_FLIGHT_HEAD);
	fill_moment(&f->last[0]);
	f->ended = 1;
	smp_store_release(&r->memory->shm->ended, 1);
	/* No more packets are closed, so nobody else would wake them. */
	hodo_ring_waited = false;
	wake_up_all(&hodo_ring_wait);
}

void hodo_recording_end(void)
{
	struct hodo_recording *r = &hodo_recording;

	if (r->by == HODO_RECORDED_NOT)
		return;
	hodo_recording_stop();
	hodo_writers_detach();
	if (r->by == HODO_RECORDED_BY_FILE)
		drop(r);
	r->by = HODO_RECORDED_NOT;
}

void hodo_recording_flush(struct hodo_memory *memory, uint64_t age)
{
	mutex_lock(&hodo_lock);
	if (hodo_recording.by != HODO_RECORDED_NOT && hodo_recording.memory == memory)
		hodo_writers_flush(age);
	mutex_unlock(&hodo_lock);
}

int hodo_recording_reset(void)
{
	struct hodo_recording *r = &hodo_recording;
	bool was = r->by == HODO_RECORDED_BY_TREE;

	if (r->by == HODO_RECORDED_BY_FILE)
		return -EBUSY;
	hodo_recording_end();
	drop(r);
	return was ? hodo_recording_start_tree() : 0;
}

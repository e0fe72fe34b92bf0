/* SPDX-License-Identifier: MIT */
/*
 * recording.c - the recordings of a process: one at a time, any number after each other.
 *
 * A recording begins with its memory complete and its catalogue in it; the on words
 * are set last. Its end goes the other way, while threads run traced code:
 *
 *   1. on = false, all on words 0     no new event begins
 *   2. function tracers out           by their own grace period (func/)
 *   3. sections closed                nobody is in emit.c's C code (section.c)
 *   4. views zeroed, rseq barrier     nobody is in a writer in assembly
 *   5. states bound to a word that stays 0, and once more the barrier: a writer that
 *      had loaded the old pointer to its on word starts anew
 *   6. sites put back, the memory unmapped
 *
 * Without 3 before 4, a thread in the slow path could set a view up again behind
 * the zeroing. Without the barrier after 5, a writer preempted between its load of the
 * pointer and that of the word would read memory that is unmapped.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include "sys.h"
#include "user.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static bool ending; /* until its memory is unmapped: no other recording can begin */
static bool stuck;  /* somebody stayed inside: it is looked at later whether that is over */
static uint32_t recordings; /* begun so far */

/* ------------------------------------------------------------ configuration */

/* Whether each of n texts in the len bytes is terminated. */
static bool texts_valid(const uint8_t *text, uint32_t n, uint32_t len)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < len; i++)
		found += text[i] == 0;
	return found == n && (len == 0 || text[len - 1] == 0);
}

static bool functions_valid(const struct hodo_msg_config *c)
{
	const uint8_t *at = c->text + c->patterns_len + c->filter_len;
	struct hodo_functions_config f;

	if (!c->functions_len)
		return true;
	if (c->functions_len < sizeof(f))
		return false;
	__builtin_memcpy(&f, at, sizeof(f));
	return f.size == sizeof(f) && f.patterns_len <= HODO_FUNCTIONS_MAX && f.loops_len <= HODO_FUNCTIONS_MAX &&
	       sizeof(f) + f.patterns_len + f.loops_len == c->functions_len && f.ticks_per_s > 0 &&
	       texts_valid(at + sizeof(f), f.patterns, f.patterns_len) &&
	       texts_valid(at + sizeof(f) + f.patterns_len, f.loops, f.loops_len);
}

static bool profile_wanted(const struct hodo_msg_config *c)
{
	struct hodo_functions_config f;

	if (!c->functions_len)
		return false;
	__builtin_memcpy(&f, c->text + c->patterns_len + c->filter_len, sizeof(f));
	return f.tracers & (1u << HODO_TRACER_PROFILE);
}

static bool layout_of(const struct hodo_msg_config *c, struct hodo_layout *layout)
{
	if (c->rings > HODO_VIEWS - 2 || hodo_layout_init(layout, c->rings, c->packet_size, c->ring_size) != 0)
		return false;
	if (profile_wanted(c))
		hodo_layout_add_profile(layout);
	return true;
}

/* Conditions and context stand behind the rest. */
static uint32_t extras_at(const struct hodo_msg_config *c)
{
	return c->patterns_len + c->filter_len + c->functions_len;
}

bool hodo_config_valid(const struct hodo_msg_config *c, long len, struct hodo_layout *layout)
{
	size_t head = offsetof(struct hodo_msg_config, text);

	return len >= (long)head && c->head.magic == HODO_MSG_MAGIC && c->head.version == HODO_ABI_VERSION &&
	       c->head.type == HODO_MSG_CONFIG && c->patterns_len <= HODO_CONFIG_TEXT_MAX &&
	       c->filter_len <= HODO_FILTER_MAX && c->functions_len <= HODO_FUNCTIONS_MAX &&
	       c->conditions_len <= HODO_EXTRAS_MAX && c->context_len <= HODO_EXTRAS_MAX - c->conditions_len &&
	       (size_t)len >= head + extras_at(c) + c->conditions_len + c->context_len && functions_valid(c) &&
	       hodo_conditions_valid(c->text + extras_at(c), c->conditions, c->conditions_len) &&
	       hodo_context_valid(c->text + extras_at(c) + c->conditions_len, c->context_len) &&
	       c->mode <= HODO_MODE_OVERWRITE &&
	       (c->clock == HODO_CLOCK_MONOTONIC || (c->clock == HODO_CLOCK_TSC && hodo_have_tsc())) &&
	       (c->filter_len == 0 || hodo_filter_verify(c->text + c->patterns_len, c->filter_len) == 0) &&
	       texts_valid(c->text, c->patterns, c->patterns_len) && layout_of(c, layout);
}

static void clear_views(void)
{
	struct hodo_recording *r = &hodo_recording;

	__builtin_memset(r->views, 0, sizeof(*r->views) * r->layout.rings);
	hodo_patch_rseq_barrier();
}

int hodo_recording_possible(void)
{
	if (stuck && hodo_patch_has_rseq_barrier() && hodo_section_empty() &&
	    (!hodo_func || hodo_func->settle())) {
		/* Who stayed inside may have set one up again, which the next recording would take for its own. */
		clear_views();
		hodo_recording_drop();
	}
	return ending ? -EAGAIN : hodo_recording.on ? -EBUSY : 0;
}

int hodo_recording_take(const struct hodo_msg_config *c, const struct hodo_memory *memory)
{
	struct hodo_recording *r = &hodo_recording;

	hodo_process_views();
	r->layout = memory->layout;
	r->shm = memory->shm;
	if (!r->views)
		return -ENOMEM;
	__builtin_memcpy(r->ring.uuid, c->uuid, sizeof(r->ring.uuid));
	r->ring.packet_size = c->packet_size;
	r->ring.ring_size = c->ring_size;
	r->ring.mode = c->mode;
	r->by = memory->by;
	r->recorder = memory->recorder;
	r->awaits_start = c->flags & HODO_CONFIG_AWAITS_START;
	r->clock = c->clock;
	r->packet_age_ticks = c->packet_age_ticks;
	r->patterns = c->patterns;
	r->patterns_len = c->patterns_len;
	r->filter_len = c->filter_len;
	r->functions_len = c->functions_len;
	r->conditions = c->conditions;
	r->conditions_len = c->conditions_len;
	r->context_len = c->context_len;
	__builtin_memcpy(r->text, c->text, extras_at(c) + c->conditions_len + c->context_len);
	hodo_catalog_export();
	return hodo_context_prepare();
}

/* --------------------------------------------------------------------- begin */

static void add_thread(uint32_t tid, const char *name, long len)
{
	struct hodo_shm *shm = hodo_shm();
	uint32_t n = hodo_add(&shm->threads, 1);
	struct hodo_thread *entry = (struct hodo_thread *)(hodo_recording.shm + HODO_SHM_THREADS) + n;

	if (n >= HODO_THREADS_MAX)
		return;
	while (len > 0 && name[len - 1] == '\n')
		len--;
	__builtin_memcpy(entry->comm, name, len > 15 ? 15 : (size_t)(len < 0 ? 0 : len));
	hodo_store_release(&entry->tid, tid);
}

/* A task's directory in /proc/self/task. */
static void name_thread(long tasks, const char *tid_text)
{
	char path[32], name[32];
	uint32_t tid = 0;
	size_t n = 0;
	long fd, len;

	for (; tid_text[n] >= '0' && tid_text[n] <= '9' && n < 10; n++) {
		tid = tid * 10 + (uint32_t)(tid_text[n] - '0');
		path[n] = tid_text[n];
	}
	if (n == 0 || tid_text[n])
		return;
	__builtin_memcpy(path + n, "/comm", 6);
	fd = hodo_sys4(SYS_openat, tasks, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	len = hodo_sys3(SYS_read, fd, name, sizeof(name));
	hodo_sys1(SYS_close, fd);
	add_thread(tid, name, len);
}

/* Threads that have traced in an earlier recording do not give their names again. */
static void name_threads(void)
{
	long tasks = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n;
	char buffer[2048] __attribute__((aligned(8)));

	if (tasks < 0)
		return;
	while ((n = hodo_sys3(SYS_getdents64, tasks, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n;) {
			/* d_ino, d_off, d_reclen, d_type, d_name */
			name_thread(tasks, buffer + at + 19);
			at += *(uint16_t *)(buffer + at + 16);
		}
	}
	hodo_sys1(SYS_close, tasks);
}

static void warn_functions(void)
{
	const char *text = "its functions are not traced: libhodo-func was not loaded into it";

	hodo_catalog_warning(&text, 1);
}

int hodo_recording_begin(void)
{
	int error;

	hodo_patch_register();
	hodo_process_scan();
	if (recordings++)
		name_threads();
	hodo_store_release(&hodo_recording.on, true);
	hodo_section_open();
	hodo_rules_prepare();
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_registry_select(&hodo_events[i]);
	hodo_objects_rebind();
	/* The words last: a thread that was on its way in before the sites were would else leave one event, and its
	 * next ones only once its code is patched. */
	error = hodo_patch_sites();
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_registry_publish(&hodo_events[i]);
	if (hodo_context_addresses()) /* of what was loaded before, nothing was sent */
		hodo_objects_scan();
	if (hodo_func)
		hodo_func->recording();
	else if (hodo_recording.functions_len)
		warn_functions();
	return error;
}

/* ----------------------------------------------------------------------- end */

void hodo_recording_drop(void)
{
	struct hodo_recording *r = &hodo_recording;

	ending = stuck = false;
	r->by = HODO_BY_NOBODY;
	r->recorder = 0;
	if (r->context_len)
		hodo_context_end();
	r->context_len = r->conditions_len = r->conditions = r->functions_len = 0;
	if (r->shm)
		hodo_sys2(SYS_munmap, r->shm, r->layout.total);
	r->shm = 0;
}

/* No thread is inside any more, nor can one come in: true. The lock is free meanwhile. */
static bool everybody_out(void)
{
	bool out = true;

	hodo_control_release();
	if (hodo_func)
		out = hodo_func->settle();
	out = hodo_section_close() && out;
	HODO_INJECT(HODO_INJECT_ENDING);
	hodo_control_retake();
	return out;
}

int hodo_recording_end(void)
{
	struct hodo_recording *r = &hodo_recording;
	bool out;
	int error;

	if (!r->on)
		return -ENOTCONN;
	hodo_store_seq(&r->on, false);
	ending = true;
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_store_seq(&hodo_on_words()[i], 0);
	if (hodo_func)
		hodo_func->recording();
	/* Where no barrier can be had, a writer may be anywhere: the memory stays for good. */
	out = everybody_out() && hodo_patch_has_rseq_barrier();
	if (!r->shm)
		return 0; /* this is a fork child of what was here */
	clear_views();
	hodo_objects_rebind();
	hodo_patch_rseq_barrier();
	error = hodo_patch_sites();
	if (r->by == HODO_BY_FLIGHT)
		hodo_flight_ended();
	/* The consumer may write what there is: nothing comes any more. */
	hodo_store_seq(&hodo_shm()->ended, 1);
	stuck = !out;
	if (stuck)
		return -EAGAIN;
	hodo_recording_drop();
	return error;
}

struct left {
	uint8_t *at;
	uint64_t len;
};

/*
 * A handler may have interrupted somebody inside, forked, and will return there in the child: with pointers to words
 * of the parent's memory, which is not here. Empty pages take their place; they go when a child is begun while
 * nobody is inside. Rings need none: whoever writes to them has signals blocked, or starts anew.
 */
static void leave_pages(struct left *left, uint8_t *at, uint64_t len)
{
	void *p = (void *)hodo_sys6(SYS_mmap, (long)at, (long)len, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == at)
		*left = (struct left){ at, len };
	else if (!hodo_is_error(p)) /* before Linux 4.17 the address is a hint */
		hodo_sys2(SYS_munmap, p, len);
}

static void leave_something(void)
{
	static struct left head, profile;
	const struct hodo_recording *r = &hodo_recording;

	if (hodo_section_empty() && !(hodo_func && hodo_func->inside())) {
		if (head.at)
			hodo_sys2(SYS_munmap, head.at, head.len);
		if (profile.at)
			hodo_sys2(SYS_munmap, profile.at, profile.len);
		head.at = profile.at = 0;
		return;
	}
	if (!r->shm)
		return;
	leave_pages(&head, r->shm, HODO_SHM_THREADS);
	if (r->layout.profile)
		leave_pages(&profile, r->shm + r->layout.profile, HODO_PROFILE_ENTRIES * HODO_PROFILE_ENTRY);
}

void hodo_recording_forked(void)
{
	leave_something();
	hodo_recording.on = false;
	hodo_recording.shm = 0;
	hodo_recording.by = HODO_BY_NOBODY;
	if (hodo_recording.context_len)
		hodo_context_end();
	ending = stuck = false;
	hodo_section_forked();
}

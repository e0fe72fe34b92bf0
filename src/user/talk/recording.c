/* SPDX-License-Identifier: MIT */
/*
 * recording.c - the recordings of a process: one at a time, any number in succession.
 *
 * A recording begins with its memory complete and its catalogue in it; the on words
 * are set last. It ends in reverse, while threads run traced code:
 *
 *   1. on = false, all on words 0     no new event begins
 *   2. function tracers out           by their own grace period (func/)
 *   3. sections closed                nobody is in emit.c's C code (section.c)
 *   4. views zeroed, rseq barrier     nobody is in a writer in assembly
 *   5. states bound to a word that stays 0, and once more the barrier: a writer that
 *      had loaded the old pointer to its on word starts anew
 *   6. sites put back, the memory unmapped
 *
 * Without 3 before 4, a thread in the slow path could set a view up again after the zeroing. Without the
 * barrier after 5, a writer preempted between its load of the pointer and that of the word would read
 * unmapped memory.
 */
#include <fcntl.h>
#include <user/libc/sys.h>
#include <user/flight/flight.h>
#include <user/libc/libc.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include <user/ring/rings.h>
#include "talk.h"
#include <user/ring/wait.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static bool ending; /* until its memory is unmapped, no other recording can begin */
static bool stuck;  /* a thread stayed inside: checked again later */
static uint32_t recordings; /* begun so far */

/* ------------------------------------------------------------ configuration */

static uint32_t tracers_wanted(const struct hodo_msg_config *c)
{
	struct hodo_functions_config f;

	if (!c->functions_len)
		return 0;
	__builtin_memcpy(&f, hodo_config_functions(c), sizeof(f));
	return f.tracers;
}

static bool layout_of(const struct hodo_msg_config *c, struct hodo_layout *layout)
{
	if (c->rings > HODO_VIEWS + 1 || hodo_layout_init(layout, c->rings, c->packet_size, c->ring_size) != 0)
		return false;
	if (tracers_wanted(c) & 1u << HODO_TRACER_PROFILE)
		hodo_layout_add_profile(layout);
	if (hodo_functions_end_only(tracers_wanted(c)))
		hodo_layout_add_open(layout);
	return true;
}

bool hodo_config_valid(const struct hodo_msg_config *c, long len, struct hodo_layout *layout)
{
	return len > 0 && hodo_config_check(c, (size_t)len) && (c->clock != HODO_CLOCK_TSC || hodo_have_tsc()) &&
	       hodo_context_valid(hodo_config_context(c), c->context_len) && layout_of(c, layout);
}

static void clear_views(void)
{
	struct hodo_recording *r = &hodo_recording;

	__builtin_memset(r->views, 0, sizeof(*r->views) * (r->layout.rings - 1));
	__builtin_memset(&r->views[HODO_VIEWS], 0, sizeof(*r->views));
	hodo_patch_rseq_barrier();
}

int hodo_recording_possible(void)
{
	if (stuck && hodo_patch_has_rseq_barrier() && hodo_section_empty() &&
	    (!hodo_func || hodo_func->settle())) {
		/* A thread that stayed inside may have set one up again, which the next recording would
		 * mistake for its own. */
		clear_views();
		hodo_recording_drop();
	}
	/* If another copy of the library serves the process: a recorder would take a second session for an
	 * exec. */
	return ending ? -EAGAIN : hodo_recording.on || hodo_objects_foreign ? -EBUSY : 0;
}

int hodo_recording_map(struct hodo_recording_memory *memory, int fd)
{
	uint64_t bytes = memory->layout.total;
	struct hodo_shm *head = hodo_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);

	if (hodo_is_error(head))
		return (int)(long)head;
	/* Reading ahead in an empty file would make the first touch take milliseconds. */
	hodo_sys3(SYS_madvise, head, bytes, MADV_RANDOM);
	hodo_sys3(SYS_madvise, head, bytes, MADV_DONTFORK);
	hodo_sys3(SYS_madvise, head, bytes, 16 /* MADV_DONTDUMP */);
	head->version = HODO_ABI_VERSION;
	head->rings = memory->layout.rings;
	head->pid = (uint32_t)hodo_sys0(SYS_getpid);
	memory->shm = (uint8_t *)head;
	return 0;
}

int hodo_recording_take(const struct hodo_msg_config *c, const struct hodo_recording_memory *memory)
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
	hodo_shm()->wants = r->semaphores ? HODO_WANTS_GUARD : 0;
	r->awaits_start = c->flags & HODO_CONFIG_AWAITS_START;
	__builtin_memcpy(&r->config, c, (size_t)(hodo_config_context(c) + c->context_len - (const uint8_t *)c));
	hodo_wait_begin();
	hodo_catalog_export();
	return hodo_fallback_prepare() < 0 ? -ENOMEM : hodo_context_prepare();
}

/* --------------------------------------------------------------------- begin */

/* A task's directory in /proc/self/task. */
static void name_thread(long tasks, const char *tid_text, void *unused)
{
	uint32_t tid = 0;
	char path[32] = "", name[32];

	for (const char *c = tid_text; *c; c++) {
		if (*c < '0' || *c > '9')
			return;
		tid = tid * 10 + (uint32_t)(*c - '0');
	}
	hodo_fixed_text_add(path, sizeof(path), tid_text);
	hodo_fixed_text_add(path, sizeof(path), "/comm");
	if (hodo_sys_file_line(tasks, path, name, sizeof(name)) >= 0)
		hodo_thread_add(tid, name);
}

/* Threads that traced in an earlier recording do not give their names again. */
static void name_threads(void)
{
	long tasks = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (tasks < 0)
		return;
	hodo_sys_file_each(tasks, name_thread, 0);
	hodo_sys1(SYS_close, tasks);
}

int hodo_recording_begin(void)
{
	int error;

	hodo_patch_register();
	hodo_objects_scan_once();
	if (recordings++)
		name_threads();
	hodo_store_release(&hodo_recording.on, true);
	hodo_section_open();
	hodo_rules_prepare();
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_rules_select(&hodo_events[i]);
	hodo_sites_rebind();
	/* The words last: otherwise, a thread that entered before the sites were patched would leave one
	 * event, and no more until its code is patched. */
	error = hodo_sites_patch();
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_registry_publish(&hodo_events[i]);
	if (hodo_context_addresses()) /* objects loaded before were not sent */
		hodo_objects_scan();
	if (hodo_func)
		hodo_func->recording();
	else if (hodo_recording.config.functions_len)
		hodo_catalog_warn("its functions are not traced: libhodo-func was not loaded into it");
	return error;
}

/* ----------------------------------------------------------------------- end */

void hodo_recording_drop(void)
{
	struct hodo_recording *r = &hodo_recording;

	ending = stuck = false;
	r->by = HODO_BY_NOBODY;
	r->recorder = 0;
	if (r->config.context_len)
		hodo_context_end();
	r->config.context_len = r->config.conditions_len = r->config.conditions = r->config.functions_len = 0;
	if (r->shm)
		hodo_sys2(SYS_munmap, r->shm, r->layout.total);
	r->shm = 0;
}

/* True: no thread is inside any more, and none can enter. The lock is free meanwhile. */
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
	/* Without a barrier, a writer may be anywhere: the memory stays for good. */
	out = everybody_out() && hodo_patch_has_rseq_barrier();
	if (!r->shm)
		return 0; /* this is a fork child now */
	clear_views();
	hodo_sites_rebind();
	hodo_patch_rseq_barrier();
	error = hodo_sites_patch();
	if (r->by == HODO_BY_FLIGHT) {
		hodo_flight_note_end();
		hodo_flight_wanted = false; /* nor in fork children, unless the caller asks for it */
	}
	/* The consumer may write the rest: nothing more comes. */
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
 * A handler may have interrupted a thread inside and forked; it returns there in the child, with pointers to
 * words of the parent's memory, which is not here. Empty pages take their place; they are unmapped when a
 * recording begins in the child while nobody is inside. Rings need none: their writers have signals blocked,
 * or restart.
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
	static struct left head, profile, open;
	const struct hodo_recording *r = &hodo_recording;

	if (hodo_section_empty() && !(hodo_func && hodo_func->inside())) {
		if (head.at)
			hodo_sys2(SYS_munmap, head.at, head.len);
		if (profile.at)
			hodo_sys2(SYS_munmap, profile.at, profile.len);
		if (open.at)
			hodo_sys2(SYS_munmap, open.at, open.len);
		head.at = profile.at = open.at = 0;
		return;
	}
	if (!r->shm)
		return;
	leave_pages(&head, r->shm, HODO_SHM_THREADS);
	if (r->layout.profile)
		leave_pages(&profile, r->shm + r->layout.profile, HODO_PROFILE_ENTRIES * HODO_PROFILE_ENTRY);
	if (r->layout.open)
		leave_pages(&open, r->shm + r->layout.open, HODO_OPEN_THREADS * HODO_OPEN_THREAD);
}

void hodo_recording_forked(void)
{
	leave_something();
	hodo_recording.on = false;
	hodo_recording.shm = 0;
	hodo_recording.by = HODO_BY_NOBODY;
	if (hodo_recording.config.context_len)
		hodo_context_end();
	ending = stuck = false;
	hodo_section_forked();
}

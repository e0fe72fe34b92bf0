/* SPDX-License-Identifier: MIT */
/*
 * counters.c - hardware counters of threads, for events' context.
 *
 * Each thread opens its counters at its first event of a recording and maps the page of
 * each, through which it reads them without a system call. The descriptor is closed at
 * once: the mapping keeps the event. The pages lie in one region of ours, a row for each thread. Nothing
 * tells us when a thread ends: when all rows are in use, those of ended threads are reused. A counter that is
 * not available is 0.
 *
 *            | put              | open            | prepare
 *   put      | beside, own row  | beside, own row | excluded (sections)
 *   open     |                  | excluded (lock) | excluded (sections)
 *
 * The kernel does not copy such pages on fork. In a child, plain zero pages take their place
 * before anything can read there: a handler may have forked in the middle of put.
 */
#include "counter.h"
#include <user/libc/sys.h>
#include "event.h"

#define ROWS 512u
#define NONE UINT32_MAX
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const struct hodo_context_config *config; /* NULL: no counters */
static uint8_t *region;                          /* ROWS * HODO_COUNTERS_MAX pages */
static uint32_t rows[ROWS];                      /* tids, 0: free */
static uint32_t lock, process;

static __thread struct {
	uint32_t epoch;
	uint32_t row; /* NONE: there was none to have */
} own __attribute__((tls_model("initial-exec")));

#define REGION_BYTES ((size_t)ROWS * HODO_COUNTERS_MAX * HODO_PAGE)

static uint8_t *page_of(uint32_t row, uint32_t counter)
{
	return region + ((size_t)row * HODO_COUNTERS_MAX + counter) * HODO_PAGE;
}

static void make_plain(uint8_t *at, int how)
{
	hodo_sys6(SYS_mmap, (long)at, HODO_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);
}

static void clear_row(uint32_t row, int how)
{
	for (uint32_t i = 0; i < HODO_COUNTERS_MAX; i++)
		make_plain(page_of(row, i), how);
}

void hodo_counters_prepare(const struct hodo_context_config *wanted)
{
	uint32_t now = (uint32_t)hodo_sys0(SYS_getpid);

	for (uint32_t i = 0; region && i < ROWS; i++) {
		if (!rows[i])
			continue;
		/* In a fork child there are holes, which other mappings may have filled. */
		clear_row(i, now == process ? MAP_FIXED : MAP_FIXED_NOREPLACE);
		rows[i] = 0;
	}
	config = wanted;
	lock = 0;
	process = now;
	if (!wanted || region)
		return;
	region = hodo_mmap(REGION_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (hodo_is_error(region))
		region = 0;
}

/* Maps the page of a new counter of the calling thread over its place. */
static void open_counter(uint32_t row, uint32_t counter)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = config->counter[counter].type, .config = config->counter[counter].config,
		.pinned = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	long fd = hodo_sys6(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0), p;
	uint8_t *at = page_of(row, counter);

	if (fd < 0)
		return;
	p = hodo_sys6(SYS_mmap, (long)at, HODO_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	if (p < 0 && p > -4096)
		make_plain(at, MAP_FIXED); /* the kernel had taken the old page away already */
	hodo_sys1(SYS_close, fd);
}

static uint32_t find_row(void)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		if (!rows[i])
			return i;
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		if (hodo_sys3(SYS_tgkill, process, rows[i], 0) == -ESRCH) {
			clear_row(i, MAP_FIXED);
			return i;
		}
	}
	return NONE;
}

/* Signals are blocked: a handler would wait for the lock forever. */
static uint32_t open_row(void)
{
	uint32_t row;

	if (!region)
		return NONE;
	hodo_await(&lock, 0, 1);
	row = find_row();
	if (row != NONE) {
		rows[row] = hodo_gettid();
		for (uint32_t k = 0; k < config->counters; k++)
			open_counter(row, k);
	}
	hodo_store_release(&lock, 0);
	return row;
}

static uint64_t rdpmc(uint32_t counter)
{
#ifdef __x86_64__
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
#else
	return 0;
#endif
}

/* The calling thread's row. */
static uint32_t own_row(uint32_t epoch)
{
	uint64_t mask;

	if (own.epoch == epoch)
		return own.row;
	/*
	 * A vfork child uses the thread-local storage of its parent's thread, which must open its own
	 * counters.
	 */
	if ((uint32_t)hodo_sys0(SYS_getpid) != process)
		return NONE;
	mask = hodo_signals_block();
	if (own.epoch != epoch) {
		own.row = open_row();
		own.epoch = epoch;
	}
	hodo_signals_restore(mask);
	return own.row;
}

uint8_t *hodo_counters_put(uint8_t *at, uint32_t epoch)
{
	/*
	 * Read once: a handler that interrupts this may fork, and the child may return here without a
	 * recording.
	 */
	const struct hodo_context_config *c = config;
	uint32_t n = c ? c->counters : 0, row = n ? own_row(epoch) : NONE;

	for (uint32_t i = 0; i < n; i++, at += sizeof(uint64_t)) {
		uint64_t value = row == NONE ? 0 : hodo_counter_read((const void *)page_of(row, i), rdpmc);

		__builtin_memcpy(at, &value, sizeof(value));
	}
	return at;
}

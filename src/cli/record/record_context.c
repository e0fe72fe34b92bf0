/* SPDX-License-Identifier: MIT */
/* record_context.c - hodo record --context, and whether this machine has the hardware counters that it names. */
#include "record_options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <base/file.h>

#include <cli/say.h>

#define VERB "record"
#define DEPTH 32u
#define STACK_BYTES 8192u
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* ---------------------------------------------------------------------- counters */

#define CACHE(what, op, result) (PERF_COUNT_HW_CACHE_##what | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
	{ "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS) },
	{ "LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS) },
	{ "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS) },
	{ "iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS) },
};
#define COUNTERS (sizeof(counters) / sizeof(*counters))

/* As the process will open it. */
static int open_counter(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = type, .config = config, .pinned = 1,
					.exclude_kernel = 1, .exclude_hv = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int refuse_counter(const char *name, int err)
{
	char level[16];

	if (err == -EACCES || err == -EPERM) {
		hodo_file_line(AT_FDCWD, PARANOID, level, sizeof(level));
		if (atoi(level) > 2)
			hodo_error("perf:%s cannot be counted here: " PARANOID " is %s: set it to 2 or less",
				   name,
				   level);
		else
			hodo_error("perf:%s cannot be counted here: a sandbox or security module refuses "
				   "perf_event_open: leave it out", name);
	} else if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENOSYS || err == -EINVAL) {
		if (open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == err)
			hodo_error("this machine has no hardware counters: %s: leave out perf:%s; virtual "
				   "machines seldom have them", strerror(-err), name);
		else
			hodo_error("this machine cannot count %s: %s: leave out perf:%s",
				   name, strerror(-err), name);
	} else {
		hodo_error("perf:%s cannot be counted: %s", name, strerror(-err));
	}
	return HODO_EXIT_FAILURE;
}

/* Whether it uses a counter of the processor that programs may read themselves. */
static int check_page(int fd, const char *name)
{
	struct perf_event_mmap_page *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	bool readable, counting;

	if (page == MAP_FAILED)
		return hodo_error("perf:%s cannot be counted: %s: raise /proc/sys/kernel/perf_event_mlock_kb", name,
				  strerror(errno));
	readable = page->cap_user_rdpmc;
	counting = page->index != 0;
	munmap(page, (size_t)sysconf(_SC_PAGESIZE));
	if (!readable)
		hodo_error("programs cannot read perf:%s themselves: set "
			   "/sys/bus/event_source/devices/cpu/rdpmc "
			   "to 1", name);
	else if (!counting)
		hodo_error("this processor has no free counter for perf:%s: ask for fewer at once", name);
	return readable && counting ? 0 : HODO_EXIT_FAILURE;
}

/* Opens all requested counters at once, as every thread will. */
static int check_counters(const struct hodo_context_config *c, const char *name)
{
	int fds[HODO_COUNTERS_MAX], status = 0;
	uint32_t n = 0;

	while (n < c->counters && !status) {
		fds[n] = open_counter(c->counter[n].type, c->counter[n].config);
		if (fds[n] < 0)
			status = refuse_counter(name, fds[n]);
		else
			status = check_page(fds[n++], name);
	}
	while (n > 0)
		close(fds[--n]);
	return status;
}

/* cycles …, or rHEX: a raw event from the processor's manual. */
static int add_counter(struct hodo_context_config *c, const char *name)
{
	uint32_t n = c->counters;
	size_t i = 0;
	char *end;

	if (n == HODO_COUNTERS_MAX)
		return hodo_usage(VERB, "--context: at most %u counters at once", HODO_COUNTERS_MAX);
	while (i < COUNTERS && strcmp(counters[i].name, name) != 0)
		i++;
	if (i < COUNTERS) {
		c->counter[n].type = counters[i].type;
		c->counter[n].config = counters[i].config;
	} else {
		c->counter[n].type = PERF_TYPE_RAW;
		c->counter[n].config = name[0] == 'r' && strspn(name + 1, "0123456789abcdef") == strlen(name + 1) ?
					       strtoull(name + 1, &end, 16) : 0;
		if (!c->counter[n].config || strlen(name) > 17)
			return hodo_usage(VERB, "--context: perf:%.40s is not a counter: counters are "
					  "cycles, instructions, cache-misses, "
					  "branch-misses, ... or rHEX", name);
	}
	snprintf(c->counter[n].name, sizeof(c->counter[n].name), "%s", name);
	for (char *p = c->counter[n].name; *p; p++)
		if (*p == '-')
			*p = '_';
	for (uint32_t k = 0; k < n; k++)
		if (strcmp(c->counter[k].name, c->counter[n].name) == 0)
			return 0;
	c->flags |= HODO_CONTEXT_COUNTERS;
	c->counters++;
	return check_counters(c, name);
}

/* ----------------------------------------------------------------------- the rest */

/* "=N" after a word, or the default. */
static int set_number(uint32_t *number, const char *word, const char *value, uint32_t standard, uint32_t max)
{
	uint64_t n = standard;

	if (value && (hodo_parse_number(value, max, &n) < 0 || n == 0))
		return hodo_usage(VERB, "--context: %s is a number from 1 to %u, not '%s'", word, max, value);
	*number = (uint32_t)n;
	return 0;
}

int hodo_context_options_add(struct hodo_context_config *c, const char *word)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} words[] = {
		{ "comm", HODO_CONTEXT_COMM }, { "pid", HODO_CONTEXT_PID }, { "ip", HODO_CONTEXT_IP },
		{ "callstack", HODO_CONTEXT_CALLSTACK }, { "stack", HODO_CONTEXT_STACK },
		{ "cpu_time", HODO_CONTEXT_CPU_TIME },
	};
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	uint32_t flag = 0;

	c->size = sizeof(*c);
	if (strncmp(word, "perf:", 5) == 0)
		return add_counter(c, word + 5);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].name) == len && memcmp(words[i].name, word, len) == 0)
			flag = words[i].flag;
	c->flags |= flag;
	if (flag == HODO_CONTEXT_CALLSTACK)
		return set_number(&c->depth_max, "callstack=DEPTH", value, DEPTH, HODO_CONTEXT_DEPTH_MAX);
	if (flag == HODO_CONTEXT_STACK)
		return set_number(&c->stack_bytes, "stack=BYTES", value, STACK_BYTES, HODO_CONTEXT_STACK_MAX);
	if (flag && !value)
		return 0;
	return hodo_usage(VERB, "--context is comm, pid, ip, callstack[=DEPTH], stack[=BYTES], cpu_time or perf:NAME, not '%.*s'",
			  (int)len, word);
}

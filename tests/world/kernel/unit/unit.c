/* SPDX-License-Identifier: MIT */
/*
 * unit.c - the unit tests of the core's files, inside a kernel: files of src/core, tests/unit/core and
 * tests/unit/arch. Whatever these use of libc and cmocka is here and in std/.
 *
 * Each test has its own thread: a test that fails ends the thread, and leaves everything as it is. The module loads
 * if none fails; each test is a line in the log.
 */
#include <stdlib.h>

#include <lib/unit.h>

#include <read/event/filter_compile.h>

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#define GUARD 16u    /* bytes after each piece of memory */
#define GUARD_BYTE 0xa5

static const struct unit_test *test;
static bool failed;
static long pieces; /* pieces of memory that are not freed */
static DECLARE_COMPLETION(done);

/* ----------------------------------------------------------------- failing */

/* Called by a variable pointer, so that neither the compiler nor the checker of the kernel's build knows that it does
 * not return: all its callers would have to be declared so, in user space's files, too. */
static void (*volatile end_thread)(struct completion *, long) = (void *)kthread_complete_and_exit;

void hodo_unit_fail(const char *file, int line, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list args;

	va_start(args, format);
	text.va = &args;
	pr_info("hodo_unit: not ok %s %s: %s:%d: %pV\n", kbasename(test->file), test->name, kbasename(file), line,
		&text);
	va_end(args);
	failed = true;
	end_thread(&done, 1);
}

void hodo_unit_abort(void)
{
	fail_msg("abort()");
}

void print_message(const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list args;

	va_start(args, format);
	text.va = &args;
	pr_info("hodo_unit: %pV", &text);
	va_end(args);
}

/* ------------------------------------------------------------------ memory */

struct head {
	size_t size;
	void *block;
};

void *hodo_unit_aligned_alloc(size_t align, size_t size)
{
	size_t front = max(align, sizeof(struct head));
	uint8_t *block = kvmalloc(front + size + GUARD + align, GFP_KERNEL), *at;
	struct head *head;

	cond_resched();
	if (!block)
		fail_msg("no memory");
	at = PTR_ALIGN(block + sizeof(*head), align);
	head = (struct head *)at - 1;
	head->size = size;
	head->block = block;
	memset(at + size, GUARD_BYTE, GUARD);
	pieces++;
	return at;
}

void *hodo_unit_malloc(size_t size)
{
	return hodo_unit_aligned_alloc(sizeof(struct head), size);
}

void *hodo_unit_calloc(size_t n, size_t size)
{
	void *at = hodo_unit_malloc(n * size);

	memset(at, 0, n * size);
	return at;
}

void hodo_unit_free(void *at)
{
	struct head *head = (struct head *)at - 1;

	if (!at)
		return;
	if (memchr_inv(at + head->size, GUARD_BYTE, GUARD))
		fail_msg("something was stored behind %zu bytes of memory", head->size);
	pieces--;
	kvfree(head->block);
}

/* ----------------------------------------------------------------- running */

/* Replaces src/read's function in user space: the kernel takes no floating-point numbers. */
int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error, size_t error_size)
{
	static const struct hodo_filter_lexer lexer = { .real = NULL };
	static struct hodo_filter_parser parser;

	parser.lexer = &lexer;
	return hodo_filter_parse(&parser, expr, code, size, len, error, error_size);
}

static int run(void *unused)
{
	long before = pieces;

	test->run(NULL);
	if (pieces != before)
		fail_msg("%ld pieces of memory were not freed", pieces - before);
	pr_info("hodo_unit: ok %s %s\n", kbasename(test->file), test->name);
	kthread_complete_and_exit(&done, 0);
}

/* The linker puts this file first and unit_end.c last: all tests are between the two. */
UNIT_ENTRY(first, NULL);
extern const struct unit_test *const hodo_unit_end;

static int by_place(const void *a, const void *b)
{
	const struct unit_test *const *x = a, *const *y = b;
	int files = strcmp((*x)->file, (*y)->file);

	return files ? files : (*x)->line - (*y)->line;
}

static int __init hodo_unit_init(void)
{
	const struct unit_test *const *all = RELOC_HIDE(&first, sizeof(first));
	size_t n = &hodo_unit_end - all;
	const struct unit_test **sorted = kmemdup(all, n * sizeof(*all), GFP_KERNEL);
	int failures = 0;

	if (!sorted)
		return -ENOMEM;
	sort(sorted, n, sizeof(*sorted), by_place, NULL);
	for (size_t i = 0; i < n; i++) {
		struct task_struct *thread;

		test = sorted[i];
		failed = false;
		reinit_completion(&done);
		thread = kthread_run(run, NULL, "hodo_unit");
		if (IS_ERR(thread)) {
			failures++;
			break;
		}
		while (!wait_for_completion_timeout(&done, HZ))
			;
		failures += failed;
	}
	kfree(sorted);
	pr_info("hodo_unit: %d failed\n", failures);
	return failures ? -EINVAL : 0;
}

static void __exit hodo_unit_exit(void)
{
}

module_init(hodo_unit_init);
module_exit(hodo_unit_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Unit tests of Hodoscope's core");

/* SPDX-License-Identifier: MIT */
/*
 * filter.c - libFuzzer target for the filter: compiler, verifier and
 * machine. The input's first byte determines what the rest is:
 *
 *   'e'     an expression; if it compiles it must verify, bind and run
 *   'p'     a program
 *   'g'     a pattern, a NUL, a text
 *
 * fuzz_main.c replays the corpus in the tests. To search for more:
 *   build/…/tests/fuzz/fuzz_filter tests/fuzz/corpus/filter
 */
#include <core/filter.h>
#include <core/glob.h>
#include <lib/fuzz.h>
#include <read/event/filter_compile.h>
#include <unit/core/filter_event.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void require(bool so)
{
	if (!so)
		abort();
}

static void run(const uint8_t *code, size_t len)
{
	struct test_event e = { .n = 0 };
	struct hodo_filter f;
	size_t count;

	event_int(&e, "a", HODO_TYPE_I32, 3);
	event_text(&e, "key", "user:1747", 9);
	event_float(&e, "ratio", HODO_TYPE_F64, 0.75);
	event_text(&e, "null", NULL, 0);
	event_int(&e, "bytes", HODO_TYPE_U64, -1);
	event_build(&e);
	require(hodo_filter_bind(&f, code, len, e.n, e.types, e.names, NULL) == 0);
	for (count = 0; count <= e.count; count++)
		(void)hodo_filter_run(&f, e.pieces, count, NULL);
	event_free(&e);
}

static void expression(const uint8_t *data, size_t size)
{
	char *expr = malloc(size + 1), error[128] = "";
	uint8_t code[HODO_FILTER_MAX];
	size_t len = 0;
	int rc;

	memcpy(expr, data, size);
	expr[size] = '\0';
	rc = hodo_filter_compile(expr, code, sizeof(code), &len, error, sizeof(error));
	if (rc == 0)
		run(code, len);
	else
		require((rc == -EINVAL || rc == -E2BIG) && error[0] && !strchr(error, '\n'));
	free(expr);
}

static void program(const uint8_t *data, size_t size)
{
	uint8_t *code = malloc(size ? size : 1);

	memcpy(code, data, size);
	if (hodo_filter_verify(code, size) == 0)
		run(code, size);
	free(code);
}

static void glob(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, '\0', size);

	if (nul)
		(void)hodo_glob((const char *)data, (size_t)(nul - data), (const char *)nul + 1,
				size - (size_t)(nul - data) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] == 'e')
		expression(data + 1, size - 1);
	else if (data[0] == 'p')
		program(data + 1, size - 1);
	else if (data[0] == 'g' && size < 4096)
		glob(data + 1, size - 1);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* test_handover.c - says in words why a process has no buffers, whatever the process reports. */
#include <errno.h>
#include <string.h>

#include <lib/unit.h>

#include <record/join/no_buffers.h>
#include <record/recording.h>

#define NONE UINT64_MAX

static const char *said(uint32_t step, int error, uint64_t as, uint64_t data)
{
	static struct hodo_why why;
	struct hodo_msg_failed m = { .step = step, .error = error, .bytes = 32 << 20,
				     .limit = { 1 << 20, as, data, 65536, 7 } };

	return hodo_no_buffers_why(&m, &why);
}

TEST(limits_by_what_failed)
{
	assert_true(strstr(said(HODO_FAILED_MAP, -EAGAIN, NONE, NONE), "ulimit -l (64.0 KiB)"));
	assert_true(strstr(said(HODO_FAILED_MAP, -ENOMEM, 40 << 20, 1), "ulimit -v (40.0 MiB)"));
	assert_true(strstr(said(HODO_FAILED_MEMORY, -ENOMEM, NONE, 4096), "ulimit -d (4.0 KiB)"));
	assert_true(strstr(said(HODO_FAILED_MAP, -ENOMEM, NONE, 4096), "no memory for 32.0 MiB of buffers"));
	assert_true(strstr(said(HODO_FAILED_FILE, -ENFILE, NONE, NONE), "file-max"));
	assert_true(strstr(said(HODO_FAILED_FILE, -EMFILE, NONE, NONE), "ulimit -n allows (7)"));
	assert_true(strstr(said(HODO_FAILED_CONFIG, -EPROTO, NONE, NONE), "libhodo cannot do"));
}

TEST(the_longest_is_whole)
{
	struct hodo_why why;
	struct hodo_msg_failed m = { .step = HODO_FAILED_FILE, .error = -EFBIG, .bytes = (1ull << 60) - 1,
				     .limit = { (1ull << 60) - 1 } };

	hodo_no_buffers_why(&m, &why);
	assert_true(strlen(why.text) < sizeof(((struct hodo_unrecorded *)0)->why));
	assert_true(strcmp(why.text + strlen(why.text) - 12, "a smaller -m") == 0);
}

TEST(nonsense)
{
	static const int errors[] = { 0, 1, INT32_MIN, INT32_MAX, -4096, -99999 };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		assert_true(strlen(said(0xffffffff, errors[i], 0, 0)) > 10);
}

/* SPDX-License-Identifier: MIT */
/* test_symbols.c - which names functions have, which of them is shown, and what they cover: in this program itself. */
#include <string.h>

#include <lib/unit.h>

#include <elf/object.h>

int elf_use(int n);

static struct hodo_elf_object own;

static int open_own(void **state)
{
	int err = elf_use(0);

	return err ? err : hodo_elf_object_open(&own, "/proc/self/exe", NULL, 0, "/nonexistent");
}

static int close_own(void **state)
{
	hodo_elf_object_close(&own);
	return 0;
}

/* The symbol of that name. */
static const struct hodo_elf_symbol *symbol(const char *name)
{
	for (uint32_t i = 0; i < own.symbols.n; i++)
		if (strcmp(own.symbols.list[i].name, name) == 0)
			return &own.symbols.list[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

static const char *shown(const char *name)
{
	return own.symbols.list[symbol(name)->first].name;
}

TEST(test_shown)
{
	assert_string_equal(shown("_elf_work"), "elf_zwork");
	assert_string_equal(shown("elf_zwork"), "elf_zwork");
	assert_string_equal(shown("elf_a_weak"), "elf_strong");
	assert_string_equal(shown("elf_a_local"), "elf_strong");
	assert_string_equal(shown("elf_label"), "elf_whole");
	assert_string_equal(shown("elf_folded"), "elf_kept");
	assert_int_equal(symbol("elf_folded")->size, 8);
	assert_string_equal(shown("_ZN3elf3boxC2Ev"), "_ZN3elf3boxC1Ev");
	assert_true(symbol("elf_whole.cold")->whole == symbol("elf_whole")->first);
	assert_true(symbol("elf_gone.part.0")->whole == symbol("elf_gone.part.0")->first);
}

TEST(test_covers)
{
	const struct hodo_elf_symbols *s = &own.symbols;
	uint64_t outer = symbol("elf_outer")->start, bare = symbol("elf_bare")->start;

	assert_string_equal(s->list[hodo_elf_symbols_at(s, outer + 15)].name, "elf_outer");
	assert_string_equal(s->list[hodo_elf_symbols_at(s, outer + 16)].name, "elf_inner");
	assert_string_equal(s->list[hodo_elf_symbols_at(s, outer + 24)].name, "elf_outer");
	assert_string_equal(s->list[hodo_elf_symbols_at(s, outer + 32)].name, "elf_after");
	/* Up to the next symbol. */
	assert_int_equal(symbol("elf_bare")->size, 0);
	assert_string_equal(s->list[hodo_elf_symbols_at(s, bare + 23)].name, "elf_bare");
	assert_int_equal(hodo_elf_symbols_at(s, 0), HODO_ELF_NONE);
}

TEST_PROGRAM(.setup = open_own, .teardown = close_own);

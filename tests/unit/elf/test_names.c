/* SPDX-License-Identifier: MIT */
/* test_parts.c - suffixes of parts, readable names, and the bounds of both. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <core/symbol_name.h>
#include <elf/demangle.h>

static void check_whole(const char *name, const char *whole)
{
	assert_int_equal(hodo_symbol_whole_name(name), strlen(whole));
	assert_memory_equal(name, whole, strlen(whole));
}

TEST(test_suffixes)
{
	check_whole("f", "f");
	check_whole("f.cold", "f");
	check_whole("f.cold.3", "f");
	check_whole("f.part.0", "f");
	check_whole("f.isra.0.cold", "f");
	check_whole("f.constprop.12.isra.0", "f");
	check_whole("f.lto_priv.0", "f");
	check_whole("f.llvm.1234567890", "f");
	/* Not from the compiler, or not whole. */
	check_whole("f.", "f.");
	check_whole("f.1", "f.1");
	check_whole("f.part", "f.part");
	check_whole("f.part.", "f.part.");
	check_whole("f.part.x", "f.part.x");
	check_whole("f.warmer", "f.warmer");
	check_whole("f.resolver", "f.resolver");
	check_whole(".cold", ".cold");
	check_whole(".part.0", ".part.0");
	check_whole("", "");
	check_whole("...", "...");
}

static void check_name(const char *mangled, const char *name)
{
	char *got = hodo_elf_demangle(mangled);

	assert_string_equal(got, name);
	free(got);
}

TEST(test_names)
{
	check_name("main", "main");
	check_name("main.cold", "main");
	check_name("_ZN4shop6refundEi", "shop::refund(int)");
	check_name("_ZN4shop6refundEi.part.0.cold", "shop::refund(int)");
	check_name("_ZN1AC2ERKSs", "A::A(std::string const&)");
	check_name("_ZNK1AcvbEv", "A::operator bool() const");
	check_name("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	check_name("_RNvC6_123foo3bar", "123foo::bar");
	/* These are not mangled names: C may call a function so. */
	check_name("i", "i");
	check_name("_Z", "_Z");
	check_name("_Zebra", "_Zebra");
	check_name("_R", "_R");
	check_name("", "");
}

/* Each template has twice as many arguments as the one before: 2^40 times "int". */
TEST(test_name_that_grows)
{
	char mangled[2048] = "_Z1fI1AIiiE", *p = mangled + strlen(mangled), *got;
	const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	/* S_ is A, S0_ is A<int, int>, S1_ is A<S0_, S0_> … */
	for (unsigned i = 0; i < 34; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(p, "EvT_");
	got = hodo_elf_demangle(mangled);
	assert_non_null(got);
	assert_true(strlen(got) < 20000);
	free(got);
}

/* The type of each conversion operator is tried in two ways: 2^100. */
TEST(test_name_that_takes_for_ever)
{
	char mangled[1024] = "_Z", *got;

	for (unsigned i = 0; i < 100; i++)
		strcat(mangled, i & 1 ? "T0_I" : "cvT_I");
	got = hodo_elf_demangle(mangled);
	assert_string_equal(got, mangled);
	free(got);
}

TEST(test_long_names)
{
	size_t len = 3000;
	char *deep = malloc(100000), *long_name = malloc(100000), *got;

	/* Longer than libiberty accepts by default, and longer than names of ordinary templates. */
	sprintf(long_name, "_Z%zu", len);
	memset(long_name + strlen(long_name), 'n', len);
	long_name[2 + 4 + len] = 0;
	strcat(long_name, "i");
	got = hodo_elf_demangle(long_name);
	assert_true(strlen(got) == len + 5 && strcmp(got + len, "(int)") == 0);
	free(got);
	/* A pointer to a pointer to … : deep, for the stack. */
	strcpy(deep, "_Z1f");
	memset(deep + 4, 'P', 90000);
	strcpy(deep + 90004, "i");
	got = hodo_elf_demangle(deep);
	assert_string_equal(got, deep);
	free(got);
	memset(deep + 4, 'P', 4000);
	strcpy(deep + 4004, "i");
	free(hodo_elf_demangle(deep));
	free(deep);
	free(long_name);
}

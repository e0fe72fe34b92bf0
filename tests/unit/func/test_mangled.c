/* SPDX-License-Identifier: MIT */
/* test_mangled.c - short names of C++ functions, one by one; compare_cxxfilt.py tests many of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lib/unit.h>
#include <func/names/mangled.h>

static const struct {
	const char *mangled, *want;
} cases[] = {
	{ "_ZN4kept3box3putEi", "kept::box::put" },
	{ "_Z1fv", "f" },
	{ "_ZL6staticv", "static" },
	{ "_Z3maxIiET_S0_S0_", "max" },
	{ "_ZN1AC1Ev", "A::A" },
	{ "_ZN1AD0Ev", "A::~A" },
	{ "_ZN2ns1AIiEC2ERKS1_", "ns::A::A" },
	{ "_ZN1ACI21BEi", "A::A" },
	{ "_ZNK1AeqERKS_", "A::operator==" },
	{ "_ZN1AcviEv", "A::operator" },
	{ "_ZN1AclEv", "A::operator()" },
	{ "_ZnwmPv", "operator new" },
	{ "_ZdaPv", "operator delete[]" },
	{ "_Zli2_xy", "operator\"\"_x" },
	{ "_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f" },
	{ "_ZZN2ns1fEvENKUlvE_clEv", "ns::f::{lambda}::operator()" },
	{ "_ZZN2ns1fEvENKUliE0_clEi", "ns::f::{lambda}::operator()" },
	{ "_ZZ1fvEN1A1gEv", "f::A::g" },
	{ "_ZZN1A1fERKS_EN1B1gES1_", "A::f::B::g" },
	{ "_ZZ1fvENKUlT_E_clIiEEDaS_", "f::{lambda}::operator()" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back" },
	{ "_ZNSaIcEC1Ev", "std::allocator::allocator" },
	{ "_ZNSsC1Ev", "std::basic_string::basic_string" },
	{ "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move" },
	{ "_ZN1A1fB5cxx11Ev", "A::f" },
	{ "_Z1fIJicEEvDpT_", "f" },
	{ "_Z1fILi3ELb1EEvv", "f" },
	{ "_Z1fIXadL_Z1gvEEEvv", "f" },
	{ "_Z1fIiEDTcl1gfp_EET_", "f" },
	{ "_Z1fI1AEDTadsrT_1xES1_", "f" },
	{ "_Z1fIXplLi1ELi2EEEvv", "f" },
	{ "_ZN1A1fEv.cold", "A::f" },
	{ "_ZN1A1fEv.constprop.0.isra.1.part.2", "A::f" },
	{ "plain", "plain" },
	{ "plain.part.0.cold", "plain" },
	{ "plain.other", "plain.other" },
	{ "plain.cold.other", "plain.cold.other" },
	{ "a.b.c", "a.b.c" },
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
	{ "_RNvC6_123foo3bar", "_RNvC6_123foo3bar" },
	/* Not functions, and not names at all. */
	{ "_ZTV1A", "_ZTV1A" },
	{ "_ZThn16_N1A1fEv", "_ZThn16_N1A1fEv" },
	{ "_ZGVZ1fvE1x", "_ZGVZ1fvE1x" },
	{ "_Z", "_Z" },
	{ "_ZN", "_ZN" },
	{ "_ZN1A", "_ZN1A" },
	{ "_Z9abc", "_Z9abc" },
	{ "_Z0", "_Z0" },
	{ "_Z99999999999999999999a", "_Z99999999999999999999a" },
	{ "_ZS_1fv", "_ZS_1fv" },
	{ "_ZN1AIXE1fEv", "_ZN1AIXE1fEv" },
	{ "", "" },
};

TEST(test_cases)
{
	char out[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = hodo_mangled_name(cases[i].mangled, out, sizeof(out));

		assert_string_equal(out, cases[i].want);
		assert_int_equal(n, strlen(out));
		/* Cut, and with no room at all. */
		memset(out, 'x', sizeof(out));
		assert_int_equal(hodo_mangled_name(cases[i].mangled, out, 5), n);
		assert_int_equal(strlen(out), n < 5 ? n : 4);
		assert_memory_equal(out, cases[i].want, n < 5 ? n : 4);
		assert_int_equal(out[5], 'x');
		assert_int_equal(hodo_mangled_name(cases[i].mangled, NULL, 0), n);
	}
}

static const struct {
	const char *mangled, *full, *brief, *with;
} texts[] = {
	{ "_ZN5StoreISsE3putEiSs", "Store<std::string>::put", "Store<string>::put", "Store<string>::put(int, string)" },
	{ "_ZNK1AIiE1fEv", "A<int>::f", "A<int>::f", "A<int>::f() const" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back",
	  "std::vector<int>::push_back", "std::vector<int>::push_back(int&&)" },
	{ "_Z3maxIiET_S0_S0_", "max<int>", "max<int>", "int max<int>(int, int)" },
	{ "_Z1fILi3ELb1EEvv", "f<3, true>", "f<3, true>", "void f<3, true>()" },
	{ "_ZZ1fvENKUliE10_clEi", "f()::{lambda(int)#12}::operator()", "f()::{lambda(int)#12}::operator()",
	  "f()::{lambda(int)#12}::operator()(int) const" },
};

TEST(test_texts)
{
	static struct hodo_mangled_texts t;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(hodo_mangled_text(texts[i].mangled, false, &t));
		t.full[t.full_len] = t.brief[t.brief_len] = 0;
		assert_string_equal(t.full, texts[i].full);
		assert_string_equal(t.brief, texts[i].brief);
		assert_true(hodo_mangled_text(texts[i].mangled, true, &t));
		t.brief[t.brief_len] = 0;
		assert_string_equal(t.brief, texts[i].with);
	}
	assert_false(hodo_mangled_text("plain", true, &t));
	assert_false(hodo_mangled_text("_ZTV1A", true, &t));
	assert_false(hodo_mangled_text("_Z", true, &t));
}

/* Each template names the previous one twice: gigabytes, if nothing ended it early. */
TEST(test_endless_text)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static struct hodo_mangled_texts t;
	char name[1000] = "_Z1fI1PI1AS0_E", *end = name + strlen(name);

	for (const char *d = digits + 1; *d; d++)
		end += sprintf(end, "S_IS%c_S%c_E", *d, *d);
	strcpy(end, "EvT_");
	assert_false(hodo_mangled_text(name, true, &t));
	assert_true(hodo_mangled_text("_Z1fIiEvT_", true, &t));
	assert_int_equal(t.full_len, strlen("void f<int>(int)"));
}

/* Nesting, and parts that refer to parts, stop at a limit and leave the name unchanged. */
TEST(test_limits)
{
	static const char *const units[] = { "P", "N1AI", "1AI", "Z", "ZN", "F", "X", "S_", "L_Z", "Dp", "T_I", "cl",
					     "I", "J", "A_", "M", "1a", "pl", "cvT_I", "T_IcvT0_I", NULL };
	static char text[400000], out[500000];
	static struct hodo_mangled_texts whole;

	for (const char *const *unit = units; *unit; unit++) {
		for (int i = 0; i < 4; i++) {
			strcpy(text, i & 1 ? "_Z1fI" : "_Z");
			for (size_t n = strlen(text); n + 12 < (i & 2 ? 100000 : sizeof(text)); n += strlen(*unit))
				strcpy(text + n, *unit);
			hodo_mangled_name(text, out, sizeof(out));
			assert_true(strcmp(out, text) == 0 || strlen(out) < strlen(text));
			text[1000] = 0;
			hodo_mangled_text(text, true, &whole);
		}
	}
	strcpy(text, "_ZN1A");
	for (size_t n = strlen(text); n < 100000; n += 2)
		strcpy(text + n, "1b");
	strcat(text, "Ev");
	hodo_mangled_name(text, out, sizeof(out));
	assert_memory_equal(out, "A::b::b::b", 10);
}

/* SPDX-License-Identifier: MIT */
/* test_mangled.c - short names of C++ functions, one by one; compare_cxxfilt.py has the many. */
#include <stdlib.h>
#include <string.h>
#include <lib/unit.h>
#include <func/mangled.h>

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
	/* Not functions, and what is none of it. */
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

/* Nesting, and parts that refer to parts, end by a limit and leave the name as it is. */
TEST(test_limits)
{
	static const char *const units[] = { "P", "N1AI", "1AI", "Z", "ZN", "F", "X", "S_", "L_Z", "Dp", "T_I", "cl",
					     "I", "J", "A_", "M", "1a", "pl", "cvT_I", "T_IcvT0_I", NULL };
	static char text[400000], out[500000];

	for (const char *const *unit = units; *unit; unit++) {
		for (int i = 0; i < 4; i++) {
			strcpy(text, i & 1 ? "_Z1fI" : "_Z");
			for (size_t n = strlen(text); n + 12 < (i & 2 ? 100000 : sizeof(text)); n += strlen(*unit))
				strcpy(text + n, *unit);
			hodo_mangled_name(text, out, sizeof(out));
			assert_true(strcmp(out, text) == 0 || strlen(out) < strlen(text));
		}
	}
	strcpy(text, "_ZN1A");
	for (size_t n = strlen(text); n < 100000; n += 2)
		strcpy(text + n, "1b");
	strcat(text, "Ev");
	hodo_mangled_name(text, out, sizeof(out));
	assert_memory_equal(out, "A::b::b::b", 10);
}

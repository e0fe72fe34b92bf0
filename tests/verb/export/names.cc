/* SPDX-License-Identifier: MIT */
/*
 * names.cc - a program whose functions have names that confuse formats: C++ ones, and placeholders of 32 bytes, which
 * the test replaces in the file by what no compiler would write. All of them return. names [TIMES]
 */
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

volatile int sink;

extern "C" {
KEEP int hodo_placeholder_g_ggggggggggggg(int n) { return sink += n; }
KEEP int hodo_placeholder_f_fffffffffffff(int n) { return sink += hodo_placeholder_g_ggggggggggggg(n); }
KEEP int hodo_placeholder_e_eeeeeeeeeeeee(int n) { return sink += hodo_placeholder_f_fffffffffffff(n); }
KEEP int hodo_placeholder_d_ddddddddddddd(int n) { return sink += hodo_placeholder_e_eeeeeeeeeeeee(n); }
KEEP int hodo_placeholder_c_ccccccccccccc(int n) { return sink += hodo_placeholder_d_ddddddddddddd(n); }
KEEP int hodo_placeholder_b_bbbbbbbbbbbbb(int n) { return sink += hodo_placeholder_c_ccccccccccccc(n); }
KEEP int hodo_placeholder_a_aaaaaaaaaaaaa(int n) { return sink += hodo_placeholder_b_bbbbbbbbbbbbb(n); }
}

namespace shop {

template <typename Key, typename Value> struct Table {
	KEEP int find(const std::map<Key, std::vector<Value>> &in, const Key &key)
	{
		return sink += hodo_placeholder_a_aaaaaaaaaaaaa((int)in.count(key));
	}
	KEEP int operator()(int n) { return sink += n; }
};

namespace {
/* A function that calls itself, and two that call each other. */
KEEP int down(int n) { return n > 0 ? sink += down(n - 1) : 0; }
int odd(int n);
KEEP int even(int n) { return n > 0 ? sink += odd(n - 1) : 0; }
KEEP int odd(int n) { return n > 0 ? sink += even(n - 1) : 0; }
} // namespace

} // namespace shop

KEEP int once(int n)
{
	std::map<std::string, std::vector<int>> map;
	shop::Table<std::string, int> table;

	sink += table.find(map, "key");
	sink += table(n);
	return sink += shop::down(3) + shop::even(4);
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? std::atoi(argv[1]) : 10; i > 0; i--)
		once(i);
	return 0;
}

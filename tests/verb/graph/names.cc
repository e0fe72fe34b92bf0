// SPDX-License-Identifier: MIT
// names.cc - functions of C++ with long names, and some that look alike without their parameters.
#include <map>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

volatile int sink;

namespace shop {

template<class T> struct Store {
	std::map<int, T> items;

	KEEP void put(int key, const T &item)
	{
		items[key] = item;
		sink += key;
	}
	KEEP int size() const { return sink += (int)items.size(); }
	KEEP int size() { return sink -= (int)items.size(); }
};

KEEP int over(int a) { return sink += a; }
KEEP int over(double a) { return sink -= (int)a; }
KEEP int takes(const std::vector<std::string> &all) { return sink += (int)all.size(); }

} // namespace shop

int main()
{
	shop::Store<std::string> texts;
	shop::Store<std::vector<int>> lists;
	const shop::Store<std::string> &same = texts;

	texts.put(1, "one");
	lists.put(2, { 1, 2 });
	texts.size();
	same.size();
	shop::over(1);
	shop::over(2.0);
	shop::takes({ "a", "b" });
	return 0;
}

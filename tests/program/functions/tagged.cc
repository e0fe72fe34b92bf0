// SPDX-License-Identifier: MIT
// tagged.cc - functions whose names have ABI tags, template arguments with commas, or are operators.
#include <map>
#include <string>

namespace eng {

struct Cache {
	std::string find(int key);
	std::map<int, std::string> all;
};

__attribute__((noinline)) std::string Cache::find(int key)
{
	return all[key] + "!";
}

template <class K, class V> struct Store {
	K key;
	V value;
	V get(K k) const;
	std::string text() const;
	operator bool() const;
	bool operator<(const Store &other) const;
};

template <class K, class V> __attribute__((noinline)) V Store<K, V>::get(K k) const
{
	return k == key ? value : V();
}

template <class K, class V> __attribute__((noinline)) std::string Store<K, V>::text() const
{
	return std::to_string(value);
}

template <class K, class V> __attribute__((noinline)) Store<K, V>::operator bool() const
{
	return key != K();
}

template <class K, class V> __attribute__((noinline)) bool Store<K, V>::operator<(const Store &other) const
{
	return key < other.key;
}

}

int main()
{
	eng::Cache cache;
	eng::Store<int, double> store = { 3, 2.5 }, other = { 4, 0.5 };
	int n = 0;

	for (int i = 0; i < 3; i++) {
		n += static_cast<int>(cache.find(i).size() + store.text().size());
		n += store.get(i) > 1 ? 1 : 0;
		n += store ? 1 : 0;
		n += store < other ? 1 : 0;
	}
	return n > 0 ? 0 : 1;
}

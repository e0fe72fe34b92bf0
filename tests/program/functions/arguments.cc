// SPDX-License-Identifier: MIT
// arguments.cc - functions with arguments and results of all kinds, in several threads, inside of each other, and left
// by exceptions. Prints each call, for comparison. With an argument it goes on until its input ends.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#ifdef __clang__
#define CODE __attribute__((noinline))
#else
#define CODE __attribute__((noipa))
#endif

struct Point {
	int x, y;
};

struct Store {
	int used = 0;
	CODE int put(const char *key, double weight);
	CODE long get(int n) const;
};

extern "C" {
CODE uint64_t sum(int a, unsigned char b, int64_t c, int d, int e, int f, short g, uint64_t h)
{
	return static_cast<uint64_t>(a + b + c + d + e + f + g) + h;
}

CODE const char *choose(const char *text, bool second)
{
	return second ? text + 1 : text;
}

CODE double half(double x)
{
	return x / 2;
}

CODE void nothing(const Point *p)
{
	asm volatile("" : : "r"(p));
}

CODE int plain()
{
	int n = 42;

	asm volatile("" : "+r"(n)); // otherwise the compiler omits the call
	return n;
}

CODE int fact(int n)
{
	int less = n <= 1 ? 1 : fact(n - 1);

	asm volatile("" : "+r"(less)); // prevents a loop
	return n <= 1 ? 1 : n * less;
}

CODE int throws(int n)
{
	if (n > 2)
		throw std::runtime_error("more");
	return n;
}

CODE long tail(int n)
{
	return labs(n);
}

CODE int odd(int addr, int n)
{
	return addr - n;
}
}

CODE int Store::put(const char *key, double weight)
{
	used += key ? key[0] : 0;
	return used + static_cast<int>(weight);
}

CODE long Store::get(int n) const
{
	return used * static_cast<long>(n);
}

CODE static void once(int argc)
{
	Store store;
	Point p = { 1, 2 };
	std::thread others[2];

	std::printf("sum %llu\n", static_cast<unsigned long long>(sum(-1, 200, -5000000000, 4, 5, 6, -7, 1ull << 63)));
	std::printf("choose %s\n", choose("key", true));
	std::printf("choose %s\n", choose(nullptr, false) ? "something" : "nothing");
	std::printf("half %g\n", half(5));
	nothing(&p);
	std::printf("plain %d\n", plain());
	std::printf("fact %d\n", fact(5));
	for (int i = 1; i < 5; i++) {
		try {
			throws(i);
		} catch (const std::exception &) {
		}
	}
	std::printf("tail %ld\n", tail(-argc));
	std::printf("odd %d\n", odd(9, 2));
	std::printf("put %d\n", store.put("abc", 2.5));
	std::printf("get %ld\n", store.get(-3));
	for (auto &t : others)
		t = std::thread([] { for (int i = 0; i < 50; i++) fact(i % 5); });
	for (auto &t : others)
		t.join();
}

int main(int argc, char **)
{
	once(argc);
	if (argc == 1)
		return 0;
	std::thread([] {
		for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
			once(1);
	}).detach();
	return std::getchar() == EOF ? 0 : 1;
}

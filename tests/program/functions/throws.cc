// SPDX-License-Identifier: MIT
//
// throws.cc - functions that exceptions go through: with destructors, caught and thrown again, from constructors,
// across a library, in threads and from one to another.
#include "throws.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

COUNT(main);
COUNT(on_tick);
COUNT_AS(guard_ctor, "guard::guard");
COUNT_AS(guard_dtor, "guard::~guard");
COUNT_AS(cleanup, "guard::work");
COUNT(frames);
COUNT(rethrow);
COUNT(translate);
COUNT_AS(part_ctor, "part::part");
COUNT_AS(part_dtor, "part::~part");
COUNT_AS(whole_ctor, "whole::whole");
COUNT(unwinds);
COUNT(nested);
COUNT_AS(from_virtual, "derived::run");
COUNT_AS(from_template, "count_down<long>");
COUNT(thrower);
COUNT(quiet);
COUNT(deepest);

static std::atomic<int> alive;

struct guard {
	int n;
	TRACED explicit guard(int i) : n(i)
	{
		ENTER(guard_ctor);
		alive++;
		LEAVE(guard_ctor);
	}
	TRACED void work()
	{
		ENTER(cleanup);
		n = -n;
		LEAVE(cleanup);
	}
	TRACED ~guard()
	{
		ENTER(guard_dtor);
		work();
		alive--;
		LEAVE(guard_dtor);
	}
};

TRACED static int frames(int n)
{
	ENTER(frames);
	guard g(n);

	if (n == 0)
		throw std::string("at the bottom");
	int r = frames(n - 1) + 1;
	LEAVE(frames);
	return r;
}

/* Catches at every level, and throws the same exception again. */
TRACED static int rethrow(int n)
{
	ENTER(rethrow);
	int r = 0;

	try {
		guard g(n);
		if (n == 0)
			throw 42;
		r = rethrow(n - 1);
	} catch (int &i) {
		i++;
		if (n % 2)
			throw;
		throw int(i);
	}
	LEAVE(rethrow);
	return r;
}

/* A function try block that throws something else. */
TRACED static void translate(int n) try {
	ENTER(translate);
	frames(n);
	LEAVE(translate);
} catch (const std::string &) {
	throw over::there(n);
}

struct part {
	TRACED explicit part(int n)
	{
		ENTER(part_ctor);
		if (n < 0)
			throw std::out_of_range("part");
		LEAVE(part_ctor);
	}
	TRACED ~part()
	{
		ENTER(part_dtor);
		LEAVE(part_dtor);
	}
};

/* The constructor of the second part fails: the first part is destroyed. */
struct whole {
	part one, two;
	TRACED explicit whole(int n) : one(1), two(n)
	{
		ENTER(whole_ctor);
		LEAVE(whole_ctor);
	}
};

/* Destructors that throw and catch another exception while one exception runs them. */
struct stubborn {
	~stubborn()
	{
		try {
			frames(3);
		} catch (const std::string &) {
			alive += 100;
		}
	}
};

TRACED static void unwinds(int n)
{
	ENTER(unwinds);
	stubborn s;

	if (n == 0)
		throw over::there(0);
	unwinds(n - 1);
	LEAVE(unwinds);
}

TRACED static void nested(int n)
{
	ENTER(nested);
	try {
		if (n == 0)
			throw std::logic_error("inner");
		nested(n - 1);
	} catch (const std::exception &) {
		std::throw_with_nested(std::runtime_error("outer"));
	}
	LEAVE(nested);
}

struct base {
	virtual ~base() = default;
	virtual int run(int n) = 0;
};

struct derived : base {
	TRACED int run(int n) override;
};

TRACED int derived::run(int n)
{
	ENTER(from_virtual);
	if (n == 0)
		throw over::there(n);
	int r = static_cast<base *>(this)->run(n - 1);
	LEAVE(from_virtual);
	return r;
}

template <typename T> TRACED T count_down(T n)
{
	ENTER(from_template);
	if (n <= 0)
		throw static_cast<T>(n);
	T r = count_down<T>(n - 1);

	LEAVE(from_template);
	return r;
}

TRACED static int thrower(int n)
{
	ENTER(thrower);
	guard g(n);

	over::deep(n);
	LEAVE(thrower);
	return n;
}

/* Returns normally: its frames are where frames have been that were left. */
TRACED static int quiet(int n)
{
	ENTER(quiet);
	int r = n > 0 ? quiet(n - 1) + 1 : 1;

	LEAVE(quiet);
	return r;
}

template <typename Error, typename F> static int caught(F f)
{
	try {
		f();
	} catch (const Error &) {
		return 1 + quiet(alive % 7);
	}
	return 0;
}

static int throws(int i)
{
	int n = i % 30, sum = 0;

	sum += caught<std::string>([n] { frames(n); });
	sum += caught<int>([n] { rethrow(n); });
	sum += caught<over::there>([n] { translate(n); });
	sum += caught<std::out_of_range>([] { whole w(-1); });
	sum += caught<over::there>([n] { unwinds(n % 5); });
	sum += caught<std::runtime_error>([n] { nested(n); });
	sum += caught<over::there>([n] {
		auto object = std::make_unique<derived>();
		object->run(n);
	});
	sum += caught<long>([n] { count_down<long>(n); });
	sum += caught<std::bad_alloc>([] { throw std::bad_alloc(); });
	return sum;
}

static int across(int i)
{
	int n = i % 20, sum = 0;

	sum += caught<over::there>([n] { over::deep(n); });
	sum += caught<over::there>([n] { over::call(n, thrower, 5); });
	sum += caught<over::there>([n] { over::call(n, over::deep, n); });
	sum += caught<over::there>([n] { over::again(n, thrower, n); });
	sum += caught<std::string>([n] { over::again(n, frames, n); });
	sum += over::call(n, quiet, n);
	return sum;
}

/* Thrown in one thread, kept, thrown again in another. */
static int through_threads()
{
	std::vector<std::thread> threads;
	std::exception_ptr kept[4];
	int results[4] = {0, 0, 0, 0}, sum = 0;

	for (int k = 0; k < 4; k++)
		threads.emplace_back([k, &kept, &results] {
			try {
				thrower(k + 4);
			} catch (...) {
				kept[k] = std::current_exception();
			}
			for (int i = 0; i < 20; i++)
				results[k] += caught<long>([k] { count_down<long>(k + 3); }) > 0;
		});
	for (auto &thread : threads)
		thread.join();
	for (int k = 0; k < 4; k++) {
		try {
			std::rethrow_exception(kept[k]);
		} catch (const over::there &) {
			sum += 1 + results[k];
		}
	}
	return sum;
}

TRACED static long deepest(int n)
{
	ENTER(deepest);
	guard g(n);
	if (n == 0)
		throw over::there(0);
	long r = deepest(n - 1) + g.n;
	LEAVE(deepest);
	return r;
}

static volatile int last_tick;

TRACED static void on_tick(int sig)
{
	ENTER(on_tick);
	last_tick = sig;
	LEAVE(on_tick);
}

int main()
{
	ENTER(main);
	const char *us = getenv("TICK_US");
	long thrown = 0, over_library = 0;

	if (us)
		counts_ticks(atol(us), on_tick);
	for (int i = 0; i < 60; i++) {
		thrown += throws(i);
		over_library += across(i);
	}
	printf("throws: %ld, across a library: %ld, through threads: %d\n", thrown, over_library, through_threads());
	try {
		deepest(5000);
	} catch (const over::there &there) {
		printf("5000 frames deep: %s\n", there.what());
	}
	printf("alive: %d\n", alive.load());
	fflush(stdout);
	LEAVE(main);
	return 0;
}

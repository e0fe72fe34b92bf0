/* SPDX-License-Identifier: MIT */
/* coroutine.cc - events and spans of coroutines that are suspended in between; languages.py knows the events. */
#include <hodo/trace.h>

#include <coroutine>
#include <string>

struct Task {
	struct promise_type {
		Task get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

static Task work(std::string name, int n)
{
	HODO_BEGIN(co, part, n, name);
	for (int i = 0; i < n; i++) {
		HODO_EVENT(co, step, name, i);
		co_await std::suspend_always{};
	}
	HODO_SPAN(co, last, name + " and a text that needs memory of its own");
	co_await std::suspend_always{};
	HODO_END(co, part, n);
}

int main()
{
	Task first = work("first", 2), second = work("second", 3);

	while (!first.handle.done() || !second.handle.done()) {
		if (!first.handle.done())
			first.handle.resume();
		if (!second.handle.done())
			second.handle.resume();
	}
	first.handle.destroy();
	second.handle.destroy();
	return 0;
}

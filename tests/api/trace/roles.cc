// SPDX-License-Identifier: MIT
// roles.cc - functions of all kinds that are for one role of threads, called in both; for roles.sh.
#include <hodo/tracer.h>
#include <pthread.h>

static volatile int count;

struct Guard {
	~Guard() { count = count + 1; }
};
struct Window {
	void draw()
	{
		Guard guard;
		HODO_ONLY_IN("main");
		Guard other;
		count = count + 1;
	}
	static void clear() { HODO_ONLY_IN("main"); count = count + 1; }
};
template <class T> struct Box {
	T put(T value)
	{
		HODO_ONLY_IN("main");
		count = count + 1;
		return value;
	}
};
namespace ui {
inline void helper() { HODO_ONLY_IN("main"); count = count + 1; }
static void local() { HODO_ONLY_IN("main"); count = count + 1; }
} // namespace ui
static void early(int n)
{
	HODO_ONLY_IN("main");
	if (n == 0)
		return;
	count = count + n;
	count = count * n;
}
static void theirs() { HODO_ONLY_IN("worker"); count = count + 1; }
static void both() { HODO_ONLY_IN("main"); HODO_ONLY_IN("worker"); count = count + 1; }
static void anyone() { count = count + 1; }

static void all()
{
	Window w;

	w.draw();
	Window::clear();
	Box<int>().put(1);
	Box<char>().put('a');
	ui::helper();
	ui::local();
	early(0);
	theirs();
	both();
	anyone();
}

static void *worker(void *arg)
{
	hodo_thread_role("worker");
	all();
	return arg;
}

int main()
{
	pthread_t t;

	all();
	pthread_create(&t, nullptr, worker, nullptr);
	pthread_join(t, nullptr);
	return 0;
}

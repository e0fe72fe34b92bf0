// SPDX-License-Identifier: MIT
// sited.cc - functions with sites, whose code returns from libhodo right before an exit of the function.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <hodo/trace.h>

namespace eng {

__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* A span around everything; the exceptions are caught inside. */
__attribute__((noinline)) int handle(int id)
{
	HODO_SPAN(eng, handle, id);
	try {
		if (id % 10 == 7)
			throw std::runtime_error("seven");
		HODO_EVENT(eng, request, id);
		return work(id);
	} catch (const std::exception &) {
		HODO_EVENT(eng, fail, id);
		return -1;
	}
}

}

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 0, sum = 0;

	for (int i = 0; i < n; i++)
		sum += eng::handle(i);
	std::printf("%d\n", sum);
	return 0;
}

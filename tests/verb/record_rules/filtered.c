/* SPDX-License-Identifier: MIT */
/* filtered.c - a program with fields of all sorts, for filtered.py. */
#define _GNU_SOURCE
#include <hodo/trace.h>

#include <fenv.h>
#include <signal.h>
#include <string.h>

static void on_signal(int number)
{
	HODO_EVENT(f, signal, HODO_F(n, number), HODO_F(key, "user:signal"));
}

int main(void)
{
	static const char *const keys[] = { "user:1", "user:2", "admin", NULL };
	unsigned char blob[3] = { 1, 2, 3 };

	signal(SIGUSR1, on_signal);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT); /* a filter must not raise these exceptions */
	for (int n = 0; n < 100; n++) {
		unsigned long long big = ~0ull - (unsigned)n;
		const char *key = keys[n % 4];
		short quarter = (short)(n / 4);

		HODO_EVENT(f, fixed, n, big, quarter);
		HODO_EVENT(f, mixed, HODO_F(blob, HODO_BYTES(blob, n % 4)), n, key, HODO_F(last, quarter));
		HODO_EVENT(f, real, n, HODO_F(third, n / 4 * 0.25));
		HODO_MARK(f, mark, "key %s n %d", key, n);
		HODO_EVENT(f, bare);
		if (n % 10 == 0)
			raise(SIGUSR1);
	}
	return 0;
}

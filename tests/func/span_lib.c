/* SPDX-License-Identifier: MIT */
/*
 * span_lib.c - traceable functions NAME_work, NAME_leaf and NAME_distant, in a library or with spans.c in a program.
 *
 * WIDE: the last is 128 MiB behind the others, so that no other object has code of which no address is the same modulo
 * 128 MiB. DATA: there are 200 MiB of data behind them.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define SHOW __attribute__((visibility("default"), noinline, noclone))
#ifdef WIDE
#define DISTANT __attribute__((section(".far")))
#else
#define DISTANT
#endif
#ifdef DATA
__attribute__((visibility("default"))) char data[200 << 20];
#endif

SHOW int JOIN(NAME, _leaf)(int n);
SHOW int JOIN(NAME, _distant)(int n);
SHOW int JOIN(NAME, _work)(int n);

int JOIN(NAME, _leaf)(int n)
{
	__asm__ volatile("");
	return n + 1;
}

DISTANT int JOIN(NAME, _distant)(int n)
{
	int sum = JOIN(NAME, _leaf)(n);

	__asm__ volatile("");
	return sum + 1;
}

int JOIN(NAME, _work)(int n)
{
	int sum = JOIN(NAME, _leaf)(n) + JOIN(NAME, _distant)(n);

	__asm__ volatile("");
	return sum;
}

/* SPDX-License-Identifier: MIT */
/*
 * span_lib.c - traceable functions NAME_work, NAME_leaf and NAME_distant, in a library or with spans.c in a program.
 *
 * WIDE: NAME_distant is 128 MiB after the others, so that each other object has code whose addresses modulo
 * 128 MiB are also addresses of this one. DATA: 200 MiB of data follow the functions.
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

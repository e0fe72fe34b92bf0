/* SPDX-License-Identifier: MIT */
/* plugin.c - a library with functions whose names begin with COLOR: the size is the same for each color. */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

__attribute__((noinline)) static int JOIN(COLOR, inner)(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

__attribute__((noinline)) static int JOIN(COLOR, outer)(int n)
{
	__asm__ volatile("" ::: "memory");
	return JOIN(COLOR, inner)(n) + 1;
}

int run(int n)
{
	return JOIN(COLOR, outer)(n) + 1;
}

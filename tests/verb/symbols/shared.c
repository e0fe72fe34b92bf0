/* SPDX-License-Identifier: MIT */
/* shared.c - the library of app.c. */
__attribute__((noinline)) static int hidden_shared(int n)
{
	__asm__ volatile("");
	return n + 1;
}

int shared(int n)
{
	return hidden_shared(n) * 3;
}

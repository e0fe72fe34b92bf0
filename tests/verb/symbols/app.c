/* SPDX-License-Identifier: MIT */
/* app.c - functions that only a full symbol table names: the program's, and inner ones in it and in its library. */
#include <hodo/trace.h>

int shared(int n); /* shared.c */

__attribute__((noinline)) static int hidden_inner(int n)
{
	HODO_EVENT(app, deep, n);
	return shared(n) + 1;
}

__attribute__((noinline)) int shown_outer(int n)
{
	return hidden_inner(n) * 2 + BUILD;
}

int main(void)
{
	return shown_outer(3) == 0;
}

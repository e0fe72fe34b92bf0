/* SPDX-License-Identifier: MIT */
/* hello.c - the smallest traced program: hodo record ./hello && hodo print */
#include <hodo/trace.h>
#include <stdio.h>

int main(void)
{
	for (int i = 0; i < 10; i++)
		HODO_EVENT(hello, greet, i, HODO_F(whom, "world"));
	puts("hello: greeted 10 times");
}

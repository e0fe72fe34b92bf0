/* SPDX-License-Identifier: MIT */
/* own.c - events of every kind, which HODO_SDT makes static probes, too, in C and C++. */
#include <hodo/trace.h>
#include <stdio.h>

HODO_TRACEPOINT(own, point, (int, n), (const char *, text));

static unsigned evaluated;

__attribute__((noinline)) int work(int n, const char *text, double part, void *bytes, size_t len)
{
	HODO_EVENT(own, none);
	HODO_EVENT(own, two, n, text);
	HODO_EVENT(own, ways, HODO_STR(text, len), HODO_F(share, part), HODO_BYTES(bytes, len), evaluated++);
	HODO_MARK(own, said, "%d is %s", n, text);
	HODO_COUNTER(own, level, n * 2);
	HODO_BEGIN(own, job, n);
	{
		HODO_SPAN(own, part, n, len);
		n += text[0] == 'x';
	}
	HODO_END(own, job, n);
	trace_own_point(n, text);
	HODO_EVENT(own, many, n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	return n;
}

int main(void)
{
	char bytes[] = "bytes";
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += work(i, "text", i / 2.0, bytes, 3);
	printf("%d evaluated %u\n", sum, evaluated);
	return 0;
}

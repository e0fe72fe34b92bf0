/* SPDX-License-Identifier: MIT */
/* plugin.c - a library with traceable functions, opened and closed by torture.c. */
#define SHOW __attribute__((visibility("default"), noinline))

SHOW int plugin_leaf(int n)
{
	__asm__ volatile("");
	return n + 1;
}

SHOW int plugin_work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += plugin_leaf(i);
	return sum;
}

/* SPDX-License-Identifier: MIT */
/* step.c - what a debugger steps through line by line: returns from functions of several shapes, and tail jumps. */
static volatile int sink;

static __attribute__((noipa)) int leaf(int n)
{
	int m = n * 2;

	sink = m;
	return m + 3;
}

static __attribute__((noipa)) int keeps(int n)
{
	int r = leaf(n);

	r += leaf(r);
	sink = r;
	return r + n;
}

static __attribute__((noipa)) int early(int n)
{
	if (n > 5)
		return leaf(n) - 1;
	sink = n;
	return keeps(n);
}

static __attribute__((noipa)) void nothing(int n)
{
	sink = n;
}

int main(void)
{
	int a = keeps(1);

	nothing(a);
	a = early(a);
	a = early(2);
	sink = a;
	return 0;
}

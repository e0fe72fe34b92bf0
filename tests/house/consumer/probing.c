/* SPDX-License-Identifier: MIT */
/* probing.c - a program with static probes, which does not know Hodoscope. */
#include <sys/sdt.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		STAP_PROBE1(consumer, tick, i);
	DTRACE_PROBE(consumer, done);
	return 0;
}

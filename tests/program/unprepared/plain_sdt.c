/* SPDX-License-Identifier: MIT */
/*
 * plain_sdt.c - a program with static probes as other headers make them: a nop, a note, and a semaphore. For each byte
 * of its standard input it comes to both of them 100 times, and prints how often it found the semaphore up. After an f,
 * its child does this.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_note.h"

__attribute__((section(".probes"))) volatile uint16_t plain_semaphore;

static int table[4] = { 3, 1, 4, 1 };
int latest;

__attribute__((noinline)) static long step(long i, double f)
{
	struct {
		int8_t small;
		int32_t number;
	} local = { (int8_t)-i, (int32_t)(i * 1000) };

	latest = (int)i;
	__asm__ volatile(NOTE("values", "0", "8@%[i] -1@%[small] -4@%[number] 8f@%[f] -4@$-7 2@%w[i] -4@latest(%%rip) "
			      "-4@table+8(%%rip) 8@missing(%%rip)")
			 : : [i] "r"(i), [small] "m"(local.small), [number] "m"(local.number), [f] "x"(f), "m"(table));
	return local.number + i;
}

int main(void)
{
	long up = 0, sum = 0;

	for (int c; (c = getchar()) != EOF;) {
		if (c == 'f' && fork() > 0)
			return wait(NULL) < 0;
		up = 0;
		for (long i = 0; i < 100; i++) {
			sum += step(i, (double)i / 2);
			__asm__ volatile(NOTE("guarded", "plain_semaphore", "8@%[i]") : : [i] "r"(i));
			up += plain_semaphore != 0;
		}
		printf("%ld %ld\n", up, sum);
		fflush(stdout);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * tight.c - probes without room for a jump: a jump leads to the instruction after a nop; a function is one byte long.
 * For each character of its standard input it comes to each of them 100 times.
 */
#include <stdint.h>
#include <stdio.h>

#include "plain_note.h"

long tight_first(long n), tight_second(long n);
__asm__(".pushsection .text\n.globl tight_first, tight_second\n"
	".type tight_first, @function\n.type tight_second, @function\n"
	"tight_first: .cfi_startproc\nret\n.cfi_endproc\n.size tight_first, . - tight_first\n"
	"tight_second: .cfi_startproc\nlea 1(%rdi),%rax\nret\n.cfi_endproc\n.size tight_second, . - tight_second\n"
	".popsection\n");

__attribute__((noinline)) static long meet(long n)
{
	long rounds = 0, left = n + 1;

	__asm__ volatile(NOTE("tight", "0", "8@%[n] 8@%[left]") "2: inc %[rounds]\ndec %[left]\njg 2b\n"
			 : [rounds] "+r"(rounds), [left] "+r"(left)
			 : [n] "r"(n)
			 : "cc");
	return rounds;
}

int main(void)
{
	for (int c; (c = getchar()) != EOF;) {
		long sum = 0;

		for (long i = 0; i < 100; i++) {
			sum += meet(i) + tight_second(i);
			tight_first(i);
		}
		printf("%ld\n", sum);
		fflush(stdout);
	}
	return 0;
}

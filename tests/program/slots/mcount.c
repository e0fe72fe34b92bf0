/* SPDX-License-Identifier: MIT */
/* mcount.c - a library's own mcount, which counts. */
#include <stdio.h>

long mcount_calls;

__asm__(".text\n\t.globl mcount\n\t.type mcount, @function\nmcount:\n\t"
	"pushq %rax\n\tmovq mcount_calls@GOTPCREL(%rip), %rax\n\tincq (%rax)\n\tpopq %rax\n\tret\n\t.size mcount, . - mcount");

__attribute__((destructor)) static void tell(void)
{
	printf("own mcount: %ld\n", mcount_calls);
}

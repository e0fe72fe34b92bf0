/* SPDX-License-Identifier: MIT */
/*
 * opened_part.c - a library that nobody prepared, with functions, and a static probe with a semaphore. It reports how
 * often it came to the probe with the semaphore up.
 */
#include <stdint.h>

#define CODE __attribute__((noipa))

__attribute__((section(".probes"))) volatile uint16_t part_semaphore;

#define NOTE(name, semaphore, args)                                          \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n"              \
	".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n993: .8byte 990b,_.stapsdt.base," semaphore "\n"    \
	".asciz \"part\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n"        \
	"994: .balign 4\n.popsection\n"

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base,1\n.popsection\n");

__asm__(".hidden part_semaphore\n");
CODE static long part_step(long n)
{
	return n * 3 + 1;
}

static long before;

CODE __attribute__((constructor)) static void part_begin(void)
{
	before = part_step(1);
}

/* *sum gets the sum; returns how often the semaphore was up. */
__attribute__((visibility("default"))) CODE long part_work(long n, long *sum)
{
	long up = 0;

	*sum = before;
	for (long i = 0; i < n; i++) {
		*sum += part_step(i);
		__asm__ volatile(NOTE("step", "part_semaphore", "8@%[i]") : : [i] "r"(i));
		up += part_semaphore != 0;
	}
	return up;
}

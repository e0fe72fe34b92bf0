/* SPDX-License-Identifier: MIT */
/* plain_note.h - static probes as other headers make them: the note, and with it what a program has once. */
#ifndef HODO_TESTS_ENGINE_PLAIN_NOTE_H
#define HODO_TESTS_ENGINE_PLAIN_NOTE_H

#define NOTE(name, semaphore, args)                                          \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n"              \
	".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n993: .8byte 990b,_.stapsdt.base," semaphore "\n"    \
	".asciz \"plain\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n"       \
	"994: .balign 4\n.popsection\n"

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base,1\n.popsection\n");

#endif

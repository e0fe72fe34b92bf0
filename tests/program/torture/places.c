/* SPDX-License-Identifier: MIT */
/* places.c - calls the functions of places.S, and prints for each entry and exit the addresses around it. */
#include <stdint.h>
#include <stdio.h>

struct place {
	void (*call)(void);
	uint64_t entry, entry_end, exit, exit_end;
};
extern const struct place places[];

__attribute__((no_instrument_function)) int main(void)
{
	for (const struct place *p = places; p->call; p++) {
		p->call();
		printf("entry %lu %lu\n", p->entry, p->entry_end);
		if (p->exit)
			printf("exit %lu %lu\n", p->exit, p->exit_end);
	}
	return 0;
}

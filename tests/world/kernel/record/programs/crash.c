/* SPDX-License-Identifier: MIT */
/* crash - dies of SIGSEGV. */
#include <signal.h>

int main(void)
{
	return raise(SIGSEGV);
}

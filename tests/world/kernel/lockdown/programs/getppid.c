/* SPDX-License-Identifier: MIT */
/* getppid - makes one event. */
#include <unistd.h>

int main(void)
{
	return getppid() < 0;
}

/* SPDX-License-Identifier: MIT */
/* twice.c - a program that contains a libhodo, recorded with another one preloaded. */
#include <hodo/trace.h>
#include <unistd.h>

int main(void)
{
	int uid = (int)getuid(), euid = (int)geteuid();

	for (int n = 0; n < 10; n++)
		HODO_EVENT(twice, event, n, uid, euid);
	return 0;
}

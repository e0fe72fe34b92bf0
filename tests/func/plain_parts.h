/* SPDX-License-Identifier: MIT */
/* plain_parts.h - a function of plain.c's, in another file of source. */
CODE static int small(int n)
{
	return n * 5 - 3;
}

/* SPDX-License-Identifier: MIT */
/* plain_parts.h - a function of plain.c, in another source file. */
CODE static int small(int n)
{
	return n * 5 - 3;
}

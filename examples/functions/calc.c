/* SPDX-License-Identifier: MIT */
/*
 * calc.c - a calculator whose calls can be traced, with nothing about that in its functions:
 *
 *	cc -O2 calc.c -o calc $(pkg-config --cflags --libs hodo-functions)
 *	hodo record --functions ./calc '2*(3+4)' '1+'
 *	hodo graph
 *
 * (with clang: clang -O2 -fxray-instrument -fxray-instruction-threshold=1 -I… calc.c -o calc)
 *
 * The parser descends from sums to products to atoms; hodo graph shows how deep, for how long, and the
 * event inside the call where it happened. An error leaves all of them at once, by longjmp, and their calls
 * are marked as left. Compiled without the flags, this is an ordinary program.
 */
#include <hodo/trace.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const char *text, *at;
static jmp_buf failed;

static double sum(void);

static void fail(const char *what)
{
	HODO_EVENT(calc, error, HODO_F(column, at - text + 1), HODO_F(what, what));
	longjmp(failed, 1);
}

static double atom(void)
{
	double value;
	char *end;

	if (*at == '-') {
		at++;
		return -atom();
	}
	if (*at == '(') {
		at++;
		value = sum();
		if (*at++ != ')')
			fail("a parenthesis is open");
		return value;
	}
	value = strtod(at, &end);
	if (end == at)
		fail("a number is missing");
	at = end;
	return value;
}

static double product(void)
{
	double value = atom();

	while (*at == '*' || *at == '/') {
		if (*at++ == '*')
			value *= atom();
		else
			value /= atom();
	}
	return value;
}

static double sum(void)
{
	double value = product();

	while (*at == '+' || *at == '-') {
		if (*at++ == '+')
			value += product();
		else
			value -= product();
	}
	return value;
}

static int calculate(const char *expression)
{
	double value;

	text = at = expression;
	if (setjmp(failed)) {
		printf("%s: cannot be read from column %d\n", text, (int)(at - text) + 1);
		return 1;
	}
	value = sum();
	if (*at)
		fail("there is more than a sum");
	printf("%s = %g\n", text, value);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= calculate(argv[i]);
	return status;
}

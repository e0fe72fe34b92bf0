// SPDX-License-Identifier: MIT
/* replacing.cpp - the functions that are called in place of replaced.cpp's: a library, which replaced.py builds. */
#include <stdexcept>
#include <string>

extern "C" {
long (*work2_original)(long);
long work2(long n) { return work2_original(n) + 1000; }

long (*throws2_original)(long);
long throws2(long n)
{
	try {
		return throws2_original(n);
	} catch (const std::exception &e) {
		throw std::runtime_error(std::string("replaced ") + e.what());
	}
}

long (*tiny2_original)(long);
long tiny2(long n) { return tiny2_original(n) + 100; }

double (*many2_original)(double, double, double, float, long, long, long, long, long, long, long);
double many2(double a, double b, double c, float d, long e, long f, long g, long h, long i, long j, long k)
{
	return many2_original(a, b, c, d, e, f, g, h, i, j, k) + many2_original(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
}

long weigh2(const long *crate, long more) { return *crate * more; }
bool equal2(const long *, const long *) { return true; }

int (*upper2_original)(int);
int upper2(int c) { return upper2_original(c) * 2; }

/* It has the same name, and is hidden. */
__attribute__((visibility("hidden"))) long work(long n) { return n - 1; }

extern void *const constant_original;
void *const constant_original = nullptr;
extern const void *use_constant;
const void *use_constant = &constant_original;
long constant(long n) { return n; }
long number = 1;
}

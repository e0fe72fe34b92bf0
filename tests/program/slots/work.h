/* SPDX-License-Identifier: MIT */
#ifndef WORK_H
#define WORK_H
#ifdef __cplusplus
extern "C" {
#endif
struct w_large {
	long a, b;
	double c;
	int d[3];
};
int w_leaf(int a);
void w_void(int a);
void w_void_calls(int a);
int w_tail(int a);
int w_many_returns(int a);
int w_recurse(int a);
double w_float(double a, float b, int c);
struct w_large w_struct(long a, long b, double c);
int w_six(int a, int b, int c, int d, int e, int f, int g, int h);
long w_work(int rounds);
#ifdef __cplusplus
}
#endif
#endif

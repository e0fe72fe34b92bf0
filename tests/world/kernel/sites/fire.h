/* SPDX-License-Identifier: MIT */
/* fire.h - a module that does something when a number is written to its parameter `fire`. */
#ifndef TESTS_KERNEL_SITES_FIRE_H
#define TESTS_KERNEL_SITES_FIRE_H

#include <linux/kernel.h>
#include <linux/module.h>

#define FIRE_PARAMETER(func)                                                         \
	static int fire_set(const char *text, const struct kernel_param *kp)         \
	{                                                                            \
		int rounds, err = kstrtoint(text, 0, &rounds);                       \
		(void)kp;                                                            \
		for (int i = 0; !err && i < rounds; i++)                             \
			func(i);                                                     \
		return err;                                                          \
	}                                                                            \
	static const struct kernel_param_ops fire_ops = { .set = fire_set };         \
	module_param_cb(fire, &fire_ops, NULL, 0200)

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* control_events.c - events that come and go; a number written to the parameter fire makes that many of each. */
#include <hodo/trace.h>
#include <linux/module.h>

static int fire_set(const char *text, const struct kernel_param *param)
{
	static const u32 numbers[] = { 1, 2, 3 };
	unsigned int n;
	int err = kstrtouint(text, 10, &n);

	for (unsigned int i = 0; !err && i < n; i++) {
		s64 wide = -(s64)i;
		u8 small = (u8)i;
		char letter = 'x';
		const char *text_of = i & 1 ? "odd" : "even";

		HODO_EVENT(control_test, fixed, HODO_F(number, i), wide, small, HODO_F(flag, (bool)(i & 1)), letter,
			   HODO_F(place, (void *)param));
		HODO_EVENT(control_test, variable, HODO_F(number, i), text_of, HODO_ARRAY(numbers, 3), wide);
		HODO_EVENT(control_test, empty);
		HODO_MARK(control_other, mark, "number %u\tof a \"mark\"\n", i);
	}
	return err;
}
static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("test of hodo.ko's control tree");

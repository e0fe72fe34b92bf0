// SPDX-License-Identifier: MIT
/* sites_off - HODO_DISABLE: the same lines leave nothing in the module. */
#define HODO_DISABLE
#include "shared.h"

static void probe(void *data, int n, const char *who)
{
}

static int __init sites_off_init(void)
{
	int n = 0;

	HODO_EVENT(soff, never, ++n, HODO_STR("text", 4), HODO_BYTES(&n, 4), HODO_ARRAY(&n, 1));
	HODO_LABELS(soff, n, 1, 2);
	{
		HODO_SPAN(soff, span, n);
		HODO_COUNTER(soff, counter, n);
	}
	if (n || trace_sshared_step_enabled() || register_trace_sshared_step(probe, NULL) != -ENOSYS ||
	    unregister_trace_sshared_step(probe, NULL) != -ENOSYS)
		return -EINVAL;
	return 0;
}

static void __exit sites_off_exit(void)
{
}

module_init(sites_off_init);
module_exit(sites_off_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");

// SPDX-License-Identifier: MIT
/* sites_two - the events of shared.h. */
#include "shared.h"

static int __init sites_two_init(void)
{
	return 0;
}

static void __exit sites_two_exit(void)
{
}

module_init(sites_two_init);
module_exit(sites_two_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");

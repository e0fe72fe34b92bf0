// SPDX-License-Identifier: MIT
/* sites_one - the events of shared.h. */
#include "shared.h"

static int __init sites_one_init(void)
{
	return 0;
}

static void __exit sites_one_exit(void)
{
}

module_init(sites_one_init);
module_exit(sites_one_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");

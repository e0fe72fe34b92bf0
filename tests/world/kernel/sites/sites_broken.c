// SPDX-License-Identifier: MIT
/*
 * sites_broken - states and descriptors that differ from those of <hodo/trace.h>, as in a module that was built
 * with other headers; and an init function that fails after an event.
 */
#include <hodo/trace.h>
#include <linux/init.h>
#include <linux/module.h>

#define TEXTS "sbroken\0event\0a, b\0\0file.c\0"
struct broken {
	struct hodo_desc head;
	uint8_t types[4];
	char strings[sizeof(TEXTS)];
};
#define STRINGS (sizeof(struct hodo_desc) + 4)
#define GOOD                                                                                              \
	.size = sizeof(struct hodo_desc), .version = HODO_ABI_VERSION, .kind = HODO_KIND_EVENT, .nfields = 2, \
	.strings = STRINGS, .total = STRINGS + sizeof(TEXTS)
#define DESC(name, ...)                                                                                    \
	static const struct broken name __aligned(8) = { { GOOD, __VA_ARGS__ },                            \
							 { HODO_TYPE_I32, HODO_TYPE_I32 },                 \
							 TEXTS };
#define STATE(state, desc_, bytes)                                                             \
	static struct hodo_kernel_state state = {                                               \
		.tracepoint = { .name = HODO_KERNEL_NAME "sites_broken:" #state },              \
		.size = bytes, .desc = &(desc_).head                                            \
	}

#pragma GCC diagnostic ignored "-Woverride-init"
DESC(desc_good, .line = 1)
DESC(desc_size, .size = 23)
DESC(desc_version, .version = 9)
DESC(desc_kind, .kind = 77)
DESC(desc_fields, .nfields = 1000)
DESC(desc_strings, .strings = 4)
DESC(desc_behind, .strings = 100000)
DESC(desc_total, .total = STRINGS + 10)
DESC(desc_labels, .kind = HODO_KIND_LABELS, .nlabels = 40, .labels = 24)
static const struct broken desc_type __aligned(8) = { { GOOD }, { HODO_TYPE_I32, 0x33 }, TEXTS };

STATE(state_small, desc_good, sizeof(struct hodo_kernel_state) - 8);
STATE(state_size, desc_size, sizeof(struct hodo_kernel_state));
STATE(state_version, desc_version, sizeof(struct hodo_kernel_state));
STATE(state_kind, desc_kind, sizeof(struct hodo_kernel_state));
STATE(state_fields, desc_fields, sizeof(struct hodo_kernel_state));
STATE(state_strings, desc_strings, sizeof(struct hodo_kernel_state));
STATE(state_behind, desc_behind, sizeof(struct hodo_kernel_state));
STATE(state_total, desc_total, sizeof(struct hodo_kernel_state));
STATE(state_labels, desc_labels, sizeof(struct hodo_kernel_state));
STATE(state_type, desc_type, sizeof(struct hodo_kernel_state));

static int __init sites_broken_init(void)
{
	HODO_NO_SITE_(&state_small, 0);
	HODO_NO_SITE_(&state_size, 0);
	HODO_NO_SITE_(&state_version, 0);
	HODO_NO_SITE_(&state_kind, 0);
	HODO_NO_SITE_(&state_fields, 0);
	HODO_NO_SITE_(&state_strings, 0);
	HODO_NO_SITE_(&state_behind, 0);
	HODO_NO_SITE_(&state_total, 0);
	HODO_NO_SITE_(&state_labels, 0);
	HODO_NO_SITE_(&state_type, 0);
	HODO_EVENT(sbroken, fine, HODO_F(n, 1));
	return -ENODEV;
}

module_init(sites_broken_init);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hodo: test module");

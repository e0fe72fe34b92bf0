/* SPDX-License-Identifier: MIT */
/* shop.c - a program with static probes, like any program that uses <sys/sdt.h>. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <stdio.h>

/* `dtrace -h` and `dtrace -G` write such lines. */
#define SEMAPHORE(name) unsigned short name __attribute__((section(".probes")))
SEMAPHORE(shop_sale_semaphore);
SEMAPHORE(shop_restock_semaphore);
#define SHOP_RESTOCK_ENABLED() __builtin_expect(*(volatile unsigned short *)&shop_restock_semaphore, 0)

static int stock = 3, costly;

static int count_all_shelves(void)
{
	costly++;
	return stock;
}

int main(void)
{
	const char *items[] = { "bread", "milk", "salt" };

	for (int n = 0; n < 5; n++) {
		DTRACE_PROBE3(shop, sale, items[n % 3], n * 1.25, stock--);
		if (stock == 0)
			stock = 3;
		if (SHOP_RESTOCK_ENABLED())
			DTRACE_PROBE1(shop, restock, count_all_shelves());
	}
	printf("5 sold, the shelves counted %d times\n", costly);
	return 0;
}

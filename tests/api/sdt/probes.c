/* SPDX-License-Identifier: MIT */
/*
 * probes.c - probes of <sys/sdt.h> of every kind, in C and C++, with Hodoscope's header or systemtap's.
 *
 * probes N: reaches each probe N times, and prints how often an argument was evaluated.
 * probes lines: for each line of input, prints the semaphores, and reaches the guarded probe if its semaphore is not 0;
 * for a line with the path of a library, opens the library and prints its semaphore.
 *
 * PLAIN: without STAP_PROBE_ASM, which systemtap's header has only in C. SHARED: without main().
 */
#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC
#include <sys/sdt.h>

#include <dlfcn.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEMAPHORE(name)                                                                   \
	__extension__ unsigned short shop_##name##_semaphore __attribute__((unused))      \
	__attribute__((section(".probes"))) = 0
SEMAPHORE(open);
SEMAPHORE(numbers);
SEMAPHORE(places);
SEMAPHORE(two);
SEMAPHORE(any);
SEMAPHORE(none);
SEMAPHORE(guarded);
SEMAPHORE(inside);
SEMAPHORE(given);
#define SHOP_GUARDED_ENABLED() __builtin_expect(*(volatile unsigned short *)&shop_guarded_semaphore, 0)

enum color { RED, GREEN };
enum sign { LESS = -1, MORE = 1 };
int total;
unsigned evaluated;
#define PROVIDER shop

__attribute__((noinline)) int numbers(int n, const char *text)
{
	char c = (char)n;
	unsigned char byte = (unsigned char)(n + 200);
	short half = (short)-n;
	float single = (float)n / 2;
	double whole = n / 4.0;
	bool truth = n & 1;
	enum color color = GREEN;
	enum sign sign = LESS;
	unsigned long long large = 1ull << 63 | (unsigned)n;

	STAP_PROBE12(shop, numbers, c, byte, half, single, whole, truth, color, sign, large, text, "constant", -5);
	return n + (text[0] == 'x');
}

__attribute__((noinline)) int places(int n)
{
	char room[24] = "room";
	struct {
		int part[3];
	} parts = { { n, n + 1, n + 2 } };

	DTRACE_PROBE4(PROVIDER, places, room, &total, total, parts.part[1]);
	STAP_PROBE1(shop, two, n);
	STAP_PROBE1(shop, two, 7ul);
	STAP_PROBEV(shop, any, evaluated++, n + 0.5);
	STAP_PROBEV(shop, none);
	return parts.part[n & 1] + room[0];
}

__attribute__((noinline)) int in_asm(int n, double d)
{
#ifndef PLAIN
	__asm__ volatile("movl %0, %%eax\n" STAP_PROBE_ASM(shop, given, -4@%%eax 8@16(%%rdi,%%rsi,4)) : : "r"(n) : "eax");
	__asm__ volatile("nop\n" STAP_PROBE_ASM(shop, inside, STAP_PROBE_ASM_TEMPLATE(2))
			 : : STAP_PROBE_ASM_OPERANDS(2, n, d));
#endif
	return n + (d > 1);
}

__attribute__((noinline)) void guarded(int n)
{
	if (SHOP_GUARDED_ENABLED())
		DTRACE_PROBE1(shop, guarded, n);
}

#ifndef SHARED
static void say(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unsigned short *(*semaphore)(void) = NULL;

	if (library)
		*(void **)&semaphore = dlsym(library, "library_semaphore");
	if (semaphore)
		printf("library %d\n", *semaphore());
	else
		printf("no library: %s\n", dlerror());
}

int main(int argc, char **argv)
{
	char line[512];
	int sum = 0, n = argc > 1 ? atoi(argv[1]) : 1;

	if (argc > 1 && !strcmp(argv[1], "lines")) {
		for (n = 0; fgets(line, sizeof(line), stdin); n++) {
			line[strcspn(line, "\n")] = 0;
			guarded(n);
			if (line[0] == '/')
				say(line);
			else
				printf("guarded %d open %d\n", shop_guarded_semaphore, shop_open_semaphore);
			fflush(stdout);
		}
		return 0;
	}
	for (int i = 0; i < n; i++) {
		STAP_PROBE(shop, open);
		sum += numbers(i, "text") + places(i) + in_asm(i, i);
		guarded(i);
	}
	printf("%d evaluated %u\n", sum, evaluated);
	return 0;
}
#else
unsigned short *library_semaphore(void);
unsigned short *library_semaphore(void)
{
	guarded(1);
	return &shop_guarded_semaphore;
}
#endif

// SPDX-License-Identifier: MIT
/*
 * replaced.cpp - a program that nobody prepared, for replaced.py: prints what its functions return, each called once,
 * in a child, or after exec; or has threads that call one of them all the time and know what it may return.
 *
 * Usage: replaced once|fork|exec|threads|changed
 */
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define APART __attribute__((noinline, noclone, noipa))

extern "C" {
APART long work(long n) { return 2 * n + 1; }
APART long throws(long n)
{
	if (n > 0)
		throw std::runtime_error("original");
	return n;
}
long tiny(long n); /* too short for a jump */
long looper(long n); /* begins with a loop */
APART double many(double a, double b, double c, float d, long e, long f, long g, long h, long i, long j, long k)
{
	return a + b * 2 + c * 3 + (double)d * 4 + (double)(e + f * 2 + g * 3 + h * 4 + i * 5 + j * 6 + k * 7);
}
}
__asm__(".globl tiny, looper, waiter\n.type waiter, @function\n.type tiny, @function\n.type looper, @function\n"
	"tiny: .cfi_startproc\n mov %rdi,%rax\n ret\n .cfi_endproc\n.size tiny, .-tiny\n"
	"waiter: .cfi_startproc\n xor %eax,%eax\n syscall\n ret\n .cfi_endproc\n.size waiter, .-waiter\n"
	"looper: .cfi_startproc\n sub $3,%rdi\n cmp $10,%rdi\n jg looper\n mov %rdi,%rax\n ret\n .cfi_endproc\n"
	".size looper, .-looper\n");

namespace box {
struct Crate {
	long n;
	APART long weigh(long more) const { return n + more; }
	APART bool operator==(const Crate &other) const { return n == other.n; }
};
}

static void print_all()
{
	const box::Crate a{20}, b{22};

	printf("work %ld\n", work(1));
	try {
		throws(1);
	} catch (const std::exception &e) {
		printf("throws %s\n", e.what());
	}
	printf("tiny %ld\n", tiny(5));
	printf("looper %ld\n", looper(15));
	printf("many %.0f\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
	printf("weigh %ld\n", a.weigh(2));
	printf("equal %d\n", a == b);
	printf("upper %d\n", toupper('a'));
	fflush(stdout);
}

static std::atomic<bool> stop;
static std::atomic<long> first, other, wrong;

static void call()
{
	for (long n = 0; !stop; n++) {
		long got = work(n);

		++(got == 2 * n + 1 ? first : got == 2 * n + 1001 ? other : wrong);
	}
}

/* Writes tiny()'s first instruction in the other of its two forms. */
static bool change_code()
{
	auto at = reinterpret_cast<uintptr_t>(tiny);

	if (mprotect(reinterpret_cast<void *>(at & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	memcpy(reinterpret_cast<void *>(at), "\x48\x8b\xc7", 3);
	return tiny(7) == 7;
}

/* Answers each line of standard input by how often each of them was called since the last line. */
static int run_threads()
{
	std::vector<std::thread> threads;
	char line[100];

	for (int i = 0; i < 3; i++)
		threads.emplace_back(call);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		first = other = 0;
		while (first + other < 1000)
			usleep(1000);
		printf("%ld %ld %ld\n", first.load(), other.load(), wrong.load());
		fflush(stdout);
	}
	stop = true;
	for (auto &t : threads)
		t.join();
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "once";

	if (strcmp(how, "changed") == 0 && !change_code())
		return 1;
	if (strcmp(how, "threads") == 0 || strcmp(how, "changed") == 0)
		return run_threads();
	if (strcmp(how, "exec") == 0) {
		execl("/proc/self/exe", argv[0], "once", static_cast<char *>(nullptr));
		return 1;
	}
	if (strcmp(how, "fork") == 0) {
		pid_t pid = fork();
		int status;

		if (pid) {
			waitpid(pid, &status, 0);
			return status != 0;
		}
	}
	print_all();
	return 0;
}

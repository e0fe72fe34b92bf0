/* SPDX-License-Identifier: MIT */
/*
 * calls FILE - makes system calls between two getppid(), and writes to FILE for each of them: its name, its six
 * registers, its texts as far as they can be read without a fault, and its result. At last it executes itself.
 * calls drain FROM TO - copies trace_pipe_raw.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define TEXT_MAX 4095u /* of a recorded text */
#define CALLS_MAX 256

/* A text argument: its address, and how much of it must be in the recording. */
enum kind { NONE, NULL_TEXT, UNREADABLE, TEXT };
struct text {
	enum kind kind;
	unsigned int len;
	const char *bytes;
};
static struct call {
	const char *name; /* of the call's events */
	long nr, a[6], ret;
	struct text text[6];
} calls[CALLS_MAX];
static unsigned int n;
static char copies[32 * PAGE];
static size_t copied;

/* A text as it must be recorded; copied now, since the call may change it. */
static struct text readable(const char *at)
{
	struct text t = { TEXT, 0, copies + copied };

	t.len = (unsigned int)strnlen(at, TEXT_MAX);
	if (copied + t.len > sizeof(copies))
		abort();
	memcpy(copies + copied, at, t.len);
	copied += t.len;
	return t;
}

static const struct text null_text = { .kind = NULL_TEXT }, unreadable = { .kind = UNREADABLE };

/* Adds a call without making it. */
static struct call *add(const char *name, long nr, long a0, long a1, long a2, long a3, long a4, long a5)
{
	struct call *c = &calls[n++];

	if (n == CALLS_MAX)
		abort();
	*c = (struct call){ .name = name, .nr = nr, .a = { a0, a1, a2, a3, a4, a5 } };
	return c;
}

/* Makes the call without any call of the library in between: errno is a thread-local variable. */
static long make(struct call *c)
{
	register long r10 __asm__("r10") = c->a[3];
	register long r8 __asm__("r8") = c->a[4];
	register long r9 __asm__("r9") = c->a[5];
	long ret = c->nr;

	__asm__ volatile("syscall" : "+a"(ret) : "D"(c->a[0]), "S"(c->a[1]), "d"(c->a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	c->ret = ret;
	return ret;
}

static long plain(const char *name, long nr, long a0, long a1, long a2, long a3, long a4, long a5)
{
	return make(add(name, nr, a0, a1, a2, a3, a4, a5));
}

/* Calls with texts at one, two or three places. */
static long texts1(const char *name, long nr, const long a[6], int p, struct text t)
{
	struct call *c = add(name, nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	c->text[p] = t;
	return make(c);
}
static long texts3(const char *name, long nr, const long a[6], int p, struct text t, int q, struct text u, int r,
		   struct text v)
{
	struct call *c = add(name, nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	c->text[p] = t;
	c->text[q] = u;
	c->text[r] = v;
	return make(c);
}
#define A(...) ((const long[6]){ __VA_ARGS__ })
#define P(pointer) ((long)(pointer))

/* ------------------------------------------------------------------ groups */

/* Pages of a file that nobody has touched yet: reading a text in them causes a fault. */
static char *absent_page(const char *file, const char *text)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *at;

	if (fd < 0 || ftruncate(fd, 2 * PAGE) || pwrite(fd, text, strlen(text) + 1, PAGE) < 0)
		abort();
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED || madvise(at, 2 * PAGE, MADV_RANDOM))
		abort();
	return at;
}

static char *absent, *crossing, *before_hole, *long_path, *highest;

static void prepare(void)
{
	absent = absent_page("/tmp/absent", "/tmp/absent") + PAGE;
	crossing = absent_page("/tmp/crossing", "ing");
	memcpy(crossing + PAGE - 11, "/tmp/crossi", 11); /* this page is now in memory, the next one is not */
	crossing += PAGE - 11;
	before_hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (before_hole == MAP_FAILED || munmap(before_hole + PAGE, PAGE))
		abort();
	before_hole += PAGE - 5; /* a text up to the last byte of the page */
	memcpy(before_hole, "/tmp", 5);
	/* The last page that a program can have. */
	highest = mmap((void *)((1ul << 47) - 2 * PAGE), PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (highest == MAP_FAILED)
		highest = NULL;
	else
		highest = memcpy(highest + PAGE - 11, "/tmp/known", 11);
	long_path = malloc(3 * PAGE);
	memset(long_path, 'x', 3 * PAGE);
	long_path[0] = '/';
	mkdir("/tmp/mnt", 0700);
	close(open("/tmp/known", O_WRONLY | O_CREAT, 0600));
	memset(copies, 1, sizeof(copies)); /* so that it is in memory */
}

static void open_it(const char *path, struct text t)
{
	long fd = texts1("openat", SYS_openat, A(AT_FDCWD, P(path), O_RDONLY), 1, t);

	if (fd >= 0)
		plain("close", SYS_close, fd, 0, 0, 0, 0, 0);
}

static void paths(void)
{
	static char path[] = "/tmp/known", bytes[] = "/tmp/\x01\xff\xc3\xa9 \"quoted\"\n\\", empty[] = "";

	open_it(path, readable(path));
	open_it(empty, readable(empty));
	open_it(bytes, readable(bytes));
	open_it(absent, unreadable);
	open_it(absent, readable(absent)); /* the kernel has brought it into memory meanwhile */
	open_it(crossing, unreadable);
	open_it(crossing, readable(crossing));
	open_it(before_hole, readable(before_hole));
	open_it((char *)8, unreadable);
	open_it((char *)0xdead0000beef, unreadable);
	open_it((char *)0xffffffff81000000, unreadable); /* an address of the kernel */
	open_it((char *)0x8000000000000000, unreadable);
	open_it(NULL, null_text);
	open_it("(null)", readable("(null)"));
	open_it(long_path, readable(long_path)); /* does not end within PATH_MAX */
	long_path[4096] = '\0';
	open_it(long_path, readable(long_path));
	long_path[4095] = '\0';
	open_it(long_path, readable(long_path));
	long_path[4094] = '\0';
	open_it(long_path, readable(long_path));
	/* Every length, up to the last byte of a page that no mapped page follows; and one byte too many. */
	for (unsigned int k = 1; k < 20; k++) {
		char *end = (char *)(((unsigned long)before_hole & -PAGE) + PAGE);

		memset(end - 40, 'a' + (int)k, 40);
		end[-1] = '\0';
		open_it(end - k, readable(end - k));
		end[-1] = 'z';
		open_it(end - k, unreadable);
	}
	if (highest)
		open_it(highest, readable(highest));
	/* The registers hold more than the types do. */
	texts1("openat", SYS_openat, A(0x1ffffff9c, P(path), 0x7ffff0000000 | O_RDONLY, 0x12341ff), 1, readable(path));
	plain("close", SYS_close, 0xfffff00000000000 | (unsigned long)calls[n - 1].ret, 0, 0, 0, 0, 0);
}

static void several_texts(void)
{
	static char a[] = "/tmp/known", b[] = "/tmp/moved", dev[] = "a device", dir[] = "/tmp/mnt", type[] = "tmpfs";
	static char name[] = "user.hodo", key[] = "user", what[] = "hodo:key";

	texts3("rename", SYS_rename, A(P(a), P(b)), 0, readable(a), 1, readable(b), 2, (struct text){ NONE, 0, NULL });
	texts3("renameat2", SYS_renameat2, A(AT_FDCWD, P(b), AT_FDCWD, P(a), 1), 1, readable(b), 3, readable(a), 5,
	       (struct text){ NONE, 0, NULL });
	texts3("mount", SYS_mount, A(P(dev), P(dir), P(type), MS_NOSUID, P("size=64k")), 0, readable(dev), 1,
	       readable(dir), 2, readable(type));
	texts1("umount", SYS_umount2, A(P(dir)), 0, readable(dir));
	texts3("mount", SYS_mount, A(0, P(dir), 8, MS_REMOUNT), 0, null_text, 1, readable(dir), 2, unreadable);
	texts3("request_key", SYS_request_key, A(P(key), P(what)), 0, readable(key), 1, readable(what), 2, null_text);
	texts3("setxattr", SYS_setxattr, A(P(a), P(name), P("value"), 5), 0, readable(a), 1, readable(name), 5,
	       (struct text){ NONE, 0, NULL });
	texts3("symlinkat", SYS_symlinkat, A(P(a), AT_FDCWD, P("/tmp/link")), 0, readable(a), 2,
	       readable("/tmp/link"), 5, (struct text){ NONE, 0, NULL });
	texts1("utime", SYS_utime, A(P(a)), 0, readable(a));
	texts1("init_module", SYS_init_module, A(0, 0, P("x=1")), 2, readable("x=1"));
	texts1("memfd_create", SYS_memfd_create, A(P("a name"), 1), 0, readable("a name"));
	texts1("truncate", SYS_truncate, A(P(a), -5), 0, readable(a));
	texts1("execve", SYS_execve, A(P("/nowhere")), 0, readable("/nowhere"));
	texts1("fanotify_mark", SYS_fanotify_mark, A(-1, 1, 0x8000000000000001, -100, P(a)), 4, readable(a));
}

static void no_texts(void)
{
	static char buffer[64];
	long at;

	/* Buffers are not texts. */
	plain("write", SYS_write, -1, P("data"), 4, 0, 0, 0);
	plain("sethostname", SYS_sethostname, P("guest"), -1, 0, 0, 0, 0);
	plain("readlink", SYS_readlink, 0, P(buffer), 64, 0, 0, 0);
	calls[n - 1].text[0] = null_text;
	/* Six registers; signs and sizes. */
	at = plain("mmap", SYS_mmap, 0, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	plain("munmap", SYS_munmap, at, 3 * PAGE, 0, 0, 0, 0);
	plain("mmap", SYS_mmap, -1, -2, -3, -4, -5, -6);
	plain("sendto", SYS_sendto, -1, P(buffer), 7, 0x40, P(buffer), 16);
	plain("splice", SYS_splice, -2, 0, -3, 8, 0x123456789abc, 0xfffffff0);
	plain("futex", SYS_futex, P(buffer), 1, 0, 0, 0, -1);
	plain("lseek", SYS_lseek, -1, -7, 9, 0, 0, 0);
	plain("fallocate", SYS_fallocate, -1, 0x7fffffff, INT64_MIN, INT64_MAX, 0, 0);
	plain("fchmod", SYS_fchmod, -1, 0xabcd07ff, 0, 0, 0, 0);
	plain("kill", SYS_kill, 0x7ffffffe, 0, 0, 0, 0, 0);
	plain("prctl", SYS_prctl, -1, 1, 2, 3, 4, 0);
	plain("process_vm_readv", SYS_process_vm_readv, -1, 0, 0, 0, 0, 77);
	/* Calls that only this architecture has, and calls without arguments. */
	plain("arch_prctl", SYS_arch_prctl, 0x1003, P(buffer), 0, 0, 0, 0);
	plain("iopl", SYS_iopl, 0, 0, 0, 0, 0, 0);
	plain("modify_ldt", SYS_modify_ldt, 0, P(buffer), 16, 0, 0, 0);
	plain("gettid", SYS_gettid, 0, 0, 0, 0, 0, 0);
	plain("sched_yield", SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	/* Invalid numbers: a gap, a removed call, too large, negative, and x32's getpid(). */
	plain("unknown", 400, 1, 2, 3, 4, 5, 6);
	plain("unknown", SYS_create_module, 0, 0, 0, 0, 0, 0);
	plain("unknown", 100000, -1, -2, -3, -4, -5, -6);
	plain("unknown", 0x40000027, 0, 0, 0, 0, 0, 0);
}

static void on_signal(int number)
{
	(void)number;
}

static void signal_return(void)
{
	struct call *c;

	plain("tgkill", SYS_tgkill, calls[0].a[5], calls[0].a[5], SIGUSR1, 0, 0, 0);
	/* When it returns, the registers are those of the interrupted code again: no number, and tgkill()'s result. */
	c = add("rt_sigreturn", SYS_rt_sigreturn, 0, 0, 0, 0, 0, 0);
	c->ret = 0;
}

#ifdef __x86_64__
/* getpid() and write() as a 32-bit program calls them, if the kernel accepts that. */
static void compat(void)
{
	static const long numbers[] = { 20, 4 };

	for (unsigned int i = 0; i < 2; i++) {
		struct call *c = add("compat", numbers[i], -1 & 0xffffffff, 0x1000, 5, 0x44, 0x55, 0x66);
		long ret = c->nr;

		__asm__ volatile("pushq %%rbp\n\tmovl $0x66, %%ebp\n\tint $0x80\n\tpopq %%rbp"
				 : "+a"(ret)
				 : "b"(c->a[0]), "c"(c->a[1]), "d"(c->a[2]), "S"(c->a[3]), "D"(c->a[4])
				 : "r8", "r9", "r10", "r11", "memory");
		c->ret = ret;
	}
}
#endif

/* ------------------------------------------------------------------ result */

static void print_text(FILE *f, const struct text *t)
{
	static const char *const words[] = { "-", "null", "unreadable" };

	if (t->kind != TEXT) {
		fprintf(f, " %s", words[t->kind]);
		return;
	}
	fputs(" =", f);
	for (unsigned int i = 0; i < t->len; i++)
		fprintf(f, "%02x", (unsigned char)t->bytes[i]);
}

static int print(const char *file)
{
	FILE *f = fopen(file, "w");

	if (!f)
		return 1;
	fprintf(f, "thread %d\n", (int)gettid());
	for (unsigned int i = 0; i < n; i++) {
		const struct call *c = &calls[i];

		fprintf(f, "%s %ld %ld", c->name, c->nr, c->ret);
		for (int k = 0; k < 6; k++)
			fprintf(f, " %lx", (unsigned long)c->a[k]);
		for (int k = 0; k < 6; k++)
			print_text(f, &c->text[k]);
		fputs("\n", f);
	}
	return fclose(f) ? 1 : 0;
}

static int drain(const char *from_path, const char *to_path)
{
	int from = open(from_path, O_RDONLY | O_NONBLOCK), to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];
	ssize_t got;

	while ((got = read(from, page, sizeof(page))) > 0)
		if (write(to, page, (size_t)got) != got)
			return 1;
	return got < 0 && errno == EAGAIN ? 0 : got != 0;
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], NULL };

	if (argc == 4 && strcmp(argv[1], "drain") == 0)
		return drain(argv[2], argv[3]);
	if (argc < 2)
		return 0;
	prepare();
	signal(SIGUSR1, on_signal);
	plain("getppid", SYS_getppid, 0, 0, 0, 0, 0, gettid());
	paths();
	several_texts();
	no_texts();
	signal_return();
#ifdef __x86_64__
	compat();
#endif
	plain("getppid", SYS_getppid, 0, 0, 0, 0, 0, 0);
	if (print(argv[1]))
		return 1;
	execv("/proc/self/exe", again);
	return 1;
}

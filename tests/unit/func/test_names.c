/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - symbols of loaded objects, hodo_names_function(), and sets made of texts of functions; in this
 * process itself and in copies of its file, whole and damaged.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <pthread.h>
#include <lib/unit.h>
#include <func/names/names.h>
#include <func/slots/slots.h>
#include <errno.h>

/* One in a namespace, as in C++; a local one; and one that begins inside another. */
int mangled_one(int x) __asm__("_ZN4kept3box3putEi");
__attribute__((noinline, used)) int mangled_one(int x) { __asm__ volatile(""); return x + 1; }
static __attribute__((noinline, used)) int local_function(int x) { __asm__ volatile(""); return x + 2; }
__attribute__((noinline, used)) int kv_get(int x) { __asm__ volatile(""); return x + 3; }
__attribute__((noinline, used)) int kv_hash(int x) { __asm__ volatile(""); return x + 4; }
/* Other names of one function. */
int zget(int x) __attribute__((weak, alias("kv_get")));
__attribute__((noinline, used)) int _work(int x) { __asm__ volatile(""); return x + 5; }
int zwork(int x) __attribute__((weak, alias("_work")));
void inner(void);
void outer(void);
__asm__(".text\n.globl outer, inner\n.type outer, @function\n.type inner, @function\n"
	"outer: nop\n nop\ninner: nop\n nop\n.size inner, . - inner\n nop\n ret\n.size outer, . - outer\n");

/* slots.c's */
struct hodo_func_object hodo_func_objects[HODO_FUNC_OBJECTS_MAX];

static struct dl_phdr_info own;
static char self[4096];

static int first(struct dl_phdr_info *info, size_t size, void *data)
{
	own = *info;
	return 1;
}

static void check_find(const struct hodo_names *names, const void *addr, const char *want)
{
	uintptr_t start;

	assert_string_equal(hodo_names_find(names, (uintptr_t)addr, &start), want);
}

TEST(test_find)
{
	struct hodo_names *n = hodo_names_open(&own, self);
	uintptr_t start;

	assert_non_null(n);
	check_find(n, (const void *)mangled_one, "_ZN4kept3box3putEi");
	check_find(n, (const void *)local_function, "local_function");
	check_find(n, (const char *)kv_get + 1, "kv_get");
	check_find(n, (const void *)_work, "zwork");
	assert_int_equal(hodo_names_count(n, (uintptr_t)_work), 2);
	assert_string_equal(hodo_names_other(n, (uintptr_t)_work, 1), "_work");
	check_find(n, (const char *)outer, "outer");
	check_find(n, (const char *)outer + 2, "inner");
	check_find(n, (const char *)outer + 3, "inner");
	check_find(n, (const char *)outer + 4, "outer");
	hodo_names_find(n, (uintptr_t)outer + 3, &start);
	assert_int_equal(start, (uintptr_t)inner);
	check_find(n, (const void *)1, "");
	check_find(n, (const void *)-1l, "");
	check_find(n, &own, "");
	assert_int_equal(hodo_names_symbol(n, "kv_hash"), (uintptr_t)kv_hash);
	assert_int_equal(hodo_names_symbol(n, "self"), 0); /* no function */
	assert_int_equal(hodo_names_symbol(n, "no_such_symbol"), 0);
	assert_int_equal(hodo_names_symbol(n, "mmap"), 0);
	hodo_names_close(n);
	hodo_names_close(NULL);
}

/* Run by debug_file.sh: stripped, with a debug file, and with one that belongs to another build. */
static int check_stripped(const char *want)
{
	struct hodo_names *n = hodo_names_open(&own, self);
	const char *name = n ? hodo_names_find(n, (uintptr_t)local_function, NULL) : "no file";
	size_t size;

	if (strcmp(name, want) == 0 && n && hodo_names_section(n, "names_test", &size) && size == sizeof(int))
		return 0;
	fprintf(stderr, "local_function is '%s', not '%s'\n", name, want);
	return 1;
}

TEST(test_section)
{
	static const int in_it __attribute__((section("names_test"), used)) = 7;
	struct hodo_names *n = hodo_names_open(&own, self);
	size_t size;

	assert_int_equal(hodo_names_section(n, "names_test", &size), (uintptr_t)&in_it);
	assert_int_equal(size, sizeof(in_it));
	assert_int_equal(hodo_names_section(n, ".symtab", &size), 0);
	assert_int_equal(hodo_names_section(n, "no_such", &size), 0);
	hodo_names_close(n);
}

/* Every function of libc by its dynamic symbols; the loader must agree. */
TEST(test_dynamic)
{
	char name[256];
	Dl_info info;
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	for (const char *const *f = (const char *const[]){ "qsort", "getenv", "mmap", "strtol", NULL }; *f; f++) {
		void *addr = dlsym(libc, *f);

		assert_true(hodo_names_function(addr, name, sizeof(name)) > 0);
		assert_true(dladdr(addr, &info) != 0);
		assert_int_equal(hodo_names_function((char *)addr + 1, name, sizeof(name)), (int)strlen(name));
	}
	dlclose(libc);
}

TEST(test_function_name)
{
	char name[64] = "x";

	assert_int_equal(hodo_names_function((const void *)kv_get, name, sizeof(name)), 6);
	assert_string_equal(name, "kv_get");
	assert_int_equal(hodo_names_function((const void *)local_function, name, 4), 14);
	assert_string_equal(name, "loc");
	assert_int_equal(hodo_names_function((const void *)kv_get, NULL, 0), 6);
	assert_int_equal(hodo_names_function((const void *)kv_get, NULL, 1), -EINVAL);
	assert_int_equal(hodo_names_function(name, name, sizeof(name)), -ENOENT);
	assert_string_equal(name, "");
	assert_int_equal(hodo_names_function(NULL, name, sizeof(name)), -ENOENT);
}

static void *ask(void *unused)
{
	char name[64];

	for (int i = 0; i < 2000; i++) {
		if (hodo_names_function((const void *)kv_hash, name, sizeof(name)) != 7)
			return (void *)1;
		if (i % 16 == 0)
			hodo_names_changed();
	}
	return NULL;
}

TEST(test_threads_and_fork)
{
	pthread_t t[3];
	char name[64];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, ask, NULL);
	for (int i = 0; i < 50; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(hodo_names_function((const void *)kv_get, name, sizeof(name)) != 6);
		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < 3; i++) {
		void *bad;

		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

/* While another thread has the loader's lock. */
static int under_loader_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	pthread_t t;
	void *bad = NULL;

	pthread_create(&t, NULL, ask, NULL);
	pthread_join(t, &bad);
	assert_null(bad);
	return 1;
}

TEST(test_loader_lock)
{
	dl_iterate_phdr(under_loader_lock, NULL);
}

/* ------------------------------------------------------------------- damaged files */

static size_t read_self(uint8_t **bytes)
{
	FILE *f = fopen(self, "rb");
	size_t n;

	fseek(f, 0, SEEK_END);
	n = (size_t)ftell(f);
	rewind(f);
	*bytes = malloc(n);
	assert_int_equal(fread(*bytes, 1, n, f), n);
	fclose(f);
	return n;
}

static void use_all(struct hodo_names *n)
{
	size_t size;

	if (!n)
		return;
	for (uintptr_t a = own.dlpi_addr; a < own.dlpi_addr + 0x4000; a += 61)
		(void)strlen(hodo_names_find(n, a, NULL));
	hodo_names_section(n, "names_test", &size);
	hodo_names_symbol(n, "kv_get");
	hodo_names_close(n);
}

static void try_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	use_all(hodo_names_open(&own, path));
}

TEST(test_damaged)
{
	char path[] = "/tmp/hodo-names-XXXXXX";
	uint8_t *bytes, *copy;
	size_t n = read_self(&bytes), sections;
	uint32_t seed = 1;

	own.dlpi_name = path; /* otherwise the program's own file would be read instead */
	close(mkstemp(path));
	copy = malloc(n);
	for (size_t cut = 0; cut < n; cut += n / 97 + 1)
		try_file(path, bytes, cut);
	/* The header, the section headers and the tables' starts: where bytes give the places of others. */
	sections = ((const ElfW(Ehdr) *)bytes)->e_shoff;
	for (int i = 0; i < 400; i++) {
		memcpy(copy, bytes, n);
		for (int k = 0; k < 1 + i % 4; k++) {
			size_t from = i % 3 == 0 ? 24 : sections, span = i % 3 == 0 ? 40 : n - sections;

			seed = seed * 1103515245 + 12345;
			copy[from + (seed >> 8) % span] = i % 2 ? 0xff : (uint8_t)(seed >> 24);
		}
		try_file(path, copy, n);
	}
	/* Another file of the same shape is not the loaded one. */
	memcpy(copy, bytes, n);
	for (int i = 0; i < own.dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &((const ElfW(Phdr) *)(copy + ((const ElfW(Ehdr) *)copy)->e_phoff))[i];

		if (p->p_type == PT_NOTE)
			memset(copy + p->p_offset + 16, 0x55, 1);
	}
	try_file(path, copy, n);
	assert_null(hodo_names_open(&own, path));
	assert_null(hodo_names_open(&own, "/dev/null"));
	assert_null(hodo_names_open(&own, "/no/such/file"));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(hodo_names_open(&own, path));
	unlink(path);
	own.dlpi_name = "";
	/* The program's file may have been replaced. */
	assert_non_null(hodo_names_open(&own, path));
	free(copy);
	free(bytes);
}

/* ------------------------------------------------------------------------- sets */

static struct hodo_function functions[8];
static const void *const addresses[] = { (const void *)mangled_one, (const void *)local_function,
					 (const void *)kv_get, (const void *)kv_hash };

static unsigned chosen; /* as a plan sees it: bit i for addresses[i] */

bool hodo_planned_chose(uintptr_t function)
{
	for (int i = 0; i < 4; i++)
		if (function == (uintptr_t)addresses[i])
			return chosen >> i & 1;
	return false;
}

/* The functions in the set: in the same form; or a negative errno. */
static int members(int set)
{
	struct hodo_func_object *o = &hodo_func_objects[HODO_FUNC_OBJECTS_MAX - 1];
	int got = 0;

	if (set < 0)
		return set;
	memset(o, 0, sizeof(*o));
	o->text = own.dlpi_addr;
	o->base = own.dlpi_addr;
	o->functions = functions;
	o->nfunctions = 4;
	memcpy(o->path, self, strlen(self) < sizeof(o->path) ? strlen(self) + 1 : 1);
	for (int i = 0; i < 4; i++) {
		functions[i].addr = (uint32_t)((uintptr_t)addresses[i] - o->text);
		functions[i].sets &= ~1ull;
	}
	assert_true(hodo_select_active() >> set & 1);
	hodo_select_object(o, &own);
	for (int i = 0; i < 4; i++) {
		assert_true(functions[i].sets & 1);
		got |= (int)(functions[i].sets >> set & 1) << i;
	}
	hodo_select_put(set);
	return got;
}

static int selected(const char *text)
{
	return members(hodo_select_get(text));
}

/* Only the recorder understands patterns that name source files, and only in its own requests. */
TEST(test_sources)
{
	static const char kv[] = "kv.c:*", mixed[] = "*\0!kv.c:kv_*", scoped[] = "kv::get*\0kv_get";

	for (chosen = 0; chosen < 16; chosen++) {
		assert_int_equal(members(hodo_select_recorded(kv, 1, sizeof(kv))), chosen);
		assert_int_equal(members(hodo_select_recorded(mixed, 2, sizeof(mixed))), chosen);
		assert_int_equal(members(hodo_select_recorded(scoped, 2, sizeof(scoped))), 4);
		assert_int_equal(selected("kv.c:*"), 0);
	}
}

TEST(test_select)
{
	static const char *const bad[] = { ",", "a,", ",a", "a,,b", "!", "a,!", "0x", "0x1", "0x2-0x1", "0x1-0x1",
					   "0x1-", "0x1-2", "0x1-0x", "0x1-0x2z", "0x11111111111111111-0x2", " " };
	char range[64];

	assert_int_equal(selected(NULL), 15);
	assert_int_equal(selected(""), 15);
	assert_int_equal(selected("*"), 15);
	assert_int_equal(selected("kv_*"), 12);
	assert_int_equal(selected("kv_*,!kv_hash"), 4);
	assert_int_equal(selected("!kv_hash,kv_*"), 4);
	assert_int_equal(selected("!kv_*"), 3);
	assert_int_equal(selected(" kv_get , local_function"), 6);
	assert_int_equal(selected("kept::box::put"), 1);
	assert_int_equal(selected("kept::*"), 1);
	assert_int_equal(selected("_ZN4kept*"), 1);
	assert_int_equal(selected("zget"), 4);
	assert_int_equal(selected("zget,kv_hash"), 12);
	assert_int_equal(selected("kv_*,!zg*"), 8);
	assert_int_equal(selected("!zget"), 11);
	assert_int_equal(selected("nothing"), 0);
	snprintf(range, sizeof(range), "0x%lx-0x%lX", (unsigned long)kv_get, (unsigned long)kv_get + 1);
	assert_int_equal(selected(range), 4);
	snprintf(range, sizeof(range), "!0x%lx-0x%lx", (unsigned long)kv_get, (unsigned long)kv_get + 1);
	assert_int_equal(selected(range), 11);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(selected(bad[i]), -EINVAL);
}

TEST(test_sets)
{
	int bits[64], n = 0;
	char text[32];

	assert_int_equal(hodo_select_get(NULL), 0);
	hodo_select_put(0);
	for (; n < 63; n++) {
		snprintf(text, sizeof(text), "f%d", n);
		bits[n] = hodo_select_get(text);
		assert_true(bits[n] > 0);
	}
	assert_int_equal(hodo_select_get("another"), -ENOSPC);
	assert_int_equal(hodo_select_get("f5"), bits[5]);
	hodo_select_put(bits[5]);
	assert_int_equal(hodo_select_get("another"), -ENOSPC);
	hodo_select_put(bits[5]);
	assert_int_equal(hodo_select_get("another"), bits[5]);
	hodo_select_put(bits[5]);
	for (int i = 0; i < n; i++)
		if (i != 5)
			hodo_select_put(bits[i]);
	assert_int_equal(hodo_select_active(), 0);
	/* A bit that is used for another text forgets its old meaning. */
	assert_int_equal(selected("kv_get"), 4);
	assert_int_equal(selected("kv_get"), 4);
	for (n = 0; n < 63; n++) {
		snprintf(text, sizeof(text), "g%d", n);
		assert_int_equal(selected(text), 0);
	}
	assert_int_equal(selected("kv_get"), 4);
	bits[0] = hodo_select_patterns("kv_*\0!kv_hash", 2, 14);
	assert_int_equal(hodo_select_get("kv_*,!kv_hash"), bits[0]);
	hodo_select_put(bits[0]);
	hodo_select_put(bits[0]);
	assert_int_equal(hodo_select_patterns("", 0, 0), 0);
	hodo_select_put(0);
}

static int find_own(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	dl_iterate_phdr(first, NULL);
	return 0;
}

static int command(int argc, char **argv)
{
	find_own(NULL);
	return argc == 3 && strcmp(argv[1], "stripped") == 0 ? check_stripped(argv[2]) : 2;
}

TEST_PROGRAM(.setup = find_own, .command = command);

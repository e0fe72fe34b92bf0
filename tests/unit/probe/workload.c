/* SPDX-License-Identifier: MIT */
/* workload.c - see workload.h. It opens libraries that the tests are not linked with. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workload.h"

#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <zlib.h>

#include <lib/random.h>

#define TEXT_BYTES 200000u

static void must(int ok)
{
	if (!ok)
		abort();
}

/* Fills the memory with words, so that it can be compressed. */
static void fill(unsigned char *to, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++) {
		if (!(i & 7))
			xorshift(&seed);
		to[i] = (unsigned char)("etaoin shrdlu"[(seed >> (i & 7) * 4 & 15) % 13]);
	}
}

uint64_t workload_zlib(void)
{
	static _Thread_local unsigned char text[TEXT_BYTES], packed[TEXT_BYTES * 2], back[TEXT_BYTES];
	uint64_t sum = 1;

	fill(text, sizeof(text), 7);
	for (int level = 0; level <= 9; level += 3) {
		uLongf len = sizeof(packed), whole = sizeof(back);

		must(compress2(packed, &len, text, sizeof(text), level) == Z_OK);
		must(uncompress(back, &whole, packed, len) == Z_OK && whole == sizeof(text));
		must(memcmp(text, back, sizeof(text)) == 0);
		sum = workload_add(sum, packed, len);
		packed[len / 2] ^= 1;
		sum += (uint64_t)uncompress(back, &whole, packed, len);
	}
	return sum + crc32(adler32(1, text, sizeof(text)), text, sizeof(text));
}

static int take_row(void *arg, int n, char **values, char **names)
{
	uint64_t *sum = arg;

	(void)names;
	for (int i = 0; i < n; i++)
		*sum = workload_add(*sum, values[i] ? values[i] : "-", values[i] ? strlen(values[i]) : 1);
	return 0;
}

uint64_t workload_sqlite(void)
{
	static const char *const statements[] = {
		"create table t(a integer primary key, b text, c real); create index i on t(b); begin",
		"with recursive n(x) as (select 1 union all select x+1 from n where x < 1500)"
		" insert into t select x, printf('%05d-%s', x*7919%1500, hex(x)), x/3.0 from n; commit",
		"select count(*), sum(a), avg(c), min(b), max(b), group_concat(a%7) from t where b like '0%1%'",
		"select a%13, count(*), total(c) from t group by 1 having count(*) > 2 order by 2 desc, 1",
		"select x.a, y.b from t x join t y on x.a = y.a*3 where x.b < y.b order by y.b limit 50",
		"select a, sum(c) over (order by b rows 3 preceding) from t order by a desc limit 40",
		"update t set b = upper(substr(b, 2)) || 'x' where a % 5 = 0; delete from t where a % 11 = 3",
		"select b, c from t order by b, c limit 100; explain query plan select * from t where b = 'x' or a = 2",
		"select * from nowhere; vacuum; pragma integrity_check",
		"select json_extract('{\"a\":[1,2,{\"b\":3.5}]}', '$.a[2].b'),"
		" strftime('%Y-%j', 86400*365.25, 'unixepoch')",
	};
	void *library = dlopen("libsqlite3.so.0", RTLD_NOW), *db = NULL;
	int (*open)(const char *, void **), (*close)(void *);
	int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);
	uint64_t sum = 1;

	must(library != NULL);
	*(void **)&open = dlsym(library, "sqlite3_open");
	*(void **)&close = dlsym(library, "sqlite3_close");
	*(void **)&exec = dlsym(library, "sqlite3_exec");
	must(open(":memory:", &db) == 0);
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		sum = sum * 31 + (uint64_t)exec(db, statements[i], take_row, &sum, NULL);
	must(close(db) == 0);
	return sum;
}

uint64_t workload_math(void)
{
	static double (*const functions[])(double) = {
		sin, cos, tan, asin, atan, sinh, tanh, exp, exp2, expm1, log, log10, log1p, cbrt, sqrt, erf, lgamma,
		tgamma, floor, rint, j0, y1
	};
	uint64_t sum = 1, seed = 3;

	for (int i = 0; i < 3000; i++) {
		double x = (double)(int64_t)xorshift(&seed) / 1e15, y[3];
		float z = (float)x;

		if (i % 3 == 0)
			x /= 1e4;
		y[0] = functions[i % 22](x);
		y[1] = pow(fabs(x), y[0]) + fmod(x, 3.3) + atan2(x, y[0]) + hypot(x, 2) + fma(x, x, x);
		y[2] = (double)(sinf(z) + cosf(z) + powf(fabsf(z), .5f) + expf(-fabsf(z)));
		sum = workload_add(sum, y, sizeof(y));
	}
	return sum;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint64_t texts(uint64_t sum)
{
	char *list[500], buf[200];
	uint64_t seed = 11;
	wchar_t wide[100];
	regex_t re;

	must(regcomp(&re, "^([a-z]+)[0-9]*(ab|cd)?.*7$", REG_EXTENDED) == 0);
	for (int i = 0; i < 500; i++) {
		regmatch_t m[3];
		double d;

		snprintf(buf, sizeof(buf), "%c%lld %.*g %s|%-12d|%#x", 'a' + i % 26, (long long)xorshift(&seed),
			 1 + i % 17, (double)seed / 1e12, i & 1 ? "ab" : "cd", i * 77, i);
		list[i] = strdup(buf);
		sum += (uint64_t)regexec(&re, buf, 3, m, 0);
		d = strtod(strchr(buf, ' '), NULL);
		sum = workload_add(sum, &d, sizeof(d));
		sum += (uint64_t)strtoll(buf + 1, NULL, 10) + mbstowcs(wide, buf, 100) + strcspn(buf, "|");
		sum += strstr(buf, "99") ? 1 : 0;
		sum += (uint64_t)(strrchr(buf, '|') - buf) + strnlen(buf, 50) + (memchr(buf, '4', 60) ? 1 : 0);
	}
	regfree(&re);
	qsort(list, 500, sizeof(list[0]), by_text);
	for (int i = 0; i < 500; i++) {
		sum = workload_add(sum, list[i], strlen(list[i]));
		free(list[i]);
	}
	return sum;
}

uint64_t workload_libc(void)
{
	uint64_t sum = texts(1), seed = 5;
	char *text = NULL, *words, *save = NULL;
	void *blocks[200] = { NULL };
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f != NULL);
	for (int i = 0; i < 400; i++) {
		time_t t = (time_t)(xorshift(&seed) >> 30);
		char day[100];
		struct tm tm;

		must(strftime(day, sizeof(day), "%A %d %B %Y %H:%M:%S %j %U", gmtime_r(&t, &tm)) > 0);
		fprintf(f, "%s %d %5.2f\n", day, i, (double)i / 7);
		free(blocks[i % 200]);
		blocks[i % 200] = calloc(1, seed % 5000);
		blocks[i % 200] = realloc(blocks[i % 200], seed % 70000 + 1);
	}
	fclose(f);
	sum = workload_add(sum, text, len);
	words = strdup(text);
	for (char *w = strtok_r(words, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		sum = sum * 3 + strlen(w);
	free(words);
	free(text);
	for (int i = 0; i < 200; i++)
		free(blocks[i]);
	must(hcreate(100) != 0);
	must(hsearch((ENTRY){ (char *)"a", NULL }, ENTER) != NULL);
	hdestroy();
	return sum + (getenv("PATH") != NULL) + (setlocale(LC_ALL, "C") != NULL);
}

uint64_t workload_crypto(void)
{
	static _Thread_local unsigned char text[TEXT_BYTES];
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);
	unsigned char *(*digest)(const unsigned char *, size_t, unsigned char *);
	static const struct {
		const char *name;
		size_t bytes;
	} digests[] = { { "MD5", 16 }, { "SHA1", 20 }, { "SHA256", 32 }, { "SHA512", 64 } };
	int (*exponent)(void *, const void *, const void *, const void *, void *), (*parse)(void **, const char *);
	void *(*context)(void), *a = NULL, *b = NULL, *m = NULL, *r = NULL;
	char *(*print)(const void *), *hex;
	uint64_t sum = 1;

	must(library != NULL);
	fill(text, sizeof(text), 9);
	for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
		unsigned char out[64];

		*(void **)&digest = dlsym(library, digests[i].name);
		must(digest && digest(text, sizeof(text), out));
		sum = workload_add(sum, out, digests[i].bytes);
	}
	/* Big numbers: hand-written assembly. */
	*(void **)&parse = dlsym(library, "BN_hex2bn");
	*(void **)&exponent = dlsym(library, "BN_mod_exp");
	*(void **)&context = dlsym(library, "BN_CTX_new");
	*(void **)&print = dlsym(library, "BN_bn2hex");
	text[0] = '1';
	for (int i = 1; i < 512; i++)
		text[i] = (unsigned char)"0123456789abcdef"[text[i] & 15];
	text[511] = '1';
	text[512] = 0;
	must(parse(&m, (char *)text) && parse(&a, (char *)text + 20) && parse(&b, (char *)text + 300));
	must(parse(&r, "0"));
	must(exponent(r, a, b, m, context()) == 1);
	hex = print(r);
	return workload_add(sum, hex, strlen(hex));
}

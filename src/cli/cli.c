/* SPDX-License-Identifier: MIT */
/* cli.c - messages, options and numbers of the hodo command. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <record/remedy.h>

/* ---------------------------------------------------------------------- messages */

static void say(const char *prefix, const char *fmt, va_list ap)
{
	char text[2048];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "hodo: %s%s\n", prefix, text);
}

void hodo_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void hodo_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

int hodo_usage(const char *verb, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hodo_error("%s: %s: see 'hodo %s --help'", verb, text, verb);
	return HODO_EXIT_USAGE;
}

int hodo_no_memory(void)
{
	hodo_error("out of memory: end other programs, or take less at a time");
	return HODO_EXIT_FAILURE;
}

int hodo_cannot_read(const char *path, int err)
{
	if (err == -ENOMEM)
		return hodo_no_memory();
	hodo_error("%s: cannot be read: %s: %s", path, strerror(-err), hodo_remedy(err));
	return HODO_EXIT_FAILURE;
}

int hodo_cannot_run(const char *command, int err)
{
	struct stat st;

	if (err == -ENOENT && strchr(command, '/'))
		hodo_error("%s: there is no such program, or not its interpreter: check the path", command);
	else if (err == -ENOENT)
		hodo_error("%s: command not found: give its path, or check PATH", command);
	else if (stat(command, &st) == 0 && S_ISDIR(st.st_mode))
		hodo_error("%s is a directory: give a program; 'hodo stat DIR' is for recordings", command);
	else if (err == -EACCES)
		hodo_error("%s cannot be run: permission denied: 'chmod +x' if it is a program", command);
	else
		hodo_error("%s cannot be run: %s: check that it is a program for this machine", command, strerror(-err));
	return err == -ENOENT ? HODO_EXIT_NOT_FOUND : HODO_EXIT_NOT_EXECUTABLE;
}

/* ----------------------------------------------------------------------- options */

static void put_help(const char *verb, const char *help, bool all)
{
	const char *rest = strchr(help, *HODO_HELP_ALL);
	unsigned more = 0;

	for (const char *p = rest; p && (p = strchr(p, '\n')); p++)
		more += strncmp(p + 1, "  -", 3) == 0 || strncmp(p + 1, "      --", 8) == 0;
	if (!rest)
		fputs(help, stdout);
	else if (all)
		printf("%.*s%s", (int)(rest - help), help, rest + 1);
	else
		printf("%.*s\n%u more options: 'hodo %s --help=all'; all in full: 'man hodo-%s'.\n", (int)(rest - help),
		       help, more, verb, verb);
}

/* Whether getopt_long() complains of a value: "--json=yes" where json has none. */
static bool has_excess(const char *word, const struct option *options)
{
	size_t len = strcspn(word, "=");

	for (; options->name && word[len]; options++)
		if (!options->has_arg && len > 2 && strncmp(options->name, word + 2, len - 2) == 0 &&
		    options->val == optopt)
			return true;
	return false;
}

int hodo_getopt(int argc, char **argv, const char *optstring, const struct option *options, const char *help)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, optstring, options, NULL);
	if (c == 'h' && help) {
		put_help(argv[0], help, false);
	} else if (c == '?' && help && strcmp(argv[optind - 1], "--help=all") == 0) {
		put_help(argv[0], help, true);
		c = 'h';
	} else if (c == ':') {
		hodo_usage(argv[0], "option '%s' needs a value", argv[optind - 1]);
		c = '?';
	} else if (c == '?' && optopt == 0) {
		hodo_usage(argv[0], "unknown option '%s'", argv[optind - 1]);
	} else if (c == '?' && strncmp(argv[optind - 1], "--", 2) == 0 && has_excess(argv[optind - 1], options)) {
		hodo_usage(argv[0], "option '%s' takes no value", argv[optind - 1]);
	} else if (c == '?') {
		hodo_usage(argv[0], "unknown option '-%c'", optopt);
	}
	return c;
}

int hodo_parse_number(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || n > (max - digit) / 10 || digit > max)
			return -EINVAL;
		n = n * 10 + digit;
	}
	*number = n;
	return 0;
}

int hodo_parse_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "kmgt";
	char digits[32];
	size_t len = strspn(text, "0123456789");
	const char *rest = text + len;
	unsigned shift = 0;
	uint64_t n;

	if (len == 0 || len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = 0;
	if (*rest) {
		const char *s = strchr(suffixes, *rest | 0x20);

		if (!s || !*s)
			return -EINVAL;
		shift = 10 * (unsigned)(s - suffixes + 1);
		rest++;
		if (rest[0] == 'i' && rest[1] == 'B')
			rest += 2;
		else if (rest[0] == 'B')
			rest++;
	}
	if (*rest || hodo_parse_number(digits, UINT64_MAX >> shift, &n) < 0)
		return -EINVAL;
	*bytes = n << shift;
	return 0;
}

int hodo_parse_seconds(const char *text, int64_t *ns)
{
	size_t len = strspn(text, "0123456789");
	char whole[20] = "0";
	uint64_t s, part = 0;
	unsigned digits = 0;

	if (len >= sizeof(whole) || (len == 0 && text[0] != '.'))
		return -EINVAL;
	if (len)
		memcpy(whole, text, len + 1);
	whole[len ? len : 1] = 0;
	if (hodo_parse_number(whole, INT64_MAX / 1000000000 - 1, &s) < 0)
		return -EINVAL;
	text += len;
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9' && digits < 9; text++, digits++)
			part = part * 10 + (uint64_t)(*text - '0');
		if (digits == 0)
			return -EINVAL;
		for (; digits < 9; digits++)
			part *= 10;
	}
	if (strcmp(text, "s") == 0)
		text++;
	if (*text)
		return -EINVAL;
	*ns = (int64_t)(s * 1000000000 + part);
	return 0;
}

int hodo_parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char number[32];
	size_t len = strspn(text, "0123456789.");
	int64_t value;

	if (len == 0 || len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = 0;
	/* As seconds with nine decimals: so many 1e-9ths of the unit. */
	if (hodo_parse_seconds(number, &value) < 0 || value <= 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double t = (double)value * 1e-9 * units[i].ns;

		if (strcmp(text + len, units[i].name) != 0 || t < 1 || t > 1e15)
			continue;
		*ns = (uint64_t)(t + 0.5);
		return 0;
	}
	return -EINVAL;
}

int hodo_parse_color(const char *text, enum hodo_color *color)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			*color = (enum hodo_color)i;
			return 0;
		}
	}
	return -EINVAL;
}

int hodo_set_color(enum hodo_color *color, const char *verb, const char *text)
{
	return hodo_parse_color(text, color) == 0 ? 0 :
	       hodo_usage(verb, "--color is auto, always or never, not '%s'", text);
}

bool hodo_use_color(enum hodo_color color, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");

	if (color != HODO_COLOR_AUTO)
		return color == HODO_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

const char *hodo_style(bool color, enum hodo_style style)
{
	static const char *const sequences[] = {
		[HODO_PLAIN] = "\033[0m", [HODO_HEADING] = "\033[1m", [HODO_NAME] = "\033[36m",
		[HODO_DIM] = "\033[2m",   [HODO_NOTE] = "\033[33m",   [HODO_ALERT] = "\033[31m",
	};

	return color ? sequences[style] : "";
}

/* ----------------------------------------------------------------------- numbers */

const char *hodo_grouped(uint64_t n, char buf[32])
{
	char *p = buf + 31;
	unsigned digits = 0;

	*p = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	return p;
}

const char *hodo_whom(bool kernel, uint32_t n, char buf[48])
{
	n -= kernel && n > 0;
	if (kernel && n == 0)
		snprintf(buf, 48, "the kernel");
	else
		snprintf(buf, 48, "%s%u process%s", kernel ? "the kernel and " : "", n, n == 1 ? "" : "es");
	return buf;
}

const char *hodo_duration(uint64_t ns, char buf[32])
{
	if (ns < 1000000)
		snprintf(buf, 32, "%3u.%03u us", (unsigned)(ns / 1000), (unsigned)(ns % 1000));
	else if (ns < 1000000000)
		snprintf(buf, 32, "%3u.%03u ms", (unsigned)(ns / 1000000), (unsigned)(ns / 1000 % 1000));
	else
		snprintf(buf, 32, "%3llu.%03u s ", (unsigned long long)(ns / 1000000000),
			 (unsigned)(ns / 1000000 % 1000));
	return buf;
}

const char *hodo_human_bytes(uint64_t n, char buf[32])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)n / 1024;
	unsigned i = 0;

	if (n < 1024) {
		snprintf(buf, 32, "%u B", (unsigned)n);
		return buf;
	}
	for (; v >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		v /= 1024;
	snprintf(buf, 32, "%.1f %s", v, units[i]);
	return buf;
}

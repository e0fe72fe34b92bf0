/* SPDX-License-Identifier: MIT */
/* cli.c - messages of the hodo command, its colours, and values that several verbs take. */
#include "say.h"
#include <cli/output/out.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/escape.h>
#include <pack/compress.h>
#include <record/record.h>

/* ---------------------------------------------------------------------- messages */

int hodo_say(int status, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hodo_mask_unseen(text);
	fprintf(stderr, "hodo: %s\n", text);
	return status;
}

static void report(void *arg, const char *line)
{
	(void)arg;
	hodo_error("%s", line);
}

const struct hodo_reporter hodo_error_reporter = { report, NULL };

int hodo_compress_level(const char *verb, const char *value, int *level)
{
	uint64_t n = HODO_COMPRESS_DEFAULT;

	if (value && (hodo_parse_number(value, HODO_COMPRESS_MAX, &n) < 0 || n == 0))
		return hodo_usage(verb, "--compress is a level from 1 (fast) to %u (small), not '%s'", HODO_COMPRESS_MAX,
				  value);
	*level = (int)n;
	return 0;
}

int hodo_no_memory(void)
{
	return hodo_error("out of memory: end other programs, or take less at a time");
}

int hodo_cannot_read(const char *path, int err)
{
	if (err == -ENOMEM)
		return hodo_no_memory();
	return hodo_error("%s: cannot be read: %s: %s", path, strerror(-err), hodo_remedy(err));
}

int hodo_cannot_run(const char *command, int err)
{
	struct stat st;

	if (err == -ENOENT && strchr(command, '/'))
		hodo_error("%s: no such program, or its interpreter is missing: check the path", command);
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

/* ------------------------------------------------------------------------ values */

int hodo_set_time(int64_t *ns, const char *verb, const char *option, const char *text, enum hodo_time_form form,
		  int64_t min_ns, int64_t max_ns)
{
	char least[32], most[32];

	if (hodo_parse_time(text, form, ns) < 0 || (*ns == 0 && min_ns > 0))
		return hodo_usage(verb, "%s is a time such as %s (ns, us, ms, s, m, h, d), not '%s'", option,
				  form == HODO_TIME_BARE ? "10, 0.5, 100ms or 2m" : "10us, 5ms or 2m", text);
	if (*ns < min_ns || *ns > max_ns)
		return hodo_usage(verb, "%s is a time from %s to %s, not '%s'", option, hodo_time_text(min_ns, least),
				  hodo_time_text(max_ns, most), text);
	return 0;
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

int hodo_terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
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

const char *hodo_whom(bool kernel, uint32_t n, char buf[48])
{
	n -= kernel && n > 0;
	if (kernel && n == 0)
		snprintf(buf, 48, "the kernel");
	else
		snprintf(buf, 48, "%s%u process%s", kernel ? "the kernel and " : "", n, n == 1 ? "" : "es");
	return buf;
}

const char *hodo_find_program(const char *word, char path[PATH_MAX])
{
	const char *dirs = strchr(word, '/') || access(word, F_OK) == 0 ? NULL : getenv("PATH");

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		if (len && snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dirs, word) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return path;
		dirs += len + (dirs[len] == ':');
	}
	return word;
}

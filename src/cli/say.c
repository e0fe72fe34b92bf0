/* SPDX-License-Identifier: MIT */
/* say.c - messages of the hodo command. */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/escape.h>

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
	hodo_error("%s", line);
}

const struct hodo_reporter hodo_error_reporter = { report, NULL };

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

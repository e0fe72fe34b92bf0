/* SPDX-License-Identifier: MIT */
/* out.c - standard output: whole writes, a pager on a terminal, quiet when the reader has closed it; colours. */
#define _GNU_SOURCE
#include <cli/say.h>
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/file.h>
#include <record/record.h>

/* NULL: none. */
static const char *pager_command(void)
{
	const char *pager = getenv("HODO_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		return hodo_launch_find("less", NULL) == 0 ? "less" : NULL;
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static pid_t start_pager(int *fd)
{
	const char *pager = pager_command();
	int pipefd[2];
	pid_t pid;

	if (!pager || pipe2(pipefd, O_CLOEXEC) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(pipefd[0], STDIN_FILENO);
		setenv("LESS", "FRX", 0); /* a single screen is just shown; colours are kept */
		setenv("LV", "-c", 0);
		execlp("sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	close(pipefd[0]);
	if (pid < 0) {
		close(pipefd[1]);
		return 0;
	}
	*fd = pipefd[1];
	return pid;
}

/* The output in a pager, if the command ends without finishing it. */
static struct hodo_out *paged;

static void finish_paged(void)
{
	if (paged)
		hodo_out_finish(paged);
}

void hodo_out_start(struct hodo_out *out, bool pager)
{
	*out = (struct hodo_out){ .fd = STDOUT_FILENO, .messages = -1 };
	signal(SIGPIPE, SIG_IGN);
	if (pager && isatty(STDOUT_FILENO))
		out->pager = start_pager(&out->fd);
	if (!out->pager)
		return;
	paged = out;
	atexit(finish_paged);
	signal(SIGINT, SIG_IGN); /* it is for the pager, whose end ends us */
	/* A message between the pager's lines would disturb, and soon scroll away. */
	if (isatty(STDERR_FILENO))
		out->messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out->messages >= 0)
		dup2(out->fd, STDERR_FILENO);
}

int hodo_out_write(struct hodo_out *out, const char *data, size_t len)
{
	if (!out->err)
		out->err = -hodo_file_write(out->fd, data, len);
	return out->err ? -1 : 0;
}

void hodo_out_text(struct hodo_out *out, struct hodo_text *text)
{
	if (text->error)
		exit(hodo_no_memory());
	hodo_out_write(out, text->data, text->len);
	hodo_text_free(text);
}

/* Waits until the user leaves it. 0, or HODO_EXIT_FAILURE after a message. */
static int end_pager(struct hodo_out *out)
{
	int status = 0;

	paged = NULL;
	if (out->messages >= 0) {
		dup2(out->messages, STDERR_FILENO);
		close(out->messages);
	}
	while (waitpid(out->pager, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127))
		return 0;
	return hodo_error("the pager '%s' cannot be run: set HODO_PAGER to another, or use --no-pager", pager_command());
}

int hodo_out_finish(struct hodo_out *out)
{
	int status = 0;

	if (out->fd != STDOUT_FILENO)
		close(out->fd);
	/* Some file systems report a full disk only now. */
	else if (!out->err && close(STDOUT_FILENO) < 0 && errno != EBADF)
		out->err = errno;
	if (out->pager)
		status = end_pager(out);
	if (out->err && out->err != EPIPE) {
		hodo_error("standard output cannot be written: %s: %s", strerror(out->err),
			   out->err == ENOSPC ? "make room, or write elsewhere" : "write elsewhere");
		status = HODO_EXIT_FAILURE;
	}
	return status;
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

void hodo_page_begin(struct hodo_page *page, const struct hodo_args *args)
{
	*page = (struct hodo_page){ .json.text = &page->text, .args = args };
	if (!args->look.json)
		return;
	hodo_json_object(&page->json, NULL);
	hodo_json_u64(&page->json, "version", 1);
}

int hodo_page_end(struct hodo_page *page)
{
	struct hodo_out out;

	if (page->args->look.json)
		hodo_json_finish(&page->json);
	if (page->text.error)
		return hodo_no_memory();
	hodo_out_start(&out, !page->args->no_pager);
	hodo_out_text(&out, &page->text);
	return hodo_out_finish(&out);
}

void hodo_json_finish(struct hodo_json *j)
{
	hodo_json_end(j);
	hodo_text_char(j->text, '\n');
}

void hodo_add_plain(struct hodo_text *to, const char *text)
{
	hodo_text_plain(to, text, strlen(text));
}

/* SPDX-License-Identifier: MIT */
/*
 * top_screen.c - hodo top: the terminal.
 *
 * Signals that affect the terminal (its size, stop, the end) are blocked and come through the caller's
 * signalfd, so that ncurses is never interrupted, and its own handlers never run. Only signals that end this
 * process at once, from our own errors, are caught here, to restore the terminal.
 */
#define NCURSES_WIDECHAR 1
#include "top.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

static struct {
	SCREEN *screen; /* NULL: not open */
	FILE *in;
	bool color, resized;
	struct hodo_top_frame frame;
	struct termios before; /* for the handler */
	char leave[256];       /* restores the terminal, for the handler */
	size_t leave_len;
} top;

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static void die(int signal)
{
	ssize_t n = write(STDOUT_FILENO, top.leave, top.leave_len);

	(void)n;
	tcsetattr(STDOUT_FILENO, TCSANOW, &top.before);
	raise(signal); /* its standard action is back: SA_RESETHAND */
}

static void set_handlers(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = handler == SIG_DFL ? 0 : (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		sigaction(fatal[i], &action, NULL);
}

/* The sequences that end what newterm() and curs_set() began. */
static void remember_leave(void)
{
	static const char *const names[] = { "sgr0", "cnorm", "rmkx", "rmcup" };

	top.leave_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *s = tigetstr(names[i]);

		if (!s || s == (const char *)-1 || strlen(s) >= sizeof(top.leave) - top.leave_len)
			continue;
		memcpy(top.leave + top.leave_len, s, strlen(s));
		top.leave_len += strlen(s);
	}
}

static void start_color_pairs(bool color)
{
	top.color = color && has_colors();
	if (!top.color)
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_CYAN, -1);
	init_pair(3, COLOR_YELLOW, -1);
}

int hodo_top_screen_open(bool color)
{
	const char *term = getenv("TERM");
	bool usable;
	int err = 0;

	if (!isatty(STDOUT_FILENO))
		return -ENOTTY;
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return -ENOTSUP;
	/* newterm() exits silently for an unknown terminal, but setupterm() says why. */
	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return -ENOTSUP;
	usable = cursor_address != NULL;
	del_curterm(cur_term);
	if (!usable)
		return -ENOTSUP;
	top.in = fopen("/dev/tty", "r+e");
	if (!top.in)
		return -ENOTTY;
	tcgetattr(STDOUT_FILENO, &top.before);
	top.screen = newterm(NULL, stdout, top.in);
	if (!top.screen) {
		fclose(top.in);
		return -ENOTSUP;
	}
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	curs_set(0);
	start_color_pairs(color);
	remember_leave();
	set_handlers(die);
	atexit(hodo_top_screen_close); /* when memory is out */
	return 0;
}

void hodo_top_screen_close(void)
{
	if (!top.screen)
		return;
	endwin();
	set_handlers(SIG_DFL);
	delscreen(top.screen);
	fclose(top.in);
	hodo_top_frame_free(&top.frame);
	top.screen = NULL;
}

void hodo_top_screen_draw(struct hodo_top_view *v, const struct hodo_top_model *m)
{
	/* Without and with colours. */
	static const attr_t looks[][2] = {
		[HODO_LOOK_PLAIN] = { A_NORMAL, A_NORMAL },   [HODO_LOOK_TITLE] = { A_BOLD, A_BOLD },
		[HODO_LOOK_HEAD] = { A_REVERSE, A_REVERSE },
		[HODO_LOOK_SELECTED] = { A_BOLD | A_REVERSE, A_BOLD | A_REVERSE },
		[HODO_LOOK_LOSS] = { A_BOLD, COLOR_PAIR(1) }, [HODO_LOOK_OFF] = { A_DIM, COLOR_PAIR(3) },
		[HODO_LOOK_BOTTOM] = { A_NORMAL, COLOR_PAIR(2) },
	};
	int height, width;

	if (top.resized) {
		struct winsize size;

		top.resized = false;
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
			resizeterm(size.ws_row, size.ws_col);
		clearok(curscr, TRUE);
	}
	getmaxyx(stdscr, height, width);
	erase();
	hodo_top_frame_build(&top.frame, m, v, width, height < HODO_TOP_HEIGHT_MIN ? HODO_TOP_HEIGHT_MIN : height);
	for (uint32_t i = 0; i < top.frame.n && (int)i < height; i++) {
		attrset(looks[top.frame.line[i].look][top.color]);
		mvaddstr((int)i, 0, top.frame.line[i].text);
	}
	attrset(A_NORMAL);
	refresh();
}

void hodo_top_screen_resize(void)
{
	top.resized = true;
}

int hodo_top_screen_fd(void)
{
	return fileno(top.in);
}

int hodo_top_screen_key(void)
{
	static const struct {
		int from, to;
	} keys[] = {
		{ KEY_UP, HODO_KEY_UP }, { KEY_DOWN, HODO_KEY_DOWN }, { KEY_LEFT, HODO_KEY_LEFT },
		{ KEY_RIGHT, HODO_KEY_RIGHT }, { KEY_PPAGE, HODO_KEY_PAGE_UP }, { KEY_NPAGE, HODO_KEY_PAGE_DOWN },
		{ KEY_HOME, HODO_KEY_HOME }, { KEY_END, HODO_KEY_END }, { KEY_BACKSPACE, HODO_KEY_BACKSPACE },
		{ 127, HODO_KEY_BACKSPACE }, { 8, HODO_KEY_BACKSPACE }, { KEY_ENTER, HODO_KEY_ENTER },
		{ '\r', HODO_KEY_ENTER }, { '\n', HODO_KEY_ENTER }, { 27, HODO_KEY_ESCAPE },
	};
	int key = getch();

	if (key == ERR)
		return 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].from == key)
			return keys[i].to;
	return key < 256 ? key : -1;
}

void hodo_top_screen_stop(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, old;
	sigset_t set, before;

	def_prog_mode();
	endwin();
	sigaction(SIGTSTP, &standard, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, &before); /* here we stop */
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGTSTP, &old, NULL);
	reset_prog_mode();
	top.resized = true;
}

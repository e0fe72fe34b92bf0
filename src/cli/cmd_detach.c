/* SPDX-License-Identifier: MIT */
/* cmd_detach.c - hodo detach: ends the recording of a process, and what listens in it. */
#include "cli.h"
#include "target.h"

#include <errno.h>

static const char help[] =
	"usage: hodo detach [options] PID...\n\n"
	"Ends the recording of the process PID, whoever began it: what was recorded is\n"
	"complete. What 'hodo record -p' brought to listen in it does so no more.\n\n"
	"  -q, --quiet      do not tell what was done\n"
	"  -h, --help\n";

/* Whether it has been done. */
static bool detach(pid_t pid, bool quiet)
{
	struct hodo_msg_answer answer;
	struct hodo_target t;
	char why[HODO_WHY_MAX];
	int err = hodo_target_control(&t, pid, why, sizeof(why));

	if (!err)
		err = hodo_target_ask(&t, HODO_CONTROL_LEAVE, NULL, &answer, NULL, why, sizeof(why));
	else
		answer.listens = 0;
	hodo_target_close(&t);
	/* It was there for a recording that has ended. */
	if (err == -ENOTCONN && answer.listens == 2) {
		if (!quiet)
			fprintf(stderr, "hodo: process %d was not being recorded, and listens no more\n", (int)pid);
		return true;
	}
	if (err) {
		hodo_error("%s", why);
		return false;
	}
	if (!quiet)
		fprintf(stderr, "hodo: process %d is no longer recorded%s\n", (int)pid,
			answer.listens == 2 ? ", and listens no more" : "");
	return true;
}

int hodo_cmd_detach(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool quiet = false;
	int c, status = 0;
	pid_t pid;

	while ((c = hodo_getopt(argc, argv, ":qh", options, help)) != -1) {
		if (c == 'h')
			return 0;
		if (c == '?')
			return HODO_EXIT_USAGE;
		quiet = true;
	}
	if (optind == argc)
		return hodo_usage(argv[0], "no process given");
	for (int i = optind; i < argc && !status; i++)
		status = hodo_target_parse(argv[0], argv[i], &pid);
	if (status)
		return status;
	for (int i = optind; i < argc; i++) {
		hodo_target_parse(argv[0], argv[i], &pid);
		if (!detach(pid, quiet))
			status = HODO_EXIT_FAILURE;
	}
	return status;
}

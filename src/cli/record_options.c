/* SPDX-License-Identifier: MIT */
/* record_options.c - the command line of hodo record. */
#include "record_options.h"

#include <string.h>

#include "cli.h"
#include <record/filter_compile.h>

#define RING_SIZE (4u << 20)
#define PACKETS_A_RING 16
#define PACKET_SIZE_MAX (1u << 20) /* unless asked for */
#define PACKET_AGE_NS 3600000000000ull
#define KERNEL_EVENTS "sched:*,syscalls:*,irq:*,block:*" /* without -e: who ran what, and what it waited for */
#define VERB "record"

static const char usage_text[] =
	"usage: hodo record [options] [--] CMD [ARGUMENT...]\n"
	"       hodo record [options] -p PID[,PID...]\n"
	"       hodo record [options] -k [[--] CMD [ARGUMENT...]]\n"
	"\n"
	"Records CMD and all processes that come of it; or processes that are running,\n"
	"until Ctrl-C or their end; or the kernel.\n"
	"\n"
	"  -e, --event EVENT[,EVENT...]  these only: PROVIDER:NAME, with * ? [...];\n"
	"                       ! in front leaves out; func:NAME records functions\n"
	"  -p, --pid PID[,PID...]  record these processes, and what they fork\n"
	"  -k, --kernel         the kernel, too, or alone; root only\n"
	"  -o, --output DIR     write to DIR (hodo.data); an earlier one moves to DIR.old\n"
	"  -m, --buffer SIZE    buffer of each CPU in each process (4M); with K, M or G\n"
	"      --overwrite      flight recorder: keep the newest, write them at the end\n"
	"      --filter EXPR    events for which EXPR on their fields holds, see\n"
	"                       hodo-filter(7)\n"
	"      --functions[=GLOB,...]  functions as well: all, or those that match\n"
	"      --duration TIME  stop after TIME seconds (or with s, m or h)\n"
	"      --max-size SIZE  stop when so much is on the disk\n"
	"  -q, --quiet          no progress, no summary; losses are told all the same\n"
	"  -h, --help           this; --help=all: all options\n"
	HODO_HELP_ALL
	"\n"
	"What is recorded, and when:\n"
	"      --context WHAT[,WHAT...]  store with each event: comm, pid, ip,\n"
	"                       callstack[=DEPTH], stack[=BYTES], perf:COUNTER\n"
	"      --trigger 'EVENT [if EXPR] [-> snapshot|start|stop|exit] [after N]'\n"
	"                       what to do when EVENT happens; snapshot, if nothing else\n"
	"                       is said\n"
	"      --rate EVENT=N/s  at most N of them a second (or /ms, /m, /h); the others\n"
	"                       are counted\n"
	"      --on-crash       with --overwrite: write a process's buffers only if it\n"
	"                       dies of a signal\n"
	"      --on-exit        ... when it ends in any way, whatever triggers write\n"
	"      --rotate SIZE|TIME  parts of SIZE (64M), of TIME (30s, 5m, 2h), or both\n"
	"      --keep N         keep the N newest parts only\n"
	"\n"
	"Functions, of programs built for it (see hodo-record(1)):\n"
	"      --depth N        of calls inside of calls, the N outermost only\n"
	"      --min-time TIME  only calls that take TIME at least: 10us, 5ms, 1s\n"
	"      --tracer NAME[,NAME...]  what is done with them: record (the default),\n"
	"                       graph, profile, stack, latency, loop or thread\n"
	"      --loop GLOB[,GLOB...]  for --tracer loop: functions that are event loops\n"
	"      --abort          for --tracer thread: end the program by SIGABRT\n"
	"      --returns        see exits where the compiler left room for entries only,\n"
	"                       by replacing return addresses\n"
	"\n"
	"For tests of the recorder itself:\n"
	"      --clock tsc|monotonic  the clock (the TSC where it can be relied on)\n"
	"      --packet-size SIZE  packet (a 16th of the buffer, 1K to 1M)\n"
	"      --packet-age SECONDS  age at which an open packet is closed (3600)\n";

/* Seconds, or with s, m or h behind. 0 or -1. */
static int parse_time(const char *text, int64_t *ns)
{
	size_t len = strlen(text);
	int64_t unit = 1;
	char number[64];

	if (len == 0 || len >= sizeof(number))
		return -1;
	memcpy(number, text, len + 1);
	if (strchr("smh", number[len - 1])) {
		unit = number[len - 1] == 'm' ? 60 : number[len - 1] == 'h' ? 3600 : 1;
		number[len - 1] = 0;
	}
	if (hodo_parse_seconds(number, ns) < 0 || *ns <= 0 || *ns > INT64_MAX / 3600)
		return -1;
	*ns *= unit;
	return 0;
}

static uint64_t power_of_two(uint64_t v)
{
	uint64_t p = 1;

	while (p < v)
		p <<= 1;
	return p;
}

/* A size within the bounds, rounded up to a power of two; 0 if it is none. */
static uint64_t parse_power(const char *text, uint64_t min, uint64_t max)
{
	uint64_t size;

	if (hodo_parse_size(text, &size) < 0 || size < min || size > max)
		return 0;
	return power_of_two(size);
}

enum { OPT_OVERWRITE = HODO_OPT_VERB, OPT_FILTER, OPT_DURATION, OPT_CLOCK, OPT_PACKET_AGE, OPT_PACKET_SIZE, OPT_CONTEXT,
       OPT_LIMIT, /* and up: enum hodo_limit_option */
       OPT_SNAPSHOT = OPT_LIMIT + HODO_LIMIT_OPTIONS, /* and up: enum hodo_snapshot_option */
       OPT_TRIGGER = OPT_SNAPSHOT + HODO_SNAPSHOT_OPTIONS, /* and up: enum hodo_trigger_option */
       OPT_FUNCTION = OPT_TRIGGER + HODO_TRIGGER_OPTIONS /* and up: enum hodo_function_option */ };

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "pid", required_argument, NULL, 'p' },
	{ "kernel", no_argument, NULL, 'k' },
	{ "output", required_argument, NULL, 'o' },
	{ "buffer", required_argument, NULL, 'm' },
	{ "overwrite", no_argument, NULL, OPT_OVERWRITE },
	{ "on-crash", no_argument, NULL, OPT_SNAPSHOT + HODO_SNAPSHOT_ON_CRASH },
	{ "on-exit", no_argument, NULL, OPT_SNAPSHOT + HODO_SNAPSHOT_ON_EXIT },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "trigger", required_argument, NULL, OPT_TRIGGER + HODO_TRIGGER_TRIGGER },
	{ "rate", required_argument, NULL, OPT_TRIGGER + HODO_TRIGGER_RATE },
	{ "context", required_argument, NULL, OPT_CONTEXT },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "max-size", required_argument, NULL, OPT_LIMIT + HODO_LIMIT_MAX_SIZE },
	{ "rotate", required_argument, NULL, OPT_LIMIT + HODO_LIMIT_ROTATE },
	{ "keep", required_argument, NULL, OPT_LIMIT + HODO_LIMIT_KEEP },
	{ "functions", optional_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_FUNCTIONS },
	{ "depth", required_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_DEPTH },
	{ "min-time", required_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_MIN_TIME },
	{ "tracer", required_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_TRACER },
	{ "loop", required_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_LOOP },
	{ "returns", no_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_RETURNS },
	{ "abort", no_argument, NULL, OPT_FUNCTION + HODO_FUNCTION_ABORT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "packet-age", required_argument, NULL, OPT_PACKET_AGE },
	{ "packet-size", required_argument, NULL, OPT_PACKET_SIZE },
	{ NULL, 0, NULL, 0 },
};

static int set_clock(struct hodo_record_options *o, const char *name)
{
	if (strcmp(name, "tsc") == 0)
		o->clock = HODO_CLOCK_TSC;
	else if (strcmp(name, "monotonic") == 0)
		o->clock = HODO_CLOCK_MONOTONIC;
	else
		return hodo_usage(VERB, "--clock is tsc or monotonic, not '%s'", name);
	return 0;
}

static int set_filter(struct hodo_record_options *o, const char *text)
{
	char why[200];

	if (o->filter_len)
		return hodo_usage(VERB, "only one --filter can be given: join them with &&");
	if (hodo_filter_compile(text, o->filter, sizeof(o->filter), &o->filter_len, why, sizeof(why)) < 0)
		return hodo_usage(VERB, "--filter: %s", why);
	if (hodo_pattern_add_fields(&o->fields, o->filter, o->filter_len) < 0)
		return hodo_no_memory();
	return 0;
}

static int set_time(int64_t *ns, const char *name, const char *value)
{
	return parse_time(value, ns) == 0 ? 0 :
	       hodo_usage(VERB, "%s is a time such as 10, 0.5 or 2m, not '%s'", name, value);
}

/* 0 or the exit status. */
static int set_option(struct hodo_record_options *o, int option, const char *value)
{
	int64_t age_ns;
	int err;

	if (option >= OPT_LIMIT && option < OPT_LIMIT + HODO_LIMIT_OPTIONS)
		return hodo_limit_options_set(&o->limits, (enum hodo_limit_option)(option - OPT_LIMIT), value);
	if (option >= OPT_SNAPSHOT && option < OPT_SNAPSHOT + HODO_SNAPSHOT_OPTIONS)
		return hodo_snapshot_options_set(&o->snapshots, (enum hodo_snapshot_option)(option - OPT_SNAPSHOT));
	if (option >= OPT_TRIGGER && option < OPT_TRIGGER + HODO_TRIGGER_OPTIONS)
		return hodo_trigger_options_set(&o->conditions, (enum hodo_trigger_option)(option - OPT_TRIGGER),
						value);
	if (option >= OPT_FUNCTION)
		return hodo_function_options_set(&o->functions, (enum hodo_function_option)(option - OPT_FUNCTION),
						 value);
	switch (option) {
	case 'e':
		return hodo_function_options_event(&o->functions, &o->patterns, value);
	case 'p':
		return hodo_attach_options_add(&o->attach, value);
	case 'k':
		o->kernel = true;
		return 0;
	case 'o':
		o->out = value;
		return *value ? 0 : hodo_usage(VERB, "-o needs the name of a directory");
	case 'm':
		o->ring_size = parse_power(value, HODO_PAGE, HODO_RING_MAX);
		return o->ring_size ? 0 : hodo_usage(VERB, "-m is a size from 4K to 1T such as 16M, not '%s'", value);
	case OPT_OVERWRITE:
		o->overwrite = true;
		return 0;
	case OPT_FILTER:
		return set_filter(o, value);
	case OPT_CONTEXT:
		return hodo_context_options_add(&o->context, value);
	case OPT_DURATION:
		return set_time(&o->duration_ns, "--duration", value);
	case 'q':
		o->quiet = true;
		return 0;
	case OPT_CLOCK:
		return set_clock(o, value);
	case OPT_PACKET_AGE:
		err = set_time(&age_ns, "--packet-age", value);
		o->packet_age_ns = err ? 0 : (uint64_t)age_ns;
		return err;
	case OPT_PACKET_SIZE:
		o->packet_size = (uint32_t)parse_power(value, HODO_PACKET_MIN, HODO_PACKET_MAX);
		return o->packet_size ? 0 : hodo_usage(VERB, "--packet-size is a size from 1K to 8M, not '%s'", value);
	}
	return HODO_EXIT_USAGE; /* hodo_getopt() has said why */
}

/* What -e names are events of the kernel, too; where it only leaves some out, of those that there are without it. */
static int make_kernel_patterns(struct hodo_record_options *o)
{
	bool named = false;
	char why[200];
	int err = 0;

	for (uint32_t i = 0; i < o->patterns.n; i++)
		named |= o->patterns.pattern[i].text[0] != '!';
	if (!named)
		err = hodo_pattern_add(&o->kernel_patterns, KERNEL_EVENTS, why, sizeof(why));
	for (uint32_t i = 0; i < o->patterns.n && !err; i++)
		err = hodo_pattern_add(&o->kernel_patterns, o->patterns.pattern[i].text, why, sizeof(why));
	return err;
}

int hodo_record_options(struct hodo_record_options *o, int argc, char **argv)
{
	int option, err;

	memset(o, 0, sizeof(*o));
	o->out = HODO_DIR_DEFAULT;
	o->ring_size = RING_SIZE;
	o->packet_age_ns = PACKET_AGE_NS;
	optind = 0;
	while ((option = hodo_getopt(argc, argv, "+:e:p:ko:m:qh", long_options, usage_text)) != -1) {
		if (option == 'h')
			return HODO_RECORD_HELPED;
		err = set_option(o, option, optarg);
		if (err)
			return err;
	}
	o->command = argv + optind;
	err = hodo_function_options_check(&o->functions, &o->patterns);
	if (!err && o->kernel)
		err = hodo_function_options_kernel(&o->functions);
	if (err)
		return err;
	if (!o->command[0] && !o->attach.n && !o->kernel)
		return hodo_usage(VERB, "no command to record, and no process: give a command, -p PID, or -k");
	if (o->kernel && make_kernel_patterns(o) < 0)
		return hodo_no_memory();
	if (o->packet_size == 0) {
		uint64_t size = o->ring_size / PACKETS_A_RING;

		o->packet_size = (uint32_t)(size < HODO_PACKET_MIN ? HODO_PACKET_MIN :
					    size > PACKET_SIZE_MAX ? PACKET_SIZE_MAX : size);
	}
	if (o->ring_size / 4 < o->packet_size)
		return hodo_usage(VERB, "the buffer must hold four packets at least: a larger -m, or a smaller"
				  " --packet-size");
	err = hodo_snapshot_options_check(&o->snapshots, o->overwrite,
					  hodo_conditions_have(&o->conditions, HODO_CONDITION_SNAPSHOT));
	if (err)
		return err;
	return hodo_limit_options_check(&o->limits, o->overwrite, o->packet_size);
}

void hodo_record_options_free(struct hodo_record_options *o)
{
	hodo_pattern_free(&o->patterns);
	hodo_pattern_free(&o->kernel_patterns);
	hodo_pattern_free(&o->fields);
	hodo_conditions_free(&o->conditions);
	hodo_functions_free(&o->functions.functions);
	hodo_attach_options_free(&o->attach);
}

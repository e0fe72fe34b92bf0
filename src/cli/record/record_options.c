/* SPDX-License-Identifier: MIT */
/* record_options.c - the command line of hodo record. */
#include "record_options.h"
#include "record_send.h"

#include <sched.h>
#include <string.h>

#include <read/event/filter_compile.h>

#include <cli/say.h>
#include <cli/values.h>

#define ROTATE_MIN_NS 1000000
#define TIME_MAX_NS   (36500 * 24 * 3600ll * 1000000000) /* in ticks of any clock it fits 64 bits */
#define KERNEL_EVENTS "sched:*,syscalls:*,irq:*,block:*" /* without -e: who ran what, and what it waited for */
#define RING_SIZE       (4ull << 20)
#define RING_SIZE_CALLS (16ull << 20)
#define VERB "record"
#define AT(member) HODO_AT(struct hodo_record_options, member)

/* ------------------------------------------------------------------------ values */

/* sdt:PROVIDER:NAME, of installed programs; the event is PROVIDER:NAME. */
static int set_sdt(struct hodo_record_options *o, const char *name)
{
	struct hodo_why why;

	if (!strchr(name, ':'))
		return hodo_usage(VERB, "-e 'sdt:%.200s': give it as sdt:PROVIDER:NAME; 'hodo list --sdt FILE' shows them",
				  name);
	return hodo_pattern_add(&o->sdt, name, &why) < 0 ? hodo_usage(VERB, "%s", why.text) : 0;
}

/* probe:SPEC */
static int set_probe(struct hodo_record_options *o, const char *text)
{
	struct hodo_why why;
	int err = hodo_planner_probes_add(&o->probes, text, &why);

	if (err)
		return err == -ENOMEM ? hodo_no_memory() : hodo_usage(VERB, "-e '%.200s': %s", text, why.text);
	return hodo_pattern_add(&o->patterns, o->probes.list[o->probes.n - 1].pattern, &why) == 0 ? 0 :
	       hodo_usage(VERB, "-e '%.200s': %s", text, why.text);
}

/* A probe's event has its own name, by which it is recorded. */
static int set_event(void *args, const char *value)
{
	struct hodo_record_options *o = args;
	struct hodo_why why;

	if (hodo_planner_probe_is(value))
		return set_probe(o, value);
	if (hodo_kprobe_is(value)) {
		if (hodo_kprobe_list_add(&o->kprobes, value, &why) < 0)
			return hodo_usage(VERB, "-e '%.200s': %s", value, why.text);
		value = o->kprobes.probe[o->kprobes.n - 1].event;
	}
	if (!strncmp(value, "sdt:", 4)) {
		int err = set_sdt(o, value + 4);

		if (err)
			return err;
		value += 4;
	}
	return hodo_function_options_event(&o->functions, &o->patterns, value);
}

static int set_pid(void *args, const char *value)
{
	return hodo_attach_options_add(&((struct hodo_record_options *)args)->attach, VERB, value);
}

static int set_filter(void *args, const char *text)
{
	struct hodo_record_options *o = args;
	struct hodo_why why;

	if (o->filter_len)
		return hodo_usage(VERB, "only one --filter can be given: join them with &&");
	if (hodo_filter_compile_live(text, o->filter, sizeof(o->filter), &o->filter_len, &why) < 0)
		return hodo_usage(VERB, "--filter: %s", why.text);
	o->filter_times = strstr(text, "$duration") != NULL;
	return hodo_pattern_add_fields(&o->fields, o->filter, o->filter_len) < 0 ? hodo_no_memory() : 0;
}

static int set_functions(void *args, const char *value)
{
	struct hodo_record_options *o = args;

	o->functions.all = true;
	return value ? hodo_function_options_names(&o->functions.patterns, "--functions", value) : 0;
}

static int set_arguments(void *args, const char *value)
{
	struct hodo_functions *o = &((struct hodo_record_options *)args)->functions;

	return hodo_function_options_names(&o->arguments, "--args", value ? value : "*");
}

static int set_replace(void *args, const char *value)
{
	struct hodo_why why;
	int err = hodo_planner_replacements_add(&((struct hodo_record_options *)args)->replacements, value, &why);

	if (err == -ENOMEM)
		return hodo_no_memory();
	return err == -EINVAL ? hodo_usage(VERB, "%s", why.text) : err ? hodo_error("%s", why.text) : 0;
}

static int set_loop(void *args, const char *value)
{
	return hodo_function_options_names(&((struct hodo_record_options *)args)->functions.loops, "--loop",
					   value);
}

static int set_context(void *args, const char *value)
{
	return hodo_context_options_add(&((struct hodo_record_options *)args)->context, value);
}

static int set_trigger(void *args, const char *value)
{
	struct hodo_record_options *o = args;
	struct hodo_why why;

	return hodo_conditions_add_trigger(&o->conditions, value, &why) == 0 ? 0 :
	       hodo_usage(VERB, "--trigger '%.200s': %s", value, why.text);
}

static int set_rate(void *args, const char *value)
{
	struct hodo_record_options *o = args;
	struct hodo_why why;

	return hodo_conditions_add_rate(&o->conditions, value, &why) == 0 ? 0 :
	       hodo_usage(VERB, "--rate '%.200s': %s", value, why.text);
}

static int set_wait(void *args, const char *value)
{
	struct hodo_record_options *o = args;
	int64_t ns;

	o->wait_ns = HODO_WAIT_FOREVER;
	if (!value)
		return 0;
	if (hodo_parse_time(value, HODO_TIME_WITH_UNIT, &ns) < 0 || ns < 1)
		return hodo_usage(VERB, "--wait is a time such as 10us, 5ms or 1s, or has no value for no "
				  "limit, not '%s'", value);
	o->wait_ns = (uint64_t)ns;
	return 0;
}

static int set_realtime(void *args, const char *value)
{
	const int min = sched_get_priority_min(SCHED_RR), max = sched_get_priority_max(SCHED_RR);
	uint64_t priority = (uint64_t)min;

	if (value && (hodo_parse_number(value, (uint64_t)max, &priority) < 0 || priority < (uint64_t)min))
		return hodo_usage(VERB, "--realtime is a priority from %d to %d, or has no value for %d, "
				  "not '%s'", min, max, min,
				  value);
	((struct hodo_record_options *)args)->realtime = (uint32_t)priority;
	return 0;
}

static int set_off_cpu(void *args, const char *value)
{
	struct hodo_record_options *o = args;

	o->off_cpu = !value ? HODO_OFF_CPU_BEST : strcmp(value, "switches") == 0 ? HODO_OFF_CPU_SWITCHES :
		     strcmp(value, "cpu_time") == 0 ? HODO_OFF_CPU_TIME : HODO_OFF_CPU_UNASKED;
	return o->off_cpu ? 0 : hodo_usage(VERB, "--off-cpu is switches or cpu_time, or has no value for "
					   "what is allowed, not '%s'",
					   value);
}

/* A size needs a unit: 30 alone could be a time. */
static int set_rotate(void *args, const char *value)
{
	struct hodo_limits *l = &((struct hodo_record_options *)args)->limits;
	size_t len = strlen(value);
	bool time = len > 0 && strchr("smhd", value[len - 1]); /* lower case, while sizes have upper case */
	int64_t ns;
	uint64_t n;

	if (time && hodo_parse_time(value, HODO_TIME_WITH_UNIT, &ns) == 0 && ns >= ROTATE_MIN_NS) {
		if (l->rotate_ns)
			return hodo_usage(VERB, "--rotate takes one time and one size, not two times");
		l->rotate_ns = (uint64_t)ns;
		return 0;
	}
	if (time || (len > 0 && value[len - 1] <= '9') || hodo_parse_size(value, &n) < 0 || n == 0)
		return hodo_usage(VERB, "--rotate is a size such as 64M, or a time such as 30s or 5m, not '%s'", value);
	if (l->rotate_bytes)
		return hodo_usage(VERB, "--rotate takes one size and one time, not two sizes");
	l->rotate_bytes = n;
	return 0;
}

static int set_compress(void *args, const char *value)
{
	return hodo_compress_level(VERB, value, &((struct hodo_record_options *)args)->compress);
}

static int set_otlp(void *args, const char *url)
{
	return hodo_otlp_endpoint(&((struct hodo_record_options *)args)->otlp, VERB, "--otlp", url);
}

static int set_otlp_header(void *args, const char *header)
{
	return hodo_otlp_header(&((struct hodo_record_options *)args)->otlp, VERB, "--otlp-header", header);
}

/* ------------------------------------------------------------------------- table */

static const char *const clocks[] = { "", [HODO_CLOCK_TSC] = "tsc", [HODO_CLOCK_MONOTONIC] = "monotonic", NULL };
static const char *const off_cpu_ways[] = { "switches", "cpu_time", NULL };
static const char *const contexts[] = { "comm", "pid", "ip", "callstack", "stack", "cpu_time", "perf:", NULL };

const struct hodo_option hodo_record_option_table[] = {
	{ .name = "event", .letter = 'e', .kind = HODO_OPTION_EACH, .arg = "EVENT[,EVENT...]", .set = set_event,
	  .words = HODO_WORD_EVENT | HODO_WORD_LIST,
	  .help = "only these: PROVIDER:NAME, with * ? [...];\n"
		  "a leading ! leaves out; func:NAME, kprobe:NAME: functions" },
	{ .name = "pid", .letter = 'p', .kind = HODO_OPTION_EACH, .arg = "PID[,PID...]", .set = set_pid,
	  .words = HODO_WORD_PID | HODO_WORD_LIST,
	  .help = "record these processes, and those that they fork" },
	{ .name = "kernel", .letter = 'k', AT(kernel),
	  .help = "the kernel too, or only the kernel (root, CAP_PERFMON)" },
	HODO_OPTION_DIR(struct hodo_record_options, out),
	{ .name = "buffer", .letter = 'm', .kind = HODO_OPTION_POWER, .arg = "SIZE", AT(ring_size), .min = HODO_PAGE,
	  .max = HODO_RING_MAX, .wants = "a size from 4K to 1T such as 16M",
	  .help = "buffer of each CPU in each process (4M; functions 16M)" },
	{ .name = "overwrite", AT(overwrite),
	  .help = "flight recorder: keep the newest events, write at the end" },
	{ .name = "filter", .kind = HODO_OPTION_CALL, .arg = "EXPR", .set = set_filter,
	  .help = "only events whose fields satisfy it: hodo-filter(7)" },
	{ .name = "functions", .kind = HODO_OPTION_CALL, .arg = "GLOB,...", .optional = true, .set = set_functions,
	  .help = "functions too: all, GLOB, or FILE!GLOB" },
	{ .name = "duration", .kind = HODO_OPTION_SECONDS, .arg = "TIME", AT(duration_ns), .min = 1, .max = TIME_MAX_NS,
	  .help = "stop after TIME: 10 (seconds), 100ms, 2m" },
	{ .name = "max-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", AT(limits.max_bytes), .min = 1,
	  .max = UINT64_MAX, .wants = "a size such as 500M or 2G", .help = "stop when this much is on disk" },
	{ .name = "compress", .kind = HODO_OPTION_CALL, .arg = "LEVEL", .optional = true, .set = set_compress,
	  .help = "compress what is written, at level 1 to 19 (1)" },
	HODO_OPTION_QUIET("no progress, no summary; losses are still reported"),

	{ .help = "What is recorded, and when:" },
	{ .name = "wait", .kind = HODO_OPTION_CALL, .arg = "TIME", .optional = true, .set = set_wait,
	  .help = "lose nothing: threads wait if the buffer is full, at\n"
		  "most TIME, if given; the default with --functions" },
	{ .name = "drop", AT(drop), .help = "with --functions: lose events rather than wait" },
	{ .name = "realtime", .kind = HODO_OPTION_CALL, .arg = "PRIORITY", .optional = true, .set = set_realtime,
	  .help = "run the recorder ahead of others, with SCHED_RR (1)" },
	{ .name = "drain-threads", .kind = HODO_OPTION_NUMBER, .arg = "N", AT(drain_threads), .min = 1,
	  .max = HODO_DRAIN_THREADS_MAX, .wants = "a number from 1 to 64",
	  .help = "at most N threads of the recorder (one for four CPUs)" },
	{ .name = "context", .kind = HODO_OPTION_EACH, .arg = "WHAT[,WHAT...]", .set = set_context,
	  .choices = contexts, .words = HODO_WORD_LIST,
	  .help = "store with each event: comm, pid, ip,\ncallstack[=DEPTH], stack[=BYTES], cpu_time, perf:COUNTER" },
	{ .name = "off-cpu", .kind = HODO_OPTION_CALL, .arg = "HOW", .optional = true, .set = set_off_cpu,
	  .choices = off_cpu_ways, .help = "how long threads do not run, by switches or cpu_time" },
	{ .name = "trigger", .kind = HODO_OPTION_CALL, .arg = "'EVENT [if EXPR] [-> snapshot|start|stop|exit] [after N]'",
	  .set = set_trigger, .words = HODO_WORD_EVENT,
	  .help = "\n"
		  "what to do when EVENT happens; the default is snapshot" },
	{ .name = "rate", .kind = HODO_OPTION_CALL, .arg = "EVENT=N/s", .set = set_rate, .words = HODO_WORD_EVENT,
	  .help = "at most N of them per second (or /ms, /m, /h)" },
	{ .name = "on-crash", AT(snapshots.on_crash),
	  .help = "with --overwrite: write only what a signal kills" },
	{ .name = "on-exit", AT(snapshots.on_exit),
	  .help = "... when it ends in any way, whatever triggers wrote" },
	{ .name = "rotate", .kind = HODO_OPTION_CALL, .arg = "SIZE|TIME", .set = set_rotate,
	  .help = "parts of SIZE (64M), of TIME (30s, 5m, 2h), or both" },
	{ .name = "keep", .kind = HODO_OPTION_NUMBER, .arg = "N", AT(limits.keep), .min = 1, .max = 1000000,
	  .wants = "a number of parts from 1 on", .help = "keep only the N newest parts" },
	{ .name = "otlp", .kind = HODO_OPTION_CALL, .arg = "URL", .set = set_otlp,
	  .help = "send spans to OpenTelemetry meanwhile" },
	{ .name = "otlp-header", .kind = HODO_OPTION_CALL, .arg = "HEADER", .set = set_otlp_header,
	  .help = "NAME: VALUE with each request, for credentials" },
	{ .name = "to", .kind = HODO_OPTION_NAME, .arg = "TARGET", AT(to.target),
	  .words = HODO_WORD_FILE | HODO_WORD_NEW,
	  .wants = "ssh://[USER@]HOST[:PORT]/DIR, or a directory",
	  .help = "send parts to ssh://[USER@]HOST[:PORT]/DIR, or to a DIR" },
	{ .name = "backlog", .kind = HODO_OPTION_SIZE, .arg = "SIZE", AT(to.backlog), .min = 1, .max = UINT64_MAX,
	  .wants = "a size such as 500M or 2G", .help = "--to: the most that may be unsent (1G)" },
	{ .name = "keep-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", AT(to.keep_bytes), .min = 1, .max = UINT64_MAX,
	  .wants = "a size such as 500M or 2G", .help = "--to: remove this host's oldest parts there, beyond SIZE" },
	{ .name = "keep-age", .kind = HODO_OPTION_TIME, .arg = "TIME", AT(to.keep_ns), .min = 1, .max = TIME_MAX_NS,
	  .help = "--to: ... and those that came more than TIME ago" },

	{ .help = "Functions (see hodo-record(1)):" },
	{ .name = "depth", .kind = HODO_OPTION_NUMBER, .arg = "N", AT(functions.depth_max), .min = 1,
	  .max = 1000000000, .wants = "a number from 1 on", .help = "only the N outermost of nested calls" },
	{ .name = "min-time", .kind = HODO_OPTION_TIME, .arg = "TIME", AT(functions.limit_ns), .min = 1,
	  .max = TIME_MAX_NS,
	  .help = "only calls of at least TIME: 10us, 5ms, 1s" },
	{ .name = "min-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", AT(functions.min_bytes), .min = 1,
	  .max = UINT32_MAX, .wants = "a size such as 100 or 1K",
	  .help = "not built for tracing: only with so many bytes of code" },
	{ .name = "args", .kind = HODO_OPTION_CALL, .arg = "GLOB,...", .optional = true, .set = set_arguments,
	  .help = "their arguments and results too: of all, or of these" },
	{ .name = "tracer", .kind = HODO_OPTION_CHOICES, .arg = "NAME[,NAME...]", AT(functions.tracers),
	  .choices = hodo_tracer_names, .words = HODO_WORD_LIST,
	  .help = "what to do with them: record (default), graph,\n"
		  "profile, stack, latency, loop or thread" },
	{ .name = "loop", .kind = HODO_OPTION_CALL, .arg = "GLOB[,GLOB...]", .set = set_loop,
	  .help = "for --tracer loop: functions that are event loops" },
	{ .name = "abort", .kind = HODO_OPTION_BITS, AT(functions.flags), .max = HODO_FUNCTIONS_ABORT,
	  .help = "for --tracer thread: end the program with SIGABRT" },
	{ .name = "returns", .kind = HODO_OPTION_BITS, AT(functions.flags), .max = HODO_FUNCTIONS_RETURNS,
	  .help = "see exits by replacing return addresses" },
	{ .name = "replace", .kind = HODO_OPTION_CALL, .arg = "F=LIB:G", .set = set_replace,
	  .help = "call G of the library LIB instead of the function F" },

	{ .help = "For tests of the recorder itself:" },
	{ .name = "clock", .kind = HODO_OPTION_CHOICE, .arg = "tsc|monotonic", AT(clock), .choices = clocks,
	  .help = "the clock (the TSC where it is reliable)" },
	{ .name = "packet-size", .kind = HODO_OPTION_POWER, .arg = "SIZE", AT(packet_size), .min = HODO_PACKET_MIN,
	  .max = HODO_PACKET_MAX, .wants = "a size from 1K to 4M",
	  .help = "size of a packet, 1K to 4M (a 16th of the buffer)" },
	{ .name = "packet-age", .kind = HODO_OPTION_SECONDS, .arg = "TIME", AT(packet_age_ns), .min = 1,
	  .max = TIME_MAX_NS,
	  .help = "age at which an open packet is closed (3600)" },
	{ 0 },
};

/* ----------------------------------------------------- whether they go together */

/* -e also selects events of the kernel; if it only excludes, it excludes from the default ones. */
int hodo_kernel_patterns(const struct hodo_pattern_list *asked, struct hodo_pattern_list *kernel)
{
	bool named = false;
	int err = 0;

	for (uint32_t i = 0; i < asked->n; i++)
		named |= asked->pattern[i].text[0] != '!';
	if (!named)
		err = hodo_pattern_add(kernel, KERNEL_EVENTS, NULL);
	for (uint32_t i = 0; i < asked->n && !err; i++)
		err = hodo_pattern_add(kernel, asked->pattern[i].text, NULL);
	return err;
}

/* Checks limits, rotation and triggers against the mode. */
static int check_limits(const struct hodo_record_options *o)
{
	const struct hodo_limits *l = &o->limits;
	const char *option = l->rotate_bytes || l->rotate_ns ? "--rotate" : l->max_bytes ? "--max-size" : NULL;
	char size[32];

	if (l->keep && !l->rotate_bytes && !l->rotate_ns)
		return hodo_usage(VERB, "--keep is for the parts that --rotate makes: add, for example, "
				  "--rotate 64M");
	if (option && o->overwrite)
		return hodo_usage(VERB, "%s needs a recording that is written all the time, and --overwrite "
				  "keeps the newest events in memory: set their amount with -m, or leave "
				  "out --overwrite", option);
	/* A packet goes into one part, and at least one must fit. */
	if (l->max_bytes && l->max_bytes < o->packet_size)
		return hodo_usage(VERB, "--max-size must hold a packet, which may have %s: a larger one, or a smaller -m",
				  hodo_human_bytes(o->packet_size, size));
	if (l->rotate_bytes && l->rotate_bytes < o->packet_size)
		return hodo_usage(VERB, "--rotate must hold a packet, which may have %s: a larger one, or a smaller -m",
				  hodo_human_bytes(o->packet_size, size));
	return 0;
}

static int check_snapshots(struct hodo_record_options *options)
{
	struct hodo_snapshots *o = &options->snapshots;
	bool triggers = hodo_conditions_have(&options->conditions, HODO_CONDITION_SNAPSHOT);

	if (!options->overwrite && (o->on_crash || o->on_exit))
		return hodo_usage(VERB, "%s says when a flight recorder's buffers are written: add --overwrite",
				  o->on_crash ? "--on-crash" : "--on-exit");
	if (!options->overwrite && triggers)
		return hodo_usage(VERB, "a trigger for snapshots needs a flight recorder: add --overwrite");
	o->only = o->on_crash || o->on_exit || triggers;
	return 0;
}

/* There are many calls, and a missing one distorts its callers. */
static int check_wait(struct hodo_record_options *o)
{
	if (o->wait_ns && o->drop)
		return hodo_usage(VERB, "--wait and --drop are opposites: leave out one");
	if (o->wait_ns && o->overwrite)
		return hodo_usage(VERB, "with --overwrite no buffer is ever full: leave out --wait");
	if (o->wait_ns && !o->command[0] && !o->attach.n)
		return hodo_usage(VERB, "the kernel does not wait: --wait is for programs");
	o->waits_unasked = !o->wait_ns && !o->drop && !o->overwrite && !o->kernel &&
			   o->functions.tracers;
	if (o->waits_unasked)
		o->wait_ns = HODO_WAIT_FOREVER;
	return 0;
}

/* Calls come in bursts that fill 4M in milliseconds, while the recorder waits for a CPU. Unused room costs
 * nothing, except in the kernel. Packets do not grow with it: at least three are in use. */
static void choose_sizes(struct hodo_record_options *o)
{
	if (o->packet_size == 0)
		o->packet_size = hodo_packet_size(o->ring_size ? o->ring_size : RING_SIZE);
	if (o->ring_size == 0)
		o->ring_size = o->functions.tracers && !o->overwrite && !o->kernel ? RING_SIZE_CALLS :
											       RING_SIZE;
}

/* Plans for programs are not possible if the kernel is recorded, too. */
static int check_planned(const struct hodo_record_options *o)
{
	const char *what = o->probes.n ? o->probes.list[0].text : o->sdt.n ? "sdt:" :
			   o->replacements.n ? "--replace" : NULL;

	return what && o->kernel ? hodo_usage(VERB, "%s is for programs, and cannot be used with -k: use a "
					      "second 'hodo record' for them", what) : 0;
}

static int check_otlp(const struct hodo_record_options *o)
{
	if (o->otlp.nheaders && !o->otlp.endpoint)
		return hodo_usage(VERB, "--otlp-header is for what is sent: add --otlp");
	if (o->otlp.endpoint && o->overwrite)
		return hodo_usage(VERB, "--otlp sends what is written meanwhile, and --overwrite writes at the end: send that "
				  "with 'hodo export --to otlp'");
	if (o->otlp.endpoint && o->to.target)
		return hodo_usage(VERB, "--otlp reads the parts that --to removes: leave one of them out, and use 'hodo export "
				  "--to otlp' where they are collected");
	if (o->otlp.endpoint && o->compress)
		return hodo_usage(VERB, "--otlp reads the recording while it is written: leave out --compress, and use 'hodo "
				  "pack' afterwards");
	return 0;
}

int hodo_record_options_check(struct hodo_record_options *o)
{
	int err;

	o->command = o->args.words;
	err = hodo_function_options_check(&o->functions, &o->patterns, o->kernel);
	if (err)
		return err;
	if (!o->command[0] && !o->attach.n && !o->kernel)
		return hodo_usage(VERB, "nothing to record: give a command, -p PID, or -k");
	if (o->kprobes.n && !o->kernel)
		return hodo_usage(VERB, "%s is a probe in the kernel: add -k", o->kprobes.probe[0].event);
	err = check_planned(o);
	if (err)
		return err;
	if (o->kernel && hodo_kernel_patterns(&o->patterns, &o->kernel_patterns) < 0)
		return hodo_no_memory();
	choose_sizes(o);
	if (o->ring_size / 4 < o->packet_size)
		return hodo_usage(VERB, "the buffer must hold at least four packets: give a larger -m, or a "
				  "smaller --packet-size");
	err = check_wait(o);
	if (!err)
		err = hodo_record_send_check(o);
	if (!err)
		err = check_snapshots(o);
	if (!err)
		err = check_otlp(o);
	return err ? err : check_limits(o);
}

void hodo_record_options_free(struct hodo_record_options *o)
{
	hodo_pattern_free(&o->patterns);
	hodo_pattern_free(&o->kernel_patterns);
	hodo_pattern_free(&o->fields);
	hodo_conditions_free(&o->conditions);
	hodo_functions_free(&o->functions);
	hodo_planner_probes_free(&o->probes);
	hodo_planner_replacements_free(&o->replacements);
	hodo_kprobe_list_free(&o->kprobes);
	hodo_attach_options_free(&o->attach);
}

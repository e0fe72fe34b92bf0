/* SPDX-License-Identifier: MIT */
/* cmd_query.c - hodo query: SQL about recordings and directories of Parquet. */
#define _GNU_SOURCE
#include "query_output.h"

#include <base/intern.h>
#include <base/near.h>
#include <base/vec.h>
#include <cli/cli.h>
#include <cli/selection.h>

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------ notes */

/*
 * What is missing in recordings that a statement reads, once for each, however often it reads them: the warnings that
 * other verbs give when they read one.
 *
 * Who runs beside whom: the threads of a statement, which read a recording each. The mutex is held while anything here
 * is looked at or changed.
 */

struct query_notes {
	pthread_mutex_t mutex;
	bool quiet;                /* nothing is told */
	struct hodo_strings told;  /* warnings, and recordings of which it has been told what they lost */
	uint32_t nlost;            /* of these recordings, those that lost something */
};

#define LOST_SHOWN 20u /* recordings: the question `lost` has all */

/* With the mutex. Where there is no memory to know, rather twice than never. */
static bool is_new(struct query_notes *n, const char *text)
{
	uint32_t before = n->told.map.n;

	return !n->quiet && (hodo_strings_add(&n->told, text) == HODO_STRINGS_NONE || n->told.map.n > before);
}

/* A warning of a reader, whose warn_data the notes are. */
static void query_notes_warn(void *notes, const char *text)
{
	struct query_notes *n = notes;

	pthread_mutex_lock(&n->mutex);
	if (is_new(n, text))
		hodo_warning("%s", text);
	pthread_mutex_unlock(&n->mutex);
}

/* The recording has been read to its end. */
static void query_notes_read(void *notes, const char *path, struct hodo_read *reader)
{
	struct query_notes *n = notes;

	pthread_mutex_lock(&n->mutex);
	if (is_new(n, path) && hodo_has_lost(reader) && n->nlost++ < LOST_SHOWN)
		hodo_tell_lost_of(path, reader);
	pthread_mutex_unlock(&n->mutex);
}

static void query_notes_start(struct query_notes *notes, bool quiet)
{
	*notes = (struct query_notes){ .mutex = PTHREAD_MUTEX_INITIALIZER, .quiet = quiet };
}

static void query_notes_end(struct query_notes *n)
{
	if (n->nlost > LOST_SHOWN)
		hodo_warning("%u more recording%s not whole: 'hodo query lost' lists them", n->nlost - LOST_SHOWN,
			     n->nlost == LOST_SHOWN + 1 ? " is" : "s are");
	hodo_strings_free(&n->told);
	pthread_mutex_destroy(&n->mutex);
}

/* ---------------------------------------------------------------------- command */

struct args {
	struct hodo_args args;
	bool csv, shell, list, tables;
	uint64_t memory;
	struct hodo_duck_parameter *set; /* --set */
	uint32_t nset;
};

struct query {
	const struct args *a;
	struct hodo_duck *duck;
	struct query_notes notes;
	struct query_output output;
	struct hodo_out out;
	struct hodo_duck_parameter *parameters;
	uint32_t nparameters;
	char *added; /* name of a parameter that has its default */
};

static int set_parameter(void *args, const char *value)
{
	struct args *a = args;
	const char *equals = strchr(value, '=');
	struct hodo_duck_parameter *p;

	if (!equals || equals == value)
		return hodo_usage("query", "--set is PARAM=VALUE, not '%s'", value);
	for (uint32_t i = 0; i < a->nset; i++)
		if (strlen(a->set[i].name) == (size_t)(equals - value) &&
		    strncasecmp(a->set[i].name, value, (size_t)(equals - value)) == 0)
			return hodo_usage("query", "--set %s is given twice", a->set[i].name);
	p = hodo_must(hodo_vec_add(a->set, a->nset));
	p->name = hodo_must(strndup(value, (size_t)(equals - value)));
	p->value = equals + 1;
	return 0;
}

static void drop(void *args)
{
	struct args *a = args;

	for (uint32_t i = 0; i < a->nset; i++)
		free((void *)a->set[i].name);
	free(a->set);
}

/* --------------------------------------------------------------------- recordings */

/* Of several threads at once: what it uses they do not share. */
static int open_recording(void *data, const char *path, struct hodo_read **reader, struct hodo_symbols **symbols,
			  struct hodo_why *why)
{
	struct hodo_read_options o = { .size = sizeof(o), .error = why->text, .error_bytes = sizeof(why->text),
				       .warn = query_notes_warn, .data = data };
	int err = hodo_read_open(reader, path, &o);

	if (err)
		return err;
	*symbols = hodo_symbols_new(path);
	if (!*symbols)
		return hodo_why(why, -ENOMEM, "no memory");
	hodo_read_symbols(*reader, hodo_function_name_at, *symbols);
	return 0;
}

/* What cannot be read is named, and the rest is asked. 0; 1: some is missing; -1: there is nothing to ask. */
static int add_all(struct query *q, char **words, int n)
{
	static char *const usual[] = { (char *)HODO_DIR_DEFAULT };
	struct hodo_why why = { "" };
	int bad = 0;

	if (n == 0) {
		words = (char **)usual;
		n = 1;
	}
	for (int i = 0; i < n; i++) {
		int err = hodo_duck_add(q->duck, words[i], &why);

		if (err < 0)
			hodo_error("%s", why.text);
		else if (err > 0)
			hodo_warning("%s", why.text);
		if (err == -ENOMEM)
			return -1;
		bad += err < 0;
	}
	if (bad && n - bad == 1)
		hodo_warning("the answer is of the other one");
	else if (bad && bad < n)
		hodo_warning("the answer is of the other %d", n - bad);
	return bad == n ? -1 : bad > 0;
}

/* --------------------------------------------------------------------- statements */

static struct hodo_duck *volatile running;

/* Again and again: between two statements nothing runs that could be ended. */
static void on_interrupt(int signal_number)
{
	static const struct itimerval soon = { { 0, 20000 }, { 0, 20000 } };

	if (running)
		hodo_duck_interrupt(running);
	setitimer(ITIMER_REAL, &soon, NULL);
}

static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What comes next is not ended by what ended this. */
static void forget_interrupt(void)
{
	static const struct itimerval never;

	running = NULL;
	setitimer(ITIMER_REAL, &never, NULL);
}

/* The exit status; what went wrong has been said. */
static int run_sql(struct query *q, const char *sql)
{
	struct hodo_duck_sink sink = query_output_sink(&q->output);
	struct hodo_why why = { "" };
	int err;

	running = q->duck;
	err = hodo_duck_run(q->duck, sql, q->parameters, q->nparameters, &sink, &why);
	forget_interrupt();
	/* The reader of a pipe has had enough; other errors are reported when the output is finished. */
	if (err == -EPIPE && q->out.err)
		return q->out.err != EPIPE;
	return err ? hodo_error("%s", why.text[0] ? why.text : strerror(-err)) : 0;
}

/* What a question's parameter chooses among, to see why nothing was chosen. */
struct names {
	struct hodo_near near;
	const char *glob;
	uint64_t n;
	bool chosen;
};

static int take_name(void *data, uint32_t n, const struct hodo_duck_cell *cells)
{
	struct names *names = data;
	char *name = cells[0].null ? NULL : hodo_must(strndup(cells[0].text, cells[0].len));

	names->n++;
	if (!name)
		return 0;
	hodo_near_look(&names->near, name);
	names->chosen |= fnmatch(names->glob, name, 0) == 0;
	free(name);
	return 0;
}

/* A question without an answer: the likely reason. */
static void explain(struct query *q, const struct hodo_duck_question *question, const char *glob)
{
	struct names names = { .near.wanted = glob, .glob = glob };
	const struct hodo_duck_sink sink = { .row = take_name, .data = &names };
	struct hodo_why why;

	if (q->a->args.quiet)
		return;
	if (question->among && hodo_duck_run(q->duck, question->among, NULL, 0, &sink, &why) < 0)
		return;
	if (!question->among)
		hodo_error("%s: %s", question->name, question->none); /* nothing is wrong */
	else if (!names.n)
		hodo_warning("%s: %s", question->name, question->none);
	else if (!names.chosen)
		hodo_warning("%s: no name matches '%s'%s", question->name, glob, names.near.n ?
			     hodo_near_text(&names.near) : ": 'hodo list DIR' lists the events");
	else if (question->otherwise)
		hodo_warning("%s: %s", question->name, question->otherwise);
}

static const struct hodo_duck_question *find_question(const char *name)
{
	const struct hodo_duck_question *question;

	for (unsigned i = 0; (question = hodo_duck_question(i)); i++)
		if (strcmp(question->name, name) == 0)
			return question;
	return NULL;
}

/* The parameter of a question, with its default if --set has not another value; a question has at most one. NULL: it
 * has none. */
static struct hodo_duck_parameter *find_parameter(struct query *q, const struct hodo_duck_question *question)
{
	const char *equals = question->parameters ? strchr(question->parameters, '=') : NULL;
	size_t len = equals ? (size_t)(equals - question->parameters) : 0;
	struct hodo_duck_parameter *p;

	if (!equals)
		return NULL;
	for (uint32_t i = 0; i < q->nparameters; i++)
		if (strncasecmp(q->parameters[i].name, question->parameters, len) == 0 && !q->parameters[i].name[len])
			return &q->parameters[i];
	p = hodo_must(hodo_vec_add(q->parameters, q->nparameters));
	q->added = hodo_must(strndup(question->parameters, len));
	*p = (struct hodo_duck_parameter){ q->added, equals + 1 };
	return p;
}

static int answer(struct query *q, const struct hodo_duck_question *question)
{
	const struct hodo_duck_parameter *p;
	int status;

	for (uint32_t i = 0; i < q->a->nset; i++)
		*(struct hodo_duck_parameter *)hodo_must(hodo_vec_add(q->parameters, q->nparameters)) = q->a->set[i];
	p = find_parameter(q, question);
	status = run_sql(q, question->sql);
	if (!status && !q->output.rows && !q->out.err)
		explain(q, question, p ? p->value : "*");
	free(q->parameters);
	free(q->added);
	q->parameters = NULL;
	q->added = NULL;
	q->nparameters = 0;
	return status;
}

static int ask(struct query *q, const char *word)
{
	const struct hodo_duck_question *question = find_question(word);

	if (question)
		return answer(q, question);
	q->parameters = q->a->set;
	q->nparameters = q->a->nset;
	return run_sql(q, word);
}

/* What ends with a semicolon, or the input: the name of a question, or a statement. */
static int run_input(struct query *q, struct hodo_text *sql)
{
	const char *const blank = " \t\r\n";
	char *text = hodo_must((char *)hodo_text_string(sql));
	char *name = hodo_must(strdup(text + strspn(text, blank)));
	const struct hodo_duck_question *question;
	int status;

	for (size_t n = strlen(name); n > 0 && (name[n - 1] == ';' || strchr(blank, name[n - 1]));)
		name[--n] = 0;
	question = find_question(name);
	free(name);
	if (question) {
		status = answer(q, question);
	} else {
		q->parameters = q->a->set;
		q->nparameters = q->a->nset;
		status = run_sql(q, text);
		q->parameters = NULL;
		q->nparameters = 0;
	}
	sql->len = 0;
	return status;
}

/* Lines up to one that ends with a semicolon are a statement; at the end what is left is one. */
static int shell(struct query *q)
{
	bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct hodo_text sql = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int status = 0;

	for (;;) {
		size_t end;

		if (person) {
			fputs(sql.len ? "   ...> " : "hodo> ", stdout);
			fflush(stdout);
		}
		n = getline(&line, &room, stdin);
		if (n < 0)
			break;
		hodo_text_bytes(&sql, line, (size_t)n);
		for (end = sql.len; end > 0 && strchr(" \t\r\n", sql.data[end - 1]);)
			end--;
		if (end > 0 && sql.data[end - 1] == ';')
			status |= run_input(q, &sql);
		else if (end == 0)
			sql.len = 0;
	}
	if (sql.len)
		status |= run_input(q, &sql);
	if (person)
		fputc('\n', stdout);
	free(line);
	hodo_text_free(&sql);
	return status;
}

/* ---------------------------------------------------------------------------- run */

static int list_questions(const struct args *a)
{
	const struct hodo_duck_question *question;
	struct hodo_text text = { 0 };
	struct hodo_json json = { .text = &text };
	struct hodo_out out;

	if (a->args.look.json) {
		hodo_json_object(&json, NULL);
		hodo_json_u64(&json, "version", 1);
		hodo_json_array(&json, "questions");
	}
	for (unsigned i = 0; (question = hodo_duck_question(i)); i++) {
		if (a->args.look.json) {
			hodo_json_object(&json, NULL);
			hodo_json_string(&json, "name", question->name);
			hodo_json_string(&json, "does", question->does);
			hodo_json_string(&json, "parameters", question->parameters);
			hodo_json_string(&json, "sql", question->sql);
			hodo_json_end(&json);
		} else {
			hodo_text_printf(&text, "%-9s %s%s%s\n", question->name, question->does,
					 question->parameters ? "; --set " : "",
					 question->parameters ? question->parameters : "");
		}
	}
	if (a->args.look.json) {
		hodo_json_end(&json);
		hodo_json_finish(&json);
	}
	hodo_out_start(&out, !a->args.no_pager);
	hodo_out_text(&out, &text);
	return hodo_out_finish(&out);
}

static const char list_tables[] = "SELECT table_name AS \"table\", column_name AS \"column\", data_type AS type\n"
				  "FROM information_schema.columns WHERE table_name <> 'hodo_schema'\n"
				  "ORDER BY table_name, ordinal_position";

static int open_duck(struct query *q)
{
	const struct hodo_duck_options options = {
		.memory = q->a->memory,
		.temporary = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
		.open = open_recording,
		.read = query_notes_read,
		.many = q->a->shell,
		.data = &q->notes,
	};
	struct hodo_why why = { "" };

	return hodo_duck_open(&q->duck, &options, &why) < 0 ? hodo_error("%s", why.text) : 0;
}

/* 0, or the exit status. */
static int check(const struct args *a)
{
	const char *word = a->args.n ? a->args.words[0] : "";

	if (a->list + a->tables + a->shell > 1)
		return hodo_usage("query", "--list, --tables and --shell: one of them");
	if (a->csv && a->args.look.json)
		return hodo_usage("query", "--csv and --json: one of them");
	if (a->list && (a->args.n || a->csv || a->nset))
		return hodo_usage("query", "--list takes %s", a->args.n ? "no statement and no recording" : a->csv ?
				  "--json, not --csv" : "no --set");
	if (a->tables && a->nset)
		return hodo_usage("query", "--tables takes no --set");
	if (a->list || a->tables || a->shell)
		return 0;
	if (!a->args.n)
		return hodo_usage("query", "a statement or the name of a question is missing");
	if (find_question(word) || strpbrk(word, " \t\n;("))
		return 0;
	if (access(word, F_OK) == 0)
		return hodo_usage("query", "the statement, or the name of a question, is missing before %s", word);
	return hodo_usage("query", "'%s' is no statement, and no question that 'hodo query --list' lists", word);
}

static int run(void *args)
{
	struct args *a = args;
	struct query q = { .a = a };
	int first = a->shell || a->tables ? 0 : 1, status = check(a), missing = 0;

	if (status || a->list)
		return status ? status : list_questions(a);
	query_notes_start(&q.notes, a->args.quiet);
	status = open_duck(&q);
	if (!status)
		missing = add_all(&q, a->args.words + first, a->args.n - first);
	if (!status && missing >= 0) {
		catch_interrupts();
		hodo_out_start(&q.out, !a->args.no_pager && !a->shell);
		query_output_start(&q.output, &q.out, a->csv ? HODO_DUCK_CSV : a->args.look.json ? HODO_DUCK_JSON :
				   HODO_DUCK_TEXT, hodo_use_color(a->args.color, STDOUT_FILENO));
		if (a->tables)
			status = run_sql(&q, list_tables);
		else
			status = a->shell ? shell(&q) : ask(&q, a->args.words[0]);
		query_output_end(&q.output);
		first = hodo_out_finish(&q.out);
		status = status ? status : first;
	}
	hodo_duck_close(q.duck);
	query_notes_end(&q.notes);
	return status || !missing ? status : 1;
}

static const struct hodo_option options[] = {
	{ .name = "list", .letter = 'l', HODO_AT(struct args, list), .help = "list the questions that have names" },
	{ .name = "tables", HODO_AT(struct args, tables), .help = "list the tables and their columns" },
	{ .name = "shell", HODO_AT(struct args, shell), .help = "read statements, which end with ;, from standard input" },
	{ .name = "set", .kind = HODO_OPTION_CALL, .arg = "PARAM=VALUE", .set = set_parameter,
	  .help = "the value of $PARAM in the statement" },
	{ .name = "csv", HODO_AT(struct args, csv), .help = "comma separated values" },
	HODO_OPTIONS_SHOWN("one JSON object a row"),
	HODO_OPTION_QUIET("no warnings about what is missing in recordings"),
	{ .name = "memory", .kind = HODO_OPTION_SIZE, .arg = "SIZE", HODO_AT(struct args, memory),
	  .min = 64 << 20, .max = 1ull << 46, .wants = "a size from 64M on", .help = "at most for the statement (1G)" },
	{ 0 },
};

static const struct args defaults = { .memory = HODO_DUCK_MEMORY };

const struct hodo_verb hodo_verb_query = {
	.name = "query", .does = "ask about recordings in SQL",
	.usage = "[options] STATEMENT|QUESTION [DIR...]\n--shell|--tables [options] [DIR...]\n--list",
	.about = "Answers a question about recordings (hodo.data) and directories made by\n"
		 "'hodo export --to parquet', all together: a statement of SQL, or one that has a\n"
		 "name. The tables are events, spans, calls, waits, samples, losses, processes,\n"
		 "hosts, and one for each event class, such as \"kv:get\".\n",
	.options = options, .column = 21, .words = HODO_WORD_DIR,
	.args_bytes = sizeof(struct args), .defaults = &defaults, .run = run, .drop = drop,
};

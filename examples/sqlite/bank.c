/* SPDX-License-Identifier: MIT */
/*
 * bank.c - the workload on SQLite, with the application's own events.
 *
 * Each client is a thread with one connection. The mix: transfers (a transaction
 * of two updates and two inserts), look-ups of an account, statements of the
 * last entries of an account (a range of an index), and removal of old entries.
 */
#include "bank.h"
#include "hooks.h"

#include <hodo/trace.h>
#include <stdio.h>

/* When the write-ahead log has this many pages, a client writes them back. */
#define CHECKPOINT_PAGES 400

enum statement { BEGIN, COMMIT, ROLLBACK, MOVE, ENTER, LOOK_UP, HISTORY, REMOVE, STATEMENTS };

static const char *const statement_sql[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[MOVE] = "UPDATE account SET balance = balance + ?2 WHERE id = ?1",
	[ENTER] = "INSERT INTO entry(account, amount, note) VALUES (?1, ?2, ?3)",
	[LOOK_UP] = "SELECT owner, balance FROM account WHERE id = ?1",
	[HISTORY] = "SELECT id, amount, note FROM entry WHERE account = ?1 AND id > ?2 ORDER BY id DESC LIMIT 20",
	[REMOVE] = "DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE account = ?1 ORDER BY id LIMIT 4)",
};

struct client {
	sqlite3 *db;
	sqlite3_stmt *stmt[STATEMENTS];
	struct statement_hook hook;
	struct bank_counts counts;
	uint64_t random;
};

/* ---------------------------------------------------------------- connection */

static int failed(struct client *c, const char *what)
{
	fprintf(stderr, "bank: %s: %s\n", what, c->db ? sqlite3_errmsg(c->db) : "out of memory");
	return -1;
}

/* In WAL mode SQLite reports after each commit how many pages wait in the log. */
static int on_commit(void *context, sqlite3 *db, const char *schema, int pages)
{
	struct client *c = context;
	int in_log = 0, written_back = 0, rc;

	HODO_COUNTER(bank, wal_pages, pages);
	if (pages < CHECKPOINT_PAGES)
		return SQLITE_OK;
	rc = sqlite3_wal_checkpoint_v2(db, schema, SQLITE_CHECKPOINT_PASSIVE, &in_log, &written_back);
	if (rc == SQLITE_BUSY)
		return SQLITE_OK; /* another client is doing it */
	HODO_MARK(bank, checkpoint, "%d of %d pages written back", written_back, in_log);
	c->counts.checkpoints++;
	return rc;
}

static int client_open(struct client *c, const char *path)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

	if (sqlite3_open_v2(path, &c->db, flags, TRACED_VFS) != SQLITE_OK ||
	    statement_hook_install(&c->hook, c->db) != SQLITE_OK ||
	    sqlite3_busy_timeout(c->db, 60000) != SQLITE_OK ||
	    sqlite3_exec(c->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 64",
			 NULL, NULL, NULL) != SQLITE_OK)
		return failed(c, path);
	sqlite3_wal_hook(c->db, on_commit, c);
	return 0;
}

static int client_prepare(struct client *c)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(c->db, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT, &c->stmt[i],
				       NULL) != SQLITE_OK)
			return failed(c, statement_sql[i]);
	return 0;
}

static int client_close(struct client *c, int result)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(c->stmt[i]);
	if (sqlite3_close(c->db) != SQLITE_OK)
		return failed(c, "close");
	return result;
}

/* Runs a statement to its end; counts its rows and keeps its parameters for the next time. */
static int run(struct client *c, enum statement which)
{
	sqlite3_stmt *stmt = c->stmt[which];

	while (sqlite3_step(stmt) == SQLITE_ROW)
		c->counts.rows_read++;
	return sqlite3_reset(stmt) == SQLITE_OK ? 0 : failed(c, statement_sql[which]);
}

static int run_on(struct client *c, enum statement which, int account, int64_t value)
{
	sqlite3_bind_int(c->stmt[which], 1, account);
	if (sqlite3_bind_parameter_count(c->stmt[which]) >= 2)
		sqlite3_bind_int64(c->stmt[which], 2, value);
	return run(c, which);
}

/* ---------------------------------------------------------------- operations */

static uint32_t draw(struct client *c, uint32_t below)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((c->random >> 33) * below >> 31);
}

static int transfer(struct client *c, int from, int to, int cents)
{
	HODO_SPAN(bank, transfer, from, to, cents);

	sqlite3_bind_text(c->stmt[ENTER], 3, cents > 5000 ? "large transfer" : "transfer", -1, SQLITE_STATIC);
	if (run(c, BEGIN) < 0)
		return -1;
	if (run_on(c, MOVE, from, -cents) < 0 || run_on(c, MOVE, to, cents) < 0 ||
	    run_on(c, ENTER, from, -cents) < 0 || run_on(c, ENTER, to, cents) < 0 || run(c, COMMIT) < 0) {
		run(c, ROLLBACK);
		return -1;
	}
	c->counts.transfers++;
	c->counts.entries_added += 2;
	return 0;
}

static int operation(struct client *c)
{
	uint32_t kind = draw(c, 100);
	int account = 1 + (int)draw(c, BANK_ACCOUNTS);

	if (kind < 40)
		return transfer(c, account, 1 + (int)draw(c, BANK_ACCOUNTS), 1 + (int)draw(c, 10000));
	if (kind < 75)
		return run_on(c, LOOK_UP, account, 0);
	if (kind < 92)
		return run_on(c, HISTORY, account, 10);
	if (run_on(c, REMOVE, account, 0) < 0)
		return -1;
	HODO_EVENT(bank, trim, account, HODO_F(removed, sqlite3_changes(c->db)));
	c->counts.entries_removed += (unsigned long)sqlite3_changes(c->db);
	return 0;
}

int bank_client(const char *path, unsigned long operations, uint64_t seed, struct bank_counts *counts)
{
	struct client c = { .random = seed };
	int result = client_open(&c, path);

	if (result == 0)
		result = client_prepare(&c);
	while (result == 0 && c.counts.operations < operations) {
		result = operation(&c);
		c.counts.operations++;
	}
	result = client_close(&c, result);
	*counts = c.counts;
	return result;
}

/* ------------------------------------------------------- beginning and end */

int bank_create(const char *path)
{
	struct client c = { 0 };
	int result = client_open(&c, path);
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "BEGIN;"
		 "CREATE TABLE account(id INTEGER PRIMARY KEY, owner TEXT NOT NULL, balance INTEGER NOT NULL);"
		 "CREATE TABLE entry(id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account,"
		 " amount INTEGER NOT NULL, note TEXT);"
		 "CREATE INDEX entry_account ON entry(account, id);"
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		 " INSERT INTO account SELECT i, 'owner ' || i, %d FROM n;"
		 "COMMIT",
		 BANK_ACCOUNTS, BANK_OPENING_CENTS);
	if (result == 0 && sqlite3_exec(c.db, sql, NULL, NULL, NULL) != SQLITE_OK)
		result = failed(&c, "create");
	return client_close(&c, result);
}

/* The query's only value must be the expected one. */
static int expect(struct client *c, const char *sql, const char *expected)
{
	sqlite3_stmt *stmt = NULL;
	const char *value = NULL;
	int result = 0;

	if (sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		value = (const char *)sqlite3_column_text(stmt, 0);
	if (!value) {
		result = failed(c, sql);
	} else if (sqlite3_stricmp(value, expected) != 0) {
		fprintf(stderr, "bank: %s: got %s, expected %s\n", sql, value, expected);
		result = -1;
	}
	sqlite3_finalize(stmt);
	return result;
}

int bank_verify(const char *path, const struct bank_counts *total)
{
	struct client c = { 0 };
	int result = client_open(&c, path);
	char money[24], entries[24];

	snprintf(money, sizeof(money), "%ld", (long)BANK_ACCOUNTS * BANK_OPENING_CENTS);
	snprintf(entries, sizeof(entries), "%lu", total->entries_added - total->entries_removed);
	if (result == 0 &&
	    sqlite3_wal_checkpoint_v2(c.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
		result = failed(&c, "checkpoint");
	if (result == 0)
		result = expect(&c, "PRAGMA integrity_check", "ok");
	if (result == 0)
		result = expect(&c, "SELECT sum(balance) FROM account", money);
	if (result == 0)
		result = expect(&c, "SELECT count(*) FROM entry", entries);
	return client_close(&c, result);
}

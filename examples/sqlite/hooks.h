/* SPDX-License-Identifier: MIT */
/* hooks.h - SQLite's two places to listen in: the statement hook and the file system layer. */
#ifndef HOOKS_H
#define HOOKS_H

#include <sqlite3.h>
#include <stdatomic.h>

/* What the hooks have seen, counted without Hodoscope so that a trace can be checked against it. */
struct hook_counts {
	atomic_ulong statements;
	atomic_ulong rows;
	atomic_ulong reads, read_bytes;
	atomic_ulong writes, written_bytes;
	atomic_ulong syncs;
};
extern struct hook_counts hook_counts;

/* One a connection; must live as long as the connection. Statements of one connection can overlap. */
struct statement_hook {
	struct running_statement {
		void *stmt;
		uint64_t start_ns; /* 0: nobody listened when it began */
		uint32_t rows;
	} running[16];
	unsigned next;
};

/* Reports the statements of db as sqlite:statement. SQLite's result code. */
int statement_hook_install(struct statement_hook *hook, sqlite3 *db);

/*
 * Registers the VFS "traced": the default one, each read, write and sync of
 * which is reported as vfs:read, vfs:write and the span vfs:sync. Call it once,
 * before opening a database with it. SQLite's result code.
 */
#define TRACED_VFS "traced"
int traced_vfs_register(void);

#endif

/* SPDX-License-Identifier: MIT */
/* hooks.h - the two places where SQLite can be observed: the statement hook and the file system layer. */
#ifndef HOOKS_H
#define HOOKS_H

#include <sqlite3.h>
#include <stdatomic.h>

/* What the hooks have seen, counted without Hodoscope, to check a trace against it. */
struct hook_counts {
	atomic_ulong statements;
	atomic_ulong rows;
	atomic_ulong reads, read_bytes;
	atomic_ulong writes, written_bytes;
	atomic_ulong syncs;
};
extern struct hook_counts hook_counts;

/* One for each connection, with the same lifetime. Statements of one connection can overlap. */
struct statement_hook {
	struct running_statement {
		void *stmt;
		uint64_t start_ns; /* 0: nobody listened when it began */
		uint32_t rows;
	} running[16];
	unsigned next;
};

/* Reports the statements of db as sqlite:statement. Returns SQLite's result code. */
int statement_hook_install(struct statement_hook *hook, sqlite3 *db);

/*
 * Registers the VFS "traced": the default one, which reports each read, write
 * and sync as vfs:read, vfs:write and the span vfs:sync. Call this once, before
 * you open a database with it. Returns SQLite's result code.
 */
#define TRACED_VFS "traced"
int traced_vfs_register(void);

#endif

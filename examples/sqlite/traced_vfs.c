/* SPDX-License-Identifier: MIT */
/*
 * traced_vfs.c - a VFS on top of the default one that reports each read, write
 * and sync, and passes on everything else.
 */
#include "events.h"
#include "hooks.h"

#include <string.h>

/* SQLite allocates szOsFile bytes for a file: ours, followed by the real VFS's. */
struct traced_file {
	sqlite3_file base;
	const char *name; /* without folders; SQLite keeps it until the file is closed */
	sqlite3_file real[];
};

static sqlite3_vfs *real_vfs;

static sqlite3_file *real_file(sqlite3_file *file)
{
	return ((struct traced_file *)file)->real;
}

/* ------------------------------------------------------------ what is traced */

static int file_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
	struct traced_file *traced = (struct traced_file *)file;
	uint64_t start_ns = trace_vfs_read_enabled() ? now_ns() : 0;
	int result = traced->real->pMethods->xRead(traced->real, data, bytes, offset);

	hook_counts.reads++;
	hook_counts.read_bytes += (unsigned long)bytes;
	if (start_ns)
		trace_vfs_read(traced->name, offset, bytes, now_ns() - start_ns, result);
	return result;
}

static int file_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
	struct traced_file *traced = (struct traced_file *)file;
	uint64_t start_ns = trace_vfs_write_enabled() ? now_ns() : 0;
	int result = traced->real->pMethods->xWrite(traced->real, data, bytes, offset);

	hook_counts.writes++;
	hook_counts.written_bytes += (unsigned long)bytes;
	if (start_ns)
		trace_vfs_write(traced->name, offset, bytes, now_ns() - start_ns, result);
	return result;
}

static int file_sync(sqlite3_file *file, int flags)
{
	struct traced_file *traced = (struct traced_file *)file;
	HODO_SPAN(vfs, sync, HODO_F(file, traced->name), flags);

	hook_counts.syncs++;
	return traced->real->pMethods->xSync(traced->real, flags);
}

/* --------------------------------------------------------- what is passed on */

static int file_close(sqlite3_file *file)
{
	return real_file(file)->pMethods->xClose(real_file(file));
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
	return real_file(file)->pMethods->xTruncate(real_file(file), bytes);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
	return real_file(file)->pMethods->xFileSize(real_file(file), bytes);
}

static int file_lock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xLock(real_file(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
	return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int file_reserved(sqlite3_file *file, int *reserved)
{
	return real_file(file)->pMethods->xCheckReservedLock(real_file(file), reserved);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
	return real_file(file)->pMethods->xFileControl(real_file(file), op, arg);
}

static int file_sector_size(sqlite3_file *file)
{
	return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int file_characteristics(sqlite3_file *file)
{
	return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int file_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **shm)
{
	return real_file(file)->pMethods->xShmMap(real_file(file), page, bytes, extend, shm);
}

static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return real_file(file)->pMethods->xShmLock(real_file(file), offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
	real_file(file)->pMethods->xShmBarrier(real_file(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete)
{
	return real_file(file)->pMethods->xShmUnmap(real_file(file), delete);
}

/* Version 2: without the memory-mapped reads of version 3, which would bypass file_read(). */
static const sqlite3_io_methods file_methods = {
	.iVersion = 2,
	.xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate, .xSync = file_sync,
	.xFileSize = file_size, .xFileControl = file_control, .xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
	.xLock = file_lock, .xUnlock = file_unlock, .xCheckReservedLock = file_reserved,
	.xShmMap = file_shm_map, .xShmLock = file_shm_lock,
	.xShmBarrier = file_shm_barrier, .xShmUnmap = file_shm_unmap,
};
static sqlite3_io_methods file_methods_without_shm;

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags)
{
	struct traced_file *traced = (struct traced_file *)file;
	const char *slash = path ? strrchr(path, '/') : NULL;
	int result;

	traced->name = slash ? slash + 1 : path;
	traced->base.pMethods = NULL;
	traced->real->pMethods = NULL;
	result = real_vfs->xOpen(real_vfs, path, traced->real, flags, out_flags);
	/* SQLite calls xClose exactly when pMethods is set, even after a failed open. */
	if (traced->real->pMethods) {
		bool shm = traced->real->pMethods->iVersion >= 2 && traced->real->pMethods->xShmMap;

		traced->base.pMethods = shm ? &file_methods : &file_methods_without_shm;
	}
	return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
	return real_vfs->xDelete(real_vfs, path, sync_dir);
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result)
{
	return real_vfs->xAccess(real_vfs, path, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int bytes, char *full)
{
	return real_vfs->xFullPathname(real_vfs, path, bytes, full);
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *data)
{
	return real_vfs->xRandomness(real_vfs, bytes, data);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	return real_vfs->xSleep(real_vfs, us);
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *text)
{
	return real_vfs->xGetLastError(real_vfs, bytes, text);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *days)
{
	return real_vfs->xCurrentTime(real_vfs, days);
}

static int vfs_current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
	return real_vfs->xCurrentTimeInt64(real_vfs, ms);
}

int traced_vfs_register(void)
{
	static sqlite3_vfs traced_vfs = {
		.iVersion = 2,
		.zName = TRACED_VFS,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_pathname,
		.xRandomness = vfs_randomness,
		.xSleep = vfs_sleep,
		.xGetLastError = vfs_last_error,
		.xCurrentTime = vfs_current_time,
		.xCurrentTimeInt64 = vfs_current_time_ms,
	};

	real_vfs = sqlite3_vfs_find(NULL);
	if (!real_vfs || real_vfs->iVersion < 2)
		return SQLITE_NOTFOUND;
	file_methods_without_shm = file_methods;
	file_methods_without_shm.iVersion = 1;
	traced_vfs.szOsFile = (int)sizeof(struct traced_file) + real_vfs->szOsFile;
	traced_vfs.mxPathname = real_vfs->mxPathname;
	return sqlite3_vfs_register(&traced_vfs, 0);
}

/*
 * io_stats.h - what each database file has been read and written, for
 * sys.dm_io_virtual_file_stats.
 *
 * A SQLite VFS ("frd") over the system's own counts calls, bytes and the time they take,
 * by path; spools and segments add theirs.  Figures live as long as the process.
 * Thread-safe.
 */
#ifndef FRD_STORE_IO_STATS_H
#define FRD_STORE_IO_STATS_H

#include <stdbool.h>
#include <stdint.h>

extern const char io_vfs_name[];
/* Before the first database is opened; again is fine.  False: SQLite refused. */
bool io_vfs_register(void);

enum io_kind { IO_READ, IO_WRITE, IO_SYNC, IO_KINDS };

struct io_figure {
    int64_t count, bytes, ns, max_ns;
};

struct io_file; /* one path's counters */

/* Made at its first use; NULL when memory is short, which the others accept. */
struct io_file *io_file_get(const char *path);
/* started_ns: of io_now() in front of the call that is counted. */
void io_count(struct io_file *f, enum io_kind kind, int64_t bytes, int64_t started_ns);
int64_t io_now(void); /* monotonic, ns */

/* Where the last write to a WAL ended, as long as nobody has said that it was undone; 0:
 * none. */
int64_t io_log_end(const char *path);
void io_log_undone(const char *path);

/* Bytes in temporary files: of sessions' tables, and of what statements set aside. */
struct io_temp {
    int64_t tables, work;
};
struct io_temp io_temp_bytes(void);
/* A file that SQLite does not know of has grown, or is gone. */
void io_temp_work(int64_t bytes);

/* Zeros for a path that was never opened. */
void io_figures(const char *path, struct io_figure out[IO_KINDS]);
/* Over all files whose path ends so ("" = all). */
void io_totals(const char *ending, struct io_figure out[IO_KINDS]);

#endif

/*
 * ddl.h - a table as a script describes it, where no server is asked.
 *
 * Reads the CREATE TABLE of one table out of a T-SQL script, and the defaults that ALTER
 * TABLE adds to it; other statements are passed by.  Reentrant.
 */
#ifndef FR_DB_DDL_H
#define FR_DB_DDL_H

#include "db/table.h"

enum { FR_DDL_MAX_BYTES = 16 << 20 };

/*
 * name as the user wrote it.  A character column without COLLATE has code page 1252, that
 * of SQL_Latin1_General_CP1_CI_AS.  FR_EDATA: the table is not in the script, is there
 * twice, or something about it is not understood; the text says line and word.
 */
fr_status fr_ddl_parse(const char *text, size_t n, const char *name,
                       struct fr_table **out, struct fr_err *err);
/* As above, of a file; FR_EIO. */
fr_status fr_ddl_read(const char *path, const char *name, struct fr_table **out,
                      struct fr_err *err);

#endif

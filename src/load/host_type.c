/* The types that values have in a file: their names and sizes. */
#include "load/layout.h"

#include <string.h>

/* Names as format files have them; the first of a type is its own. */
static const struct {
    const char *name;
    enum fr_host_type type;
} host_names[] = {
    {"SQLCHAR", FR_HOST_CHAR},
    {"SQLVARYCHAR", FR_HOST_CHAR},
    {"SQLVARCHAR", FR_HOST_CHAR}, /* so in Microsoft's examples, too */
    {"SQLTEXT", FR_HOST_CHAR},
    {"SQLNCHAR", FR_HOST_NCHAR},
    {"SQLNVARCHAR", FR_HOST_NCHAR},
    {"SQLNTEXT", FR_HOST_NCHAR},
    {"SQLXML", FR_HOST_NCHAR},
    {"SQLBINARY", FR_HOST_BINARY},
    {"SQLVARYBIN", FR_HOST_BINARY},
    {"SQLVARBINARY", FR_HOST_BINARY},
    {"SQLIMAGE", FR_HOST_BINARY},
    {"SQLUDT", FR_HOST_BINARY},
    {"SQLTIMESTAMP", FR_HOST_BINARY},
    {"SQLBIT", FR_HOST_BIT},
    {"SQLTINYINT", FR_HOST_TINYINT},
    {"SQLSMALLINT", FR_HOST_SMALLINT},
    {"SQLINT", FR_HOST_INT},
    {"SQLBIGINT", FR_HOST_BIGINT},
    {"SQLFLT4", FR_HOST_REAL},
    {"SQLFLT8", FR_HOST_FLOAT},
    {"SQLMONEY4", FR_HOST_SMALLMONEY},
    {"SQLMONEY", FR_HOST_MONEY},
    {"SQLDECIMAL", FR_HOST_DECIMAL},
    {"SQLNUMERIC", FR_HOST_DECIMAL},
    {"SQLDATE", FR_HOST_DATE},
    {"SQLTIME", FR_HOST_TIME},
    {"SQLDATETIME", FR_HOST_DATETIME},
    {"SQLDATETIM4", FR_HOST_SMALLDATETIME},
    {"SQLDATETIME2", FR_HOST_DATETIME2},
    {"SQLDATETIMEOFFSET", FR_HOST_DATETIMEOFFSET},
    {"SQLUNIQUEID", FR_HOST_GUID},
    {"SQLVARIANT", FR_HOST_VARIANT},
};

/* The new dates and times at scale 7, whatever their column's is: "bcp data files do not
 * store the scale" (Bulk Copy Changes for Enhanced Date and Time Types). */
static const uint8_t host_bytes[FR_HOST_COUNT] = {
    [FR_HOST_BIT] = 1,
    [FR_HOST_TINYINT] = 1,
    [FR_HOST_SMALLINT] = 2,
    [FR_HOST_INT] = 4,
    [FR_HOST_BIGINT] = 8,
    [FR_HOST_REAL] = 4,
    [FR_HOST_FLOAT] = 8,
    [FR_HOST_SMALLMONEY] = 4,
    [FR_HOST_MONEY] = 8,
    [FR_HOST_DECIMAL] = 19,
    [FR_HOST_DATE] = 3,
    [FR_HOST_TIME] = 5,
    [FR_HOST_DATETIME] = 8,
    [FR_HOST_SMALLDATETIME] = 4,
    [FR_HOST_DATETIME2] = 8,
    [FR_HOST_DATETIMEOFFSET] = 10,
    [FR_HOST_GUID] = 16,
    [FR_HOST_FREETDS_DECIMAL] = 19,
    [FR_HOST_FREETDS_DATE] = 16,
    [FR_HOST_FREETDS_TIME] = 16,
    [FR_HOST_FREETDS_DATETIME2] = 16,
    [FR_HOST_FREETDS_DATETIMEOFFSET] = 16,
};

size_t fr_host_bytes(enum fr_host_type type)
{
    return host_bytes[type];
}

enum fr_host_type fr_host_by_name(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof host_names / sizeof host_names[0]; i++)
        if (strlen(host_names[i].name) == n && memcmp(host_names[i].name, name, n) == 0)
            return host_names[i].type;
    return FR_HOST_COUNT;
}

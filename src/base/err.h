/*
 * err.h - statuses and error texts.
 *
 * A function that can fail returns fr_status and fills the struct fr_err it is
 * given.  Low layers return, never log; each caller adds its fact in front of
 * the text (fr_err_wrap), so that a text grows outward: "file: row: column:
 * reason".  A struct fr_err is plain data owned by whoever declared it; it is
 * used by one thread at a time.
 */
#ifndef FR_BASE_ERR_H
#define FR_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* name, exit status of a command that ends with it (see fullrack(1)) */
#define FR_STATUS_MAP(X)                                                                 \
    X(FR_OK, 0)       /* done */                                                         \
    X(FR_EMPTY, 0)    /* nothing there: an expected outcome, no error text */            \
    X(FR_EOF, 0)      /* end of input: an expected outcome, no error text */             \
    X(FR_EARG, 2)     /* wrong usage or configuration */                                 \
    X(FR_ESYNTAX, 1)  /* a text has not the form of its type */                          \
    X(FR_ERANGE, 1)   /* a value does not fit its type */                                \
    X(FR_EDATA, 1)    /* bad input data (row, file, header) */                           \
    X(FR_EIO, 1)      /* operating system or file error */                               \
    X(FR_ENOMEM, 1)   /* out of memory, or over a declared maximum */                    \
    X(FR_EDB, 1)      /* the server refused or reported an error */                      \
    X(FR_ELOST, 1)    /* connection lost or timed out: the outcome is in doubt */        \
    X(FR_ECONNECT, 3) /* cannot connect or log in */                                     \
    X(FR_EFENCED, 1)  /* another owner took over (lease or ledger epoch) */              \
    X(FR_EINTR, 4)    /* stopped by a signal or by the coordinator */                    \
    X(FR_EPROTO, 1)   /* the peer broke the protocol */

typedef enum {
#define FR_STATUS_ENUM(name, exit_status) name,
    FR_STATUS_MAP(FR_STATUS_ENUM)
#undef FR_STATUS_ENUM
} fr_status_code;

#define FR_WARN_UNUSED __attribute__((warn_unused_result))
typedef fr_status_code fr_status;

enum { FR_ERR_TEXT_BYTES = 1024 };

struct fr_err {
    fr_status status;
    int32_t server_number; /* SQL Server's error number, 0 when it was not the server */
    int32_t server_line;   /* of the batch, from 1; 0 = unknown, or in a procedure */
    char text[FR_ERR_TEXT_BYTES];
};

/* The status's name, e.g. "FR_EARG"; static storage. */
const char *fr_status_name(fr_status st);
/* Exit status of a command that ends with st (0..4). */
int fr_status_exit(fr_status st);

/* Fill err (which may be NULL) and return st, so that a caller can return it. */
fr_status fr_err_set(struct fr_err *err, fr_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* As fr_err_set, with ": " and strerror(errnum) behind. */
fr_status fr_err_errno(struct fr_err *err, fr_status st, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Put "text: " in front of what err says; the status stays and is returned.  Without an
 * err there is none to return: whoever may be given NULL returns his own. */
fr_status fr_err_wrap(struct fr_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void fr_err_clear(struct fr_err *err);

#endif

/*
 * log.h - one line per event to standard error.
 *
 * The sink is process-wide; a line is written with one write(2), so lines of
 * several threads and processes do not mix.  Low layers never log.  A line is
 * at most FR_LOG_LINE_BYTES long, longer ones are cut.
 */
#ifndef FR_BASE_LOG_H
#define FR_BASE_LOG_H

enum { FR_LOG_LINE_BYTES = 2048 };
enum fr_log_level { FR_LOG_ERROR, FR_LOG_WARN, FR_LOG_INFO, FR_LOG_DEBUG };

/* program: name in front of each line, borrowed for the life of the process. */
void fr_log_init(const char *program, enum fr_log_level level);
/*
 * To be called first in main(): a program that was started with a standard stream closed
 * would get a socket or a reject file under its number, and messages would go there.  The
 * number is taken: standard input and output fail when they are used, standard error
 * takes everything and shows nothing.
 */
void fr_log_hold_standard_streams(void);
void fr_log_set_level(enum fr_log_level level);
enum fr_log_level fr_log_get_level(void);
/*
 * From now on every line begins with the time (UTC, milliseconds) and its level, as a
 * service's log, and holds no control characters: what a client sends, like its name,
 * cannot make lines of its own.  Without this, too, only newlines and tabs are left of
 * them.
 */
void fr_log_as_service(void);
void fr_log(enum fr_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif

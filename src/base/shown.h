/*
 * shown.h - text of others (names of files, messages) as it may stand on a terminal.
 */
#ifndef FR_BASE_SHOWN_H
#define FR_BASE_SHOWN_H

#include <stdbool.h>
#include <stdio.h>

/* A byte that moves the cursor, rings, or begins a line of its own. */
static inline bool fr_is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7F;
}

/* Ends of lines and tabs are written as blanks, other control characters (of UTF-8 those
 * of C1, too) as '?': the text stays on its line. */
void fr_put_shown(const char *text, FILE *out);

#endif

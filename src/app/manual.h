/*
 * manual.h - what is made of the tables of commands and options for others than the
 * program: manual pages and the shells' completion.
 *
 * All of it goes to `out`, whose errors the caller looks for.
 */
#ifndef FR_APP_MANUAL_H
#define FR_APP_MANUAL_H

#include "app/command.h"

#include <stdio.h>

/* The page of a command, in mdoc(7): its name, synopsis, options, exit status and
 * examples round `prose`, which is sections of that page (DESCRIPTION first) and may be
 * NULL. */
void manual_print_page(const struct command *c, const char *prose, FILE *out);

void manual_print_bash(const struct command *all, size_t n, FILE *out);
void manual_print_zsh(const struct command *all, size_t n, FILE *out);

#endif

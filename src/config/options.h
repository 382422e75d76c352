/*
 * options.h - the option table as others show it: manual pages, completion.
 *
 * Plain data; the texts are the table's.
 */
#ifndef FR_CONFIG_OPTIONS_H
#define FR_CONFIG_OPTIONS_H

#include "config/settings.h"

struct fr_option {
    const char *name;    /* without its dashes */
    char letter;         /* 0 = none */
    const char *arg;     /* what it takes, for a reader; NULL = nothing */
    const char *choices; /* "a|b|c"; NULL = not a choice */
    const char *help;
    bool is_file; /* it takes a path of this machine */
    bool is_repeatable;
};

/* Those of the groups, in order of their names; hidden ones are left out. */
void fr_options_each(fr_groups groups, void (*each)(void *ctx, const struct fr_option *o),
                     void *ctx);

#endif

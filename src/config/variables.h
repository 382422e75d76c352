/*
 * variables.h - $(NAME) in a script, as sqlcmd writes it, replaced by a value that
 * cannot break out of where it stands.
 *
 * In a text or a quoted name the value's quotes are doubled.  In code a value of letters,
 * digits and _, or a number, stands as it is; anything else becomes a quoted name.  In
 * comments nothing is replaced.  Names have no case.
 */
#ifndef FR_CONFIG_VARIABLES_H
#define FR_CONFIG_VARIABLES_H

#include "base/buf.h"

struct fr_variable {
    const char *value; /* borrowed */
    bool is_quoted;    /* a name of one or more parts, quoted: in code as it is */
};

/* False: there is none of that name (n bytes). */
typedef bool (*fr_variable_fn)(void *ctx, const char *name, size_t n,
                               struct fr_variable *out);

/*
 * out: the script with its variables replaced; NULL = only look.  FR_EARG: an unknown
 * variable, a value that is no text of SQL (a control character); err says which line.
 */
fr_status fr_variables_replace(const char *script, fr_variable_fn find, void *ctx,
                               struct fr_buf *out, struct fr_err *err);

#endif

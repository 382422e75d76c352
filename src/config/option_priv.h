/* option_priv.h - one option's row, for config/ only. */
#ifndef FR_CONFIG_OPTION_PRIV_H
#define FR_CONFIG_OPTION_PRIV_H

#include "config/settings.h"

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_CONSENT, /* bool, on the command line alone: what it allows is not undone */
    OPTION_TEXT,    /* char * */
    OPTION_PATH,    /* char *, of a file: in a run file from that file's folder */
    OPTION_GUARDS,  /* char *, as guards.h reads it */
    OPTION_LIST,    /* struct fr_text_list, repeatable */
    OPTION_NUMBER,  /* int64_t */
    OPTION_NUMBER_OR_AUTO, /* int64_t, -1 = auto */
    OPTION_SIZE,           /* uint64_t, with K, M, G */
    OPTION_CHOICE,         /* int64_t, index into choices */
    OPTION_PASSWORD        /* struct fr_secret * */
};

struct option_spec {
    const char *name;
    char letter; /* 0 = none */
    enum option_kind kind;
    fr_groups group;
    size_t field;
    int64_t min, max;
    const char *choices; /* "a|b|c" */
    const char *arg;
    const char *help;
    bool hidden;
};

extern const struct option_spec option_table[];
extern const size_t option_count;

const struct option_spec *option_find(const char *name, size_t n, fr_groups groups);
/* It takes no value on the command line. */
bool option_is_flag(const struct option_spec *o);
/* FR_EARG for what the environment or a file may not say. */
fr_status option_refuse_consent(const struct option_spec *o, const char *shown,
                                struct fr_err *err);
const struct option_spec *option_find_letter(char letter, fr_groups groups);
/* Options and arguments must be UTF-8: JSON and nvarchar carry nothing else. */
bool option_is_utf8(const char *text);
/* Set from text; `shown` is how the user wrote the option, for messages. */
fr_status option_set(struct fr_settings *s, const struct option_spec *o,
                     const char *value, const char *shown, struct fr_err *err);
/* Set from a value of JSON; what the option's kind cannot be is FR_EARG. */
fr_status option_set_json(struct fr_settings *s, const struct option_spec *o,
                          json_t *value, const char *shown, struct fr_err *err);
/* The option of these groups whose name is most like this one; NULL = none is. */
const char *option_nearest(const char *name, size_t n, fr_groups groups);
/* Forget a list before a stronger source sets it. */
void option_clear_list(struct fr_settings *s, const struct option_spec *o);

#endif

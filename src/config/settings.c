#include "config/option_priv.h"

#include "base/num.h"
#include "base/utf8.h"
#include "config/guards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fr_settings_init(struct fr_settings *s)
{
    memset(s, 0, sizeof *s);
    fr_load_options_init(&s->load);
    s->encrypt = FR_ENCRYPT_PREFER;
    s->login_timeout_s = 15;
    s->statement_timeout_s = 300;
    s->max_attempts = 5;
    s->pin = FR_PIN_PREFER;
    s->start_timeout_s = 60;
    s->lease_s = 15;
    s->retry_for_s = 300;
    s->block_warn_s = 30;
    s->older_than_days = -1;
    s->loops = -1;
    s->files = 1;
    s->top = 10;
    s->sample_s = 5;
}

static void *field_of(struct fr_settings *s, const struct option_spec *o)
{
    return (char *)s + o->field;
}

void option_clear_list(struct fr_settings *s, const struct option_spec *o)
{
    struct fr_text_list *list = field_of(s, o);

    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct fr_text_list){0};
}

void fr_settings_free(struct fr_settings *s)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option_spec *o = &option_table[i];

        if (o->kind == OPTION_TEXT || o->kind == OPTION_PATH ||
            o->kind == OPTION_GUARDS) {
            free(*(char **)field_of(s, o));
            *(char **)field_of(s, o) = NULL;
        } else if (o->kind == OPTION_LIST) {
            option_clear_list(s, o);
        }
    }
    fr_secret_free(&s->password);
    fr_settings_init(s);
}

const struct option_spec *option_find(const char *name, size_t n, fr_groups groups)
{
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].group & groups) != 0 && strlen(option_table[i].name) == n &&
            memcmp(option_table[i].name, name, n) == 0)
            return &option_table[i];
    return NULL;
}

bool fr_settings_is_given(const struct fr_settings *s, const char *name)
{
    const struct option_spec *o = option_find(name, strlen(name), FR_GROUP_ALL);

    return o != NULL && s->given[o - option_table];
}

bool option_is_flag(const struct option_spec *o)
{
    return o->kind == OPTION_FLAG || o->kind == OPTION_CONSENT;
}

fr_status option_refuse_consent(const struct option_spec *o, const char *shown,
                                struct fr_err *err)
{
    return o->kind != OPTION_CONSENT
               ? FR_OK
               : fr_err_set(err, FR_EARG, "%s: only the command line says so: --%s",
                            shown, o->name);
}

const struct option_spec *option_find_letter(char letter, fr_groups groups)
{
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].group & groups) != 0 && option_table[i].letter == letter)
            return &option_table[i];
    return NULL;
}

static fr_status set_number(const struct option_spec *o, const char *value, int64_t *out,
                            const char *shown, struct fr_err *err)
{
    if (o->kind == OPTION_NUMBER_OR_AUTO && strcmp(value, "auto") == 0) {
        *out = FR_BATCH_ROWS_AUTO;
        return FR_OK;
    }
    switch (fr_num_i64(value, o->min, o->max, out)) {
    case FR_OK:
        return FR_OK;
    case FR_ERANGE:
        return fr_err_set(err, FR_EARG, "%s: %s is not within %lld and %lld", shown,
                          value, (long long)o->min, (long long)o->max);
    default:
        return fr_err_set(err, FR_EARG, "%s: \"%s\" is not a whole number", shown, value);
    }
}

static fr_status set_flag(const char *value, bool *out, const char *shown,
                          struct fr_err *err)
{
    static const char *const words[] = {"0",  "1",   "false", "true",
                                        "no", "yes", "off",   "on"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = i % 2 == 1;
            return FR_OK;
        }
    return fr_err_set(err, FR_EARG,
                      "%s: \"%s\" is neither on (1, true, yes) nor off (0, false, no)",
                      shown, value);
}

static fr_status set_choice(const struct option_spec *o, const char *value, int64_t *out,
                            const char *shown, struct fr_err *err)
{
    const char *p = o->choices;

    for (int64_t i = 0; *p != '\0'; i++) {
        size_t n = strcspn(p, "|");

        if (strlen(value) == n && memcmp(p, value, n) == 0) {
            *out = i;
            return FR_OK;
        }
        p += n + (p[n] == '|' ? 1 : 0);
    }
    return fr_err_set(err, FR_EARG, "%s: \"%s\" is not one of %s", shown, value,
                      o->choices);
}

static fr_status add_to_list(struct fr_text_list *list, const char *value,
                             struct fr_err *err)
{
    char **grown = realloc(list->items, (list->count + 1) * sizeof *grown);

    if (grown != NULL) {
        list->items = grown;
        grown[list->count] = strdup(value);
        if (grown[list->count] != NULL) {
            list->count++;
            return FR_OK;
        }
    }
    return fr_err_set(err, FR_ENOMEM, "no memory for options");
}

bool option_is_utf8(const char *text)
{
    return fr_utf8_is_valid(text);
}

fr_status option_set(struct fr_settings *s, const struct option_spec *o,
                     const char *value, const char *shown, struct fr_err *err)
{
    void *field = field_of(s, o);
    struct fr_guards guards;
    uint64_t size;
    char *copy;

    if (!option_is_utf8(value))
        return fr_err_set(err, FR_EARG,
                          "%s: the value is not UTF-8 (a terminator may be written as "
                          "\\xA6 or 0xA6)",
                          shown);
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_CONSENT:
        return set_flag(value, field, shown, err);
    case OPTION_GUARDS:
        if (fr_guards_parse(value, &guards, err) != FR_OK)
            return fr_err_wrap(err, "%s", shown);
        /* FALLTHROUGH */
    case OPTION_TEXT:
    case OPTION_PATH:
        copy = strdup(value);
        if (copy == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for options");
        free(*(char **)field);
        *(char **)field = copy;
        return FR_OK;
    case OPTION_LIST:
        return add_to_list(field, value, err);
    case OPTION_NUMBER:
    case OPTION_NUMBER_OR_AUTO:
        return set_number(o, value, field, shown, err);
    case OPTION_SIZE:
        if (fr_num_size(value, (uint64_t)o->max, &size) != FR_OK ||
            size < (uint64_t)o->min)
            return fr_err_set(err, FR_EARG,
                              "%s: \"%s\" is not a size from %lld to %lld (K, M, G or T "
                              "may follow)",
                              shown, value, (long long)o->min, (long long)o->max);
        *(uint64_t *)field = size;
        return FR_OK;
    case OPTION_CHOICE:
        return set_choice(o, value, field, shown, err);
    case OPTION_PASSWORD:
        fr_secret_free(field);
        return fr_secret_new(value, strlen(value), field, err);
    }
    return fr_err_set(err, FR_EARG, "%s: unknown kind of option", shown);
}

static const char *choice_word(const struct option_spec *o, int64_t index, char *out,
                               size_t out_bytes)
{
    const char *p = o->choices;

    while (index-- > 0)
        p += strcspn(p, "|") + 1;
    snprintf(out, out_bytes, "%.*s", (int)strcspn(p, "|"), p);
    return out;
}

static json_t *list_to_json(const struct fr_text_list *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, json_string(list->items[i]));
    return array;
}

static json_t *option_to_json(const struct option_spec *o, const void *field,
                              const void *dflt)
{
    char word[64];

    switch (o->kind) {
    case OPTION_FLAG:
        return *(const bool *)field ? json_true() : NULL;
    case OPTION_TEXT:
    case OPTION_PATH:
    case OPTION_GUARDS:
        return *(char *const *)field == NULL ? NULL : json_string(*(char *const *)field);
    case OPTION_LIST:
        return ((const struct fr_text_list *)field)->count == 0 ? NULL
                                                                : list_to_json(field);
    case OPTION_NUMBER:
    case OPTION_NUMBER_OR_AUTO:
        return *(const int64_t *)field == *(const int64_t *)dflt
                   ? NULL
                   : json_integer(*(const int64_t *)field);
    case OPTION_SIZE:
        return *(const uint64_t *)field == *(const uint64_t *)dflt
                   ? NULL
                   : json_integer((json_int_t) * (const uint64_t *)field);
    case OPTION_CHOICE:
        return *(const int64_t *)field == *(const int64_t *)dflt
                   ? NULL
                   : json_string(
                         choice_word(o, *(const int64_t *)field, word, sizeof word));
    case OPTION_CONSENT:
    case OPTION_PASSWORD:
        return NULL; /* never leaves the process */
    }
    return NULL;
}

json_t *fr_settings_to_json(const struct fr_settings *s, fr_groups groups)
{
    struct fr_settings defaults;
    json_t *object = json_object();

    fr_settings_init(&defaults);
    for (size_t i = 0; object != NULL && i < option_count; i++) {
        const struct option_spec *o = &option_table[i];
        json_t *value;

        if ((o->group & groups) == 0)
            continue;
        value = option_to_json(o, (const char *)s + o->field,
                               (const char *)&defaults + o->field);
        if (value != NULL)
            json_object_set_new(object, o->name, value);
    }
    return object;
}

static fr_status set_json_value(struct fr_settings *s, const struct option_spec *o,
                                json_t *value, const char *shown, struct fr_err *err)
{
    char number[32];

    if (json_is_string(value))
        return option_set(s, o, json_string_value(value), shown, err);
    if (json_is_boolean(value) && o->kind == OPTION_FLAG)
        return option_set(s, o, json_is_true(value) ? "1" : "0", shown, err);
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        return option_set(s, o, number, shown, err);
    }
    return fr_err_set(err, FR_EARG, "%s: this kind of value is not understood", shown);
}

fr_status option_set_json(struct fr_settings *s, const struct option_spec *o,
                          json_t *value, const char *shown, struct fr_err *err)
{
    fr_status st = option_refuse_consent(o, shown, err);

    if (st != FR_OK)
        return st;
    if (o->kind == OPTION_LIST)
        option_clear_list(s, o);
    if (o->kind != OPTION_LIST || !json_is_array(value))
        return set_json_value(s, o, value, shown, err);
    for (size_t i = 0; st == FR_OK && i < json_array_size(value); i++)
        st = set_json_value(s, o, json_array_get(value, i), shown, err);
    return st;
}

static fr_status set_from_json(struct fr_settings *s, fr_groups groups, json_t *object,
                               bool keep_given, const char *where, struct fr_err *err)
{
    const char *name;
    json_t *value;
    fr_status st = FR_OK;

    if (!json_is_object(object))
        return fr_err_set(err, FR_EARG, "%s: not a JSON object", where);
    json_object_foreach(object, name, value)
    {
        const struct option_spec *o = option_find(name, strlen(name), groups);

        if (o == NULL)
            o = option_find(name, strlen(name), FR_GROUP_ALL);
        if (o == NULL)
            return fr_err_set(err, FR_EARG, "%s: there is no option \"%s\"", where, name);
        if ((o->group & groups) == 0)
            continue; /* of another command */
        if (keep_given && s->given[o - option_table])
            continue;
        st = option_set_json(s, o, value, name, err);
        if (st != FR_OK)
            return fr_err_wrap(err, "%s", where);
    }
    return FR_OK;
}

fr_status fr_settings_from_json(struct fr_settings *s, fr_groups groups, json_t *object,
                                const char *where, struct fr_err *err)
{
    return set_from_json(s, groups, object, false, where, err);
}

fr_status fr_settings_apply(struct fr_settings *s, fr_groups groups, json_t *object,
                            const char *where, struct fr_err *err)
{
    return set_from_json(s, groups, object, true, where, err);
}

fr_status fr_settings_copy(const struct fr_settings *s, fr_groups groups,
                           struct fr_settings *out, struct fr_err *err)
{
    json_t *options = fr_settings_to_json(s, groups);
    fr_status st;

    fr_settings_init(out);
    if (options == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for options");
    st = fr_settings_from_json(out, groups, options, "options", err);
    memcpy(out->given, s->given, sizeof out->given);
    json_decref(options);
    return st;
}

fr_status fr_settings_from_text(struct fr_settings *s, fr_groups groups, const char *text,
                                const char *where, struct fr_err *err)
{
    json_error_t bad;
    json_t *root;
    fr_status st;

    if (text[0] == '\0')
        return FR_OK;
    root = json_loads(text, JSON_REJECT_DUPLICATES, &bad);
    if (root == NULL)
        return fr_err_set(err, FR_EARG, "%s: %s", where, bad.text);
    st = fr_settings_from_json(s, groups, root, where, err);
    json_decref(root);
    return st;
}

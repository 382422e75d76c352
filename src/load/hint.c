#include "load/hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_ORDER_BYTES = 64 << 10, MAX_HINT_NUMBER = 2147483647 };

/* What --hint says, before the table has its word. */
struct asked {
    bool keep_nulls, check_constraints, fire_triggers, tablock;
    int64_t rows_per_batch, kilobytes_per_batch;
};

struct cursor {
    const char *p;
    const struct fr_table *table;
    struct fr_buf *order;
};

static bool is_word(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

static void skip_blanks(struct cursor *c)
{
    while (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r')
        c->p++;
}

static bool take_byte(struct cursor *c, char byte)
{
    skip_blanks(c);
    if (*c->p != byte)
        return false;
    c->p++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(c);
    if (strncasecmp(c->p, word, n) != 0 || is_word(c->p[n]))
        return false;
    c->p += n;
    return true;
}

static bool take_number(struct cursor *c, int64_t *out)
{
    int64_t v = 0;
    const char *start;

    if (!take_byte(c, '='))
        return false;
    skip_blanks(c);
    for (start = c->p; *c->p >= '0' && *c->p <= '9' && v <= MAX_HINT_NUMBER; c->p++)
        v = v * 10 + (*c->p - '0');
    *out = v;
    return c->p > start && v > 0 && v <= MAX_HINT_NUMBER;
}

/* A column's name, bare or in brackets: its index, column_count when there is none. */
static size_t take_column(struct cursor *c)
{
    char name[FR_NAME_MAX_BYTES];
    size_t n = 0;
    bool bracketed;

    skip_blanks(c);
    bracketed = *c->p == '[';
    c->p += bracketed ? 1 : 0;
    for (; *c->p != '\0' && n < sizeof name - 1; c->p++) {
        if (bracketed && *c->p == ']') {
            if (c->p[1] != ']')
                break;
            c->p++;
        } else if (!bracketed && strchr(" \t\r\n,()", *c->p) != NULL) {
            break;
        }
        name[n++] = *c->p;
    }
    if (n == 0 || (bracketed && !take_byte(c, ']')))
        return c->table->column_count;
    return fr_table_find_column(c->table, name, n);
}

/* (column [ASC|DESC], ...) */
static fr_status take_order(struct cursor *c, struct fr_err *err)
{
    bool first = true;

    if (c->order->len > 0 || !take_byte(c, '('))
        return fr_err_set(err, FR_EARG, "ORDER stands once, with columns in ( )");
    do {
        const char *at = c->p;
        size_t column = take_column(c);
        char quoted[2 * FR_NAME_MAX_BYTES + 3], list[600];
        bool descending;

        if (column == c->table->column_count)
            return fr_err_set(err, FR_EARG,
                              "ORDER: %s has no column \"%.*s\"; it has: %s",
                              c->table->display, (int)(c->p - at), at,
                              fr_table_list_columns(c->table, list, sizeof list));
        if (!fr_name_quote(c->table->columns[column].name, quoted, sizeof quoted))
            return fr_err_set(err, FR_EARG, "ORDER: a column's name is too long");
        descending = take_word(c, "DESC");
        if (!descending)
            (void)take_word(c, "ASC");
        fr_buf_printf(c->order, "%s%s %s", first ? "" : ", ", quoted,
                      descending ? "DESC" : "ASC");
        first = false;
    } while (take_byte(c, ','));
    if (!take_byte(c, ')'))
        return fr_err_set(err, FR_EARG, "ORDER: expected , or ) at \"%s\"", c->p);
    return c->order->failed ? fr_err_set(err, FR_ENOMEM, "ORDER is too long") : FR_OK;
}

static fr_status take_hint(struct cursor *c, struct asked *a, struct fr_err *err)
{
    const struct {
        const char *word;
        bool *flag;
        int64_t *number;
    } words[] = {{"TABLOCK", &a->tablock, NULL},
                 {"CHECK_CONSTRAINTS", &a->check_constraints, NULL},
                 {"FIRE_TRIGGERS", &a->fire_triggers, NULL},
                 {"KEEP_NULLS", &a->keep_nulls, NULL},
                 {"ROWS_PER_BATCH", NULL, &a->rows_per_batch},
                 {"KILOBYTES_PER_BATCH", NULL, &a->kilobytes_per_batch}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!take_word(c, words[i].word))
            continue;
        if (words[i].flag != NULL)
            *words[i].flag = true;
        else if (!take_number(c, words[i].number))
            return fr_err_set(err, FR_EARG, "%s takes = and a number from 1 on",
                              words[i].word);
        return FR_OK;
    }
    if (take_word(c, "ORDER"))
        return take_order(c, err);
    return fr_err_set(err, FR_EARG,
                      "\"%s\": hints are TABLOCK, ORDER (columns), ROWS_PER_BATCH = n, "
                      "KILOBYTES_PER_BATCH = n, CHECK_CONSTRAINTS, FIRE_TRIGGERS, "
                      "KEEP_NULLS; or auto, or none",
                      c->p);
}

static fr_status parse_hints(const char *text, struct cursor *c, struct asked *a,
                             struct fr_err *err)
{
    fr_status st;

    c->p = text;
    do {
        st = take_hint(c, a, err);
        if (st != FR_OK)
            break;
    } while (take_byte(c, ','));
    if (st == FR_OK) {
        skip_blanks(c);
        if (*c->p != '\0')
            st = fr_err_set(err, FR_EARG, "expected a comma at \"%s\"", c->p);
    }
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "--hint");
}

/* db-lib keeps one hint, and that without its argument (FREETDS trap 7): what it would
 * drop is refused. */
static fr_status check_one_hint(const struct fr_load_options *o, const struct fr_table *t,
                                struct fr_err *err)
{
    static const struct {
        const char *word, *instead;
    } others[] = {
        {"CHECK_CONSTRAINTS", "constraints are honoured without it"},
        {"FIRE_TRIGGERS", "triggers fire without it"},
        {"KEEP_NULLS", "use -k"},
        {"ROWS_PER_BATCH", "the bcp engine cannot carry it; -b sets the rows of a batch"},
        {"KILOBYTES_PER_BATCH", "the bcp engine cannot carry it; -b sets the batch"},
        {"ORDER", "the bcp engine cannot carry it"}};
    const char *needed = o->no_check                  ? NULL
                         : t->constraints_enabled > 0 ? "CHECK_CONSTRAINTS"
                         : t->triggers_enabled > 0    ? "FIRE_TRIGGERS"
                                                      : NULL;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(o->hint, others[i].word) == 0 ||
            (strncasecmp(o->hint, others[i].word, strlen(others[i].word)) == 0 &&
             strchr(" =(", o->hint[strlen(others[i].word)]) != NULL))
            return fr_err_set(err, FR_EARG, "--hint %s: %s", o->hint, others[i].instead);
    if (strcasecmp(o->hint, "TABLOCK") != 0)
        return fr_err_set(err, FR_EARG,
                          "--hint %s: takes auto, none or TABLOCK: the bcp engine can "
                          "carry no other (db-lib sends one hint and drops its argument)",
                          o->hint);
    if (needed == NULL && o->keep_nulls)
        needed = "KEEP_NULLS";
    if (needed != NULL)
        return fr_err_set(err, FR_EARG,
                          "--hint TABLOCK: the bcp engine carries one hint, and a load "
                          "into %s needs %s: leave --hint out%s",
                          t->display, needed,
                          o->keep_nulls ? ""
                                        : ", or pass constraints by with --no-check");
    return FR_OK;
}

static fr_status check_together(const struct fr_load_options *o, const struct asked *a,
                                const struct fr_bulk_options *b, const struct fr_table *t,
                                struct fr_err *err)
{
    if (o->no_check && (a->check_constraints || a->fire_triggers))
        return fr_err_set(err, FR_EARG, "--hint %s contradicts --no-check",
                          a->check_constraints ? "CHECK_CONSTRAINTS" : "FIRE_TRIGGERS");
    /* triggers read the table, which the bulk lock keeps from every other session */
    if (a->tablock && b->fire_triggers)
        return fr_err_set(err, FR_EARG,
                          "--hint TABLOCK does not go with FIRE_TRIGGERS, which a load "
                          "into %s needs: leave it out, or pass triggers by with "
                          "--no-check",
                          t->display);
    if (a->tablock && t->is_memory_optimized)
        return fr_err_set(err, FR_EARG,
                          "--hint TABLOCK: %s is memory-optimized, where nothing is "
                          "locked: leave it out",
                          t->display);
    if (a->rows_per_batch > 0 && a->kilobytes_per_batch > 0)
        return fr_err_set(err, FR_EARG,
                          "--hint takes ROWS_PER_BATCH or KILOBYTES_PER_BATCH, not both");
    return FR_OK;
}

/*
 * --hint auto takes the table's lock for minimal logging and streams side by side: into a
 * heap without an index (BACKGROUND: what makes bulk load fast).  Anything else would let
 * one stream in at a time.
 */
static void choose_lock(const struct fr_load_options *o, const struct fr_table *t,
                        unsigned abilities, struct fr_hints *out)
{
    struct fr_bulk_options *b = &out->options;
    bool carries_all = (abilities & FR_BULK_ALL_HINTS) != 0;

    if (o->hint != NULL && strcasecmp(o->hint, "auto") != 0) {
        out->why = "as --hint says";
    } else if (t->is_memory_optimized) {
        out->why = "a memory-optimized table locks nothing";
    } else if (t->columnstore_count > 0) {
        out->why = "streams fill row groups of a columnstore side by side, without its "
                   "lock";
    } else if (t->is_clustered) {
        out->why = "the table's lock would let one stream at a time into a clustered "
                   "index";
    } else if (t->index_count > 0) {
        out->why = "the table's lock would let one stream at a time into a heap with "
                   "indexes";
    } else if (b->fire_triggers) {
        out->why = "triggers read the table, which its lock keeps from them";
    } else if (!carries_all && (b->check_constraints || b->keep_nulls)) {
        /* the engine drops all hints but the first (FREETDS trap 7) */
        out->why =
            b->check_constraints
                ? "the bcp engine carries one hint, and CHECK_CONSTRAINTS is needed"
                : "the bcp engine carries one hint, and KEEP_NULLS is needed";
    } else {
        b->tablock = true;
        out->why = "a heap without an index: minimal logging, and streams side by side";
    }
}

fr_status fr_hints_make(const struct fr_load_options *o, const struct fr_table *t,
                        unsigned abilities, struct fr_hints *out, struct fr_err *err)
{
    bool none = o->hint != NULL && strcasecmp(o->hint, "none") == 0;
    bool automatic = o->hint == NULL || strcasecmp(o->hint, "auto") == 0;
    struct cursor c = {.table = t, .order = &out->order};
    struct fr_bulk_options *b = &out->options;
    struct asked a = {0};
    fr_status st = FR_OK;

    memset(out, 0, sizeof *out);
    fr_buf_init(&out->order, MAX_ORDER_BYTES);
    if (!none && !automatic) {
        if ((abilities & FR_BULK_ALL_HINTS) == 0)
            st = check_one_hint(o, t, err);
        if (st == FR_OK)
            st = parse_hints(o->hint, &c, &a, err);
        if (st != FR_OK)
            return st;
    }
    b->keep_identity = o->keep_identity;
    b->keep_nulls = o->keep_nulls || a.keep_nulls;
    b->check_constraints =
        (!o->no_check && t->constraints_enabled > 0) || a.check_constraints;
    b->fire_triggers = (!o->no_check && t->triggers_enabled > 0) || a.fire_triggers;
    b->tablock = a.tablock;
    choose_lock(o, t, abilities, out);
    b->rows_per_batch = a.rows_per_batch;
    b->kilobytes_per_batch = a.kilobytes_per_batch;
    b->order = out->order.len > 0 ? fr_buf_text(&out->order) : NULL;
    return check_together(o, &a, b, t, err);
}

void fr_hints_free(struct fr_hints *h)
{
    fr_buf_free(&h->order);
}

const char *fr_hints_text(const struct fr_hints *h, char out[FR_HINTS_TEXT_BYTES])
{
    const struct fr_bulk_options *b = &h->options;
    const struct {
        const char *word;
        bool is_set;
    } flags[] = {{"TABLOCK", b->tablock},
                 {"CHECK_CONSTRAINTS", b->check_constraints},
                 {"FIRE_TRIGGERS", b->fire_triggers},
                 {"KEEP_NULLS", b->keep_nulls}};
    struct fr_buf text;

    fr_buf_init(&text, FR_HINTS_TEXT_BYTES - 1);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is_set)
            fr_buf_printf(&text, "%s%s", text.len == 0 ? "" : ", ", flags[i].word);
    if (b->rows_per_batch > 0)
        fr_buf_printf(&text, "%sROWS_PER_BATCH = %lld", text.len == 0 ? "" : ", ",
                      (long long)b->rows_per_batch);
    if (b->kilobytes_per_batch > 0)
        fr_buf_printf(&text, "%sKILOBYTES_PER_BATCH = %lld", text.len == 0 ? "" : ", ",
                      (long long)b->kilobytes_per_batch);
    if (b->order != NULL)
        fr_buf_printf(&text, "%sORDER (%s)", text.len == 0 ? "" : ", ", b->order);
    snprintf(out, FR_HINTS_TEXT_BYTES, "%s", text.len == 0 ? "none" : fr_buf_text(&text));
    fr_buf_free(&text);
    return out;
}

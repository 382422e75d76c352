#include "model/ledger_sql.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXTS = 32, MAX_COLUMNS = 20, MAX_TEXT_BYTES = 8192, NUMBER_BYTES = 24 };

const char model_load_id_prefix[] = "00000000-0000-0000-0000-00000000000";

static char *texts[MAX_TEXTS];
static size_t text_count;
static struct model_change *change;

/* A statement that the model does not understand: it must learn it, or it proves nothing.
 */
static _Noreturn void give_up(const char *what, const char *at)
{
    printf("the model does not understand the ledger's SQL: %s at \"%.60s\"\n", what, at);
    exit(1);
}

/* -- words of a text ---------------------------------------------------------- */

static const char *skip_blank(const char *p)
{
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (strncmp(p, "/*", 2) != 0)
            return p;
        p = strstr(p, "*/");
        p = p == NULL ? "" : p + 2;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '@' || c == '.' || c == '[' ||
           c == ']';
}

/* The word at *p, and go behind it. */
static bool accept(const char **p, const char *word)
{
    const char *at = skip_blank(*p);
    size_t n = strlen(word);

    if (strncmp(at, word, n) != 0 || (is_word(word[n - 1]) && is_word(at[n])))
        return false;
    *p = at + n;
    return true;
}

static void expect(const char **p, const char *word)
{
    if (!accept(p, word))
        give_up(word, *p);
}

static size_t read_word(const char **p, char *out, size_t size)
{
    const char *at = skip_blank(*p);
    size_t n = 0;

    while (is_word(at[n]) && n + 1 < size) {
        out[n] = at[n];
        n++;
    }
    out[n] = '\0';
    *p = at + n;
    return n;
}

/* -- values -------------------------------------------------------------------- */

static const char *const state_names[] = {"", "open", "done", "closed"};

static const struct {
    const char *name;
    enum model_variable variable;
} variable_names[] = {
    {"@load_id", V_LOAD},
    {"@range_start", V_RANGE_START},
    {"@epoch", V_EPOCH},
    {"@from_offset", V_FROM_OFFSET},
    {"@next_offset", V_NEXT_OFFSET},
    {"@rows_loaded", V_ROWS},
    {"@state", V_STATE},
    {"@also_done", V_ALSO_DONE},
    {"@moved", V_MOVED},
    {"XACT_STATE", V_XACT_STATE},
    {"@@TRANCOUNT", V_TRANCOUNT},
};

static int find_variable(const char *name)
{
    for (size_t i = 0; i < sizeof variable_names / sizeof variable_names[0]; i++)
        if (strcmp(variable_names[i].name, name) == 0)
            return (int)variable_names[i].variable;
    return -1;
}

/* Of what the model does not follow (hashes, counts of bytes) every value is the same. */
static int value_of_text(const char *text, size_t n)
{
    for (int i = 1; i < 4; i++)
        if (strlen(state_names[i]) == n && strncmp(state_names[i], text, n) == 0)
            return i;
    if (n == sizeof model_load_id_prefix &&
        strncmp(text, model_load_id_prefix, n - 1) == 0)
        return text[n - 1] - '0';
    return 0;
}

struct scope {
    const uint8_t *variables;
    const struct model_head *head;
    int load; /* the head's */
};

static int column_value(const struct scope *s, const char *name, const char *at)
{
    if (s->head != NULL) {
        if (strcmp(name, "load_id") == 0)
            return s->load;
        if (strcmp(name, "range_start") == 0)
            return 0;
        if (strcmp(name, "epoch") == 0)
            return s->head->epoch;
        if (strcmp(name, "next_offset") == 0)
            return s->head->next_offset;
        if (strcmp(name, "rows_loaded") == 0)
            return s->head->rows;
        if (strcmp(name, "state") == 0)
            return s->head->state;
        if (strcmp(name, "batches") == 0)
            return 0;
    }
    give_up("column", at);
}

static int term(const char **p, const struct scope *s)
{
    const char *at = skip_blank(*p), *from = at;
    char word[64];
    int value;

    if (*at == 'N' && at[1] == '\'')
        at++;
    if (*at == '\'') {
        const char *end = strchr(at + 1, '\'');

        if (end == NULL)
            give_up("string", at);
        *p = end + 1;
        return value_of_text(at + 1, (size_t)(end - at - 1));
    }
    if (isdigit((unsigned char)*at)) {
        value = (int)strtol(at, (char **)p, 10);
    } else if (read_word(&at, word, sizeof word) == 0) {
        give_up("value", from);
    } else {
        int v = find_variable(word);

        *p = at;
        if (v >= 0)
            value = s->variables[v];
        else
            value = word[0] == '@' || strcmp(word, "SYSUTCDATETIME") == 0
                        ? 0
                        : column_value(s, word, from);
        if (accept(p, "("))
            expect(p, ")");
    }
    if (accept(p, "+"))
        value += term(p, s);
    return value;
}

static bool either(const char **p, const struct scope *s);

static bool comparison(const char **p, const struct scope *s)
{
    bool truth;
    int left;

    if (accept(p, "(")) {
        truth = either(p, s);
        expect(p, ")");
        return truth;
    }
    left = term(p, s);
    if (accept(p, "="))
        return left == term(p, s);
    expect(p, "<");
    return left < term(p, s);
}

static bool all(const char **p, const struct scope *s)
{
    bool truth = comparison(p, s);

    while (accept(p, "AND"))
        truth = comparison(p, s) && truth;
    return truth;
}

static bool either(const char **p, const struct scope *s)
{
    bool truth = all(p, s);

    while (accept(p, "OR"))
        truth = all(p, s) || truth;
    return truth;
}

/* -- statements ---------------------------------------------------------------- */

static void ledger_name(const char **p)
{
    char word[160];

    if (read_word(p, word, sizeof word) == 0 ||
        strcmp(word, "[dbo].[fullrack_ledger]") != 0)
        give_up("the ledger's name", *p);
    if (accept(p, "WITH (UPDLOCK, HOLDLOCK)") || accept(p, "WITH"))
        return;
}

static void assign(struct model_head *h, const char *column, int value)
{
    if (strcmp(column, "epoch") == 0)
        h->epoch = (uint8_t)value;
    else if (strcmp(column, "state") == 0)
        h->state = (uint8_t)value;
    else if (strcmp(column, "next_offset") == 0)
        h->next_offset = (uint8_t)value;
    else if (strcmp(column, "rows_loaded") == 0)
        h->rows = (uint8_t)value;
}

/* UPDATE ledger SET ... [OUTPUT ...] WHERE ...: how many heads it changed, the last of
 * them in a. */
static int run_update(const char **p, const uint8_t *variables, struct model_target *t,
                      struct model_answer *a)
{
    const char *set, *where;
    int changed = 0;

    expect(p, "UPDATE");
    ledger_name(p);
    expect(p, "SET");
    set = *p;
    where = strstr(set, "WHERE");
    if (where == NULL)
        give_up("no WHERE", set);
    for (int load = 0; load < MODEL_LOADS; load++) {
        struct scope s = {variables, &t->heads[load], load};
        struct model_head after = t->heads[load];

        *p = where + 5;
        if (t->heads[load].state == HEAD_ABSENT || !either(p, &s))
            continue;
        for (const char *at = set;;) {
            char column[64];

            read_word(&at, column, sizeof column);
            expect(&at, "=");
            assign(&after, column, term(&at, &s));
            if (!accept(&at, ","))
                break;
        }
        t->heads[load] = after;
        a->found = 1;
        a->head = after;
        changed++;
    }
    while (**p != ';' && **p != '\0')
        ++*p;
    return changed;
}

/* INSERT ledger (columns) SELECT values WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE ...)
 */
static void run_insert(const char **p, const uint8_t *variables, struct model_target *t)
{
    struct model_head made = {0};
    struct scope s = {variables, NULL, 0};
    char columns[MAX_COLUMNS][40];
    const char *where;
    size_t n = 0;
    int load = -1;

    expect(p, "INSERT INTO");
    ledger_name(p);
    expect(p, "(");
    do
        read_word(p, columns[n], sizeof columns[n]);
    while (++n < MAX_COLUMNS && accept(p, ","));
    expect(p, ")");
    expect(p, "SELECT");
    for (size_t i = 0; i < n; i++) {
        int value = term(p, &s);

        assign(&made, columns[i], value);
        if (strcmp(columns[i], "load_id") == 0)
            load = value;
        if (i + 1 < n)
            expect(p, ",");
    }
    expect(p, "WHERE NOT EXISTS (SELECT 1 FROM");
    ledger_name(p);
    where = strstr(*p, "WHERE");
    if (where == NULL || load < 0 || load >= MODEL_LOADS || made.state == HEAD_ABSENT)
        give_up("INSERT", *p);
    for (int i = 0; i < MODEL_LOADS; i++) {
        struct scope of = {variables, &t->heads[i], i};
        const char *at = where + 5;

        if (t->heads[i].state != HEAD_ABSENT && either(&at, &of))
            return;
    }
    if (!change->no_tombstone || made.state != HEAD_CLOSED)
        t->heads[load] = made;
}

static void run_select(const char *p, const uint8_t *variables,
                       const struct model_target *t, struct model_answer *a)
{
    const char *where = strstr(p, "WHERE");

    if (where == NULL)
        give_up("no WHERE", p);
    for (int load = 0; load < MODEL_LOADS; load++) {
        struct scope s = {variables, &t->heads[load], load};
        const char *at = where + 5;

        if (t->heads[load].state != HEAD_ABSENT && either(&at, &s)) {
            a->found = 1;
            a->head = t->heads[load];
        }
    }
    if (!a->found && change->no_tombstone &&
        strstr(p, "SELECT state, rows_loaded") != NULL) {
        a->found = 1;
        a->head.state = HEAD_CLOSED;
    }
}

/* The batch that ends a transaction; its locks make it one step. */
static void run_step(const char *p, const struct model_request *r, int batch,
                     struct model_target *t, struct model_answer *a)
{
    uint8_t variables[V_COUNT];
    struct model_target before = *t;
    struct scope s = {variables, NULL, 0};
    int moved;

    memcpy(variables, r->variables, sizeof variables);
    variables[V_XACT_STATE] = variables[V_TRANCOUNT] = batch >= 0 ? 1 : 0;
    expect(&p, "DECLARE @moved int;");
    moved = run_update(&p, variables, t, a);
    variables[V_MOVED] = (uint8_t)moved;
    expect(&p, ";");
    expect(&p, "SET @moved = @@ROWCOUNT;");
    expect(&p, "IF");
    if (either(&p, &s)) {
        expect(&p, "COMMIT TRANSACTION;");
        if (batch >= 0 && batch < MODEL_BATCHES)
            t->committed[r->variables[V_LOAD]][batch]++;
    } else {
        expect(&p, "COMMIT TRANSACTION;");
        *t = before;
        variables[V_MOVED] = 0;
    }
    expect(&p, "ELSE");
    expect(&p, "BEGIN");
    expect(&p, "IF XACT_STATE() <> 0");
    expect(&p, "ROLLBACK TRANSACTION;");
    expect(&p, "SET @moved = 0;");
    expect(&p, "END;");
    expect(&p, "SELECT @moved AS committed;");
    a->found = 1;
    a->moved = variables[V_MOVED];
}

static bool starts_with(const char *text, const char *word)
{
    return accept(&text, word);
}

bool model_request_is_insert(const struct model_request *r)
{
    return starts_with(texts[r->text], "INSERT");
}

bool model_request_only_looks(const struct model_request *r)
{
    return model_request_is_insert(r) || starts_with(texts[r->text], "SELECT");
}

bool model_request_is_step(const struct model_request *r)
{
    return starts_with(texts[r->text], "DECLARE");
}

const char *model_request_text(const struct model_request *r)
{
    return skip_blank(texts[r->text]);
}

void model_sql_run(const struct model_request *r, int batch, struct model_target *t,
                   struct model_answer *a)
{
    const char *p = texts[r->text];

    memset(a, 0, sizeof *a);
    if (model_request_is_step(r))
        run_step(p, r, batch, t, a);
    else if (model_request_is_insert(r))
        run_insert(&p, r->variables, t);
    else if (starts_with(p, "UPDATE"))
        run_update(&p, r->variables, t, a);
    else if (starts_with(p, "SELECT"))
        run_select(p, r->variables, t, a);
    else
        give_up("statement", p);
}

/* -- the session --------------------------------------------------------------- */

static void mutate(char *text)
{
    for (size_t i = 0; i < MODEL_EDITS; i++) {
        struct model_edit *e = &change->edits[i];
        char *at = e->from == NULL ? NULL : strstr(text, e->from);
        size_t from;

        if (at == NULL)
            continue;
        from = strlen(e->from);
        memmove(at + strlen(e->to), at + from, strlen(at + from) + 1);
        memcpy(at, e->to, strlen(e->to));
        e->applied = true;
    }
}

static uint8_t number_of_text(const char *text, size_t n)
{
    char copy[MAX_TEXT_BYTES];

    if (n >= sizeof copy / 2)
        give_up("a long text", text);
    snprintf(copy, sizeof copy, "%.*s", (int)n, text);
    mutate(copy);
    for (size_t i = 0; i < text_count; i++)
        if (strcmp(texts[i], copy) == 0)
            return (uint8_t)i;
    if (text_count == MAX_TEXTS)
        give_up("too many statements", text);
    texts[text_count] = strdup(copy);
    if (texts[text_count] == NULL)
        give_up("memory", "");
    return (uint8_t)text_count++;
}

void model_sql_begin(struct model_change *c)
{
    while (text_count > 0)
        free(texts[--text_count]);
    change = c;
}

static void format_value(const struct model_answer *a, const char *name, char *out,
                         size_t size)
{
    int value = 0;

    if (strcmp(name, "state") == 0) {
        snprintf(out, size, "%s", state_names[a->head.state & 3]);
        return;
    }
    if (strcmp(name, "@moved") == 0)
        value = a->moved;
    else if (strcmp(name, "epoch") == 0)
        value = a->head.epoch;
    else if (strcmp(name, "next_offset") == 0)
        value = a->head.next_offset;
    else if (strcmp(name, "next_row") == 0)
        value = a->head.next_offset + 1;
    else if (strcmp(name, "rows_loaded") == 0)
        value = a->head.rows;
    snprintf(out, size, "%d", value);
}

/* The columns behind OUTPUT or SELECT, with the answer's values. */
static fr_status send_row(const char *columns, const struct model_answer *a,
                          fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    static const char prefix[] = "inserted.";
    char names[MAX_COLUMNS][40], values[MAX_COLUMNS][NUMBER_BYTES];
    const char *name_list[MAX_COLUMNS], *value_list[MAX_COLUMNS];
    size_t lengths[MAX_COLUMNS], n = 0;
    struct fr_sql_row r;

    do {
        const char *name = names[n];

        read_word(&columns, names[n], sizeof names[n]);
        if (strncmp(name, prefix, sizeof prefix - 1) == 0)
            name += sizeof prefix - 1;
        format_value(a, name, values[n], sizeof values[n]);
        name_list[n] = name;
        /* NULL: every load of the model is of a whole source */
        value_list[n] = strcmp(name, "range_end") == 0 ? NULL : values[n];
        lengths[n] = strlen(values[n]);
    } while (++n < MAX_COLUMNS && accept(&columns, ","));
    r = (struct fr_sql_row){n, name_list, value_list, lengths};
    return row == NULL ? FR_OK : row(ctx, &r, err);
}

static fr_status answer(const struct model_answer *a, const char *text, fr_sql_row_fn row,
                        void *ctx, struct fr_err *err)
{
    const char *columns = strstr(text, "OUTPUT");

    if (a->kind == ANSWER_LOST)
        return fr_err_set(err, FR_ELOST, "the connection was lost");
    if (a->kind == ANSWER_DUPLICATE) {
        fr_err_set(err, FR_EDB, "duplicate key");
        err->server_number = 2627;
        return FR_EDB;
    }
    if (columns != NULL)
        columns += strlen("OUTPUT");
    else if (starts_with(text, "SELECT"))
        columns = skip_blank(text) + strlen("SELECT");
    else if (starts_with(text, "DECLARE"))
        columns = strstr(text, "SELECT @moved") + strlen("SELECT");
    return a->found && columns != NULL ? send_row(columns, a, row, ctx, err) : FR_OK;
}

static fr_status run_text(struct model_session *s, const char *text, size_t n,
                          struct model_request *r, fr_sql_row_fn row, void *ctx,
                          struct fr_err *err)
{
    r->text = number_of_text(text, n);
    if (s->used == s->count) {
        s->suspended = true;
        s->asked = *r;
        return fr_err_set(err, FR_ELOST, "not answered yet");
    }
    r->is_first = false;
    return answer(&s->answers[s->used++], texts[r->text], row, ctx, err);
}

/* Declared values in front of a batch: DECLARE @a type = value, ...; */
static const char *read_declared(const char *p, uint8_t *variables)
{
    struct scope s = {variables, NULL, 0};
    char name[64], type[64];

    expect(&p, "DECLARE");
    do {
        int v, value;

        read_word(&p, name, sizeof name);
        read_word(&p, type, sizeof type);
        if (accept(&p, "("))
            p = strchr(p, ')') + 1;
        expect(&p, "=");
        value = term(&p, &s);
        v = find_variable(name);
        if (v >= 0)
            variables[v] = (uint8_t)value;
    } while (accept(&p, ","));
    expect(&p, ";");
    return p;
}

static fr_status model_run(struct fr_sql *sql, const char *text, fr_sql_row_fn row,
                           void *ctx, int64_t *affected, struct fr_err *err)
{
    struct model_request r = {.is_first = true};
    const char *p = read_declared(text, r.variables);

    if (affected != NULL)
        *affected = 0;
    return run_text((struct model_session *)sql, p, strlen(p), &r, row, ctx, err);
}

static fr_status model_run_params(struct fr_sql *sql, const char *text,
                                  struct fr_sql_param *params, size_t count,
                                  fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    struct model_request r = {.is_first = true};
    fr_status st = FR_OK;

    for (size_t i = 0; i < count; i++) {
        int v = find_variable(params[i].name);

        if (v >= 0)
            r.variables[v] =
                (uint8_t)(params[i].text != NULL
                              ? value_of_text(params[i].text, strlen(params[i].text))
                              : params[i].number);
    }
    for (const char *p = skip_blank(text); st == FR_OK && *p != '\0';) {
        size_t n = strcspn(p, ";");

        st = run_text((struct model_session *)sql, p, n, &r, row, ctx, err);
        p = skip_blank(p + n + (p[n] == ';' ? 1 : 0));
    }
    return st;
}

static const struct fr_sql_ops model_ops = {.run = model_run,
                                            .run_params = model_run_params};

void model_session_init(struct model_session *s, const struct model_answer *answers,
                        size_t count)
{
    memset(s, 0, sizeof *s);
    s->sql.ops = &model_ops;
    s->answers = answers;
    s->count = count;
}

/* fullrack init: create or upgrade the control database, the schedulers' rows, and the
 * target's ledger. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/ledger.h"
#include "load/reject_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCHEDULERS = 4096, MAX_STATEMENT_BYTES = 1024 };

struct scheduler_list {
    int ids[MAX_SCHEDULERS];
    size_t count;
};

static fr_status take_scheduler(void *ctx, const struct fr_sql_row *row,
                                struct fr_err *err)
{
    struct scheduler_list *list = ctx;

    (void)err;
    if (list->count < MAX_SCHEDULERS && row->columns > 0 && row->values[0] != NULL)
        list->ids[list->count++] = (int)strtol(row->values[0], NULL, 10);
    return FR_OK;
}

static fr_status create_database(const struct fr_connector *c, const char *name,
                                 struct fr_err *err)
{
    char quoted[300], sql[MAX_STATEMENT_BYTES];
    struct fr_sql_param params[] = {fr_sql_in_text("@name", name)};
    struct fr_sql_one one = {0};
    struct fr_sql *s = NULL;
    fr_status st;

    if (!fr_name_quote(name, quoted, sizeof quoted))
        return fr_err_set(err, FR_EARG, "the name of the control database is too long");
    st = fr_connector_control_server(c, &s, err);
    if (st == FR_OK)
        st = fr_sql_run_params(s, "SELECT DB_ID(@name)", params, 1, fr_sql_take_one, &one,
                               err);
    if (st == FR_OK && (!one.found || one.values[0] == NULL)) {
        snprintf(sql, sizeof sql, "CREATE DATABASE %s", quoted);
        st = fr_sql_run(s, sql, NULL, NULL, err);
        if (st != FR_OK)
            fr_err_wrap(err, "creating the control database %s", name);
    }
    fr_sql_close(&s);
    return st;
}

/* The schedulers a worker may use: the target's visible ones.  A server that does not
 * show them gives none. */
static fr_status ask_schedulers(const struct fr_connector *c, struct scheduler_list *list,
                                bool *shown, struct fr_err *err)
{
    struct fr_ledger_place place;
    struct fr_sql *s = NULL;
    fr_status st = fr_ledger_place_parse(c->settings->load.ledger_table, &place, err);

    *shown = false;
    if (st == FR_OK)
        st = fr_connector_target(c, NULL, "fullrack init", &s, err);
    if (st != FR_OK)
        return st;
    if (fr_sql_run(s, fr_stmt_visible_schedulers, take_scheduler, list, NULL) == FR_OK)
        *shown = list->count > 0;
    /* the ledger belongs to the target database; without the right to make it, load says
     * so */
    if (c->settings->database != NULL)
        st = fr_ledger_create(s, &place, err);
    if (st == FR_OK && c->settings->database != NULL)
        st = fr_ledger_grant(s, &place, c->settings->grants, err);
    if (st == FR_OK && c->settings->load.reject_table != NULL)
        st = fr_reject_table_create(s, c->settings->load.reject_table, err);
    fr_sql_close(&s);
    return st;
}

/* The control database is the target database itself. */
static bool is_shared(const struct fr_settings *s)
{
    return s->database != NULL &&
           strcmp(s->database, fr_settings_control_database(s)) == 0 &&
           strcmp(s->server, fr_settings_control_server(s)) == 0;
}

int command_init(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct scheduler_list list = {.count = 0};
    struct fr_connector c;
    struct fr_sql *session = NULL;
    struct fr_control *control = NULL;
    int64_t total = 0;
    bool shown = false, granted = false;
    fr_status st;

    (void)args;
    st = open_connector(s, &c, err);
    if (st == FR_OK)
        st = create_database(&c, fr_settings_control_database(s), err);
    if (st == FR_OK)
        st = fr_connector_control(&c, &session, err);
    if (st == FR_OK)
        st = fr_control_install(session, is_shared(s), err);
    if (st == FR_OK)
        st = fr_control_grant(session, s->grants, &granted, err);
    fr_sql_close(&session);
    if (st == FR_OK)
        st = fr_control_open(fr_connector_control, &c, &control, err);
    if (st == FR_OK)
        st = ask_schedulers(&c, &list, &shown, err);
    if (st == FR_OK && !shown)
        list.ids[list.count++] = 0;
    if (st == FR_OK)
        st = fr_control_fill_schedulers(control, list.ids, list.count, &total, err);
    if (st == FR_OK && s->json) {
        st = document_print(json_pack("{s:s, s:I, s:b}", "control_database",
                                      fr_settings_control_database(s), "schedulers",
                                      (json_int_t)total, "grants", (int)granted),
                            err);
    } else if (st == FR_OK && !s->quiet)
        printf("control database %s is ready; %lld scheduler%s may carry a load%s\n",
               fr_settings_control_database(s), (long long)total, total == 1 ? "" : "s",
               shown ? ""
                     : " (the server does not show its schedulers: add rows to "
                       "scheduler_use for more)");
    if (st == FR_OK && granted && !s->json && !s->quiet)
        printf(
            "fullrack_loader, fullrack_operator and fullrack_viewer have their rights%s; "
            "members are yours to add (ALTER ROLE ... ADD MEMBER)\n",
            s->database == NULL ? " there (with -d also in the target)" : "");
    fr_control_close(&control);
    fr_connector_free(&c);
    return fr_status_exit(st);
}

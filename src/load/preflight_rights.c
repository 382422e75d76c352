/* The findings about rights, and about the tables beside the target. */
#include "load/preflight_priv.h"
#include "load/reject_table.h"

static void grant_cure(preflight p, const char *right, char *cure)
{
    preflight_say(cure, "GRANT %s ON %s to a role of the login %s (docs/permissions.md)",
                  right, p->table->quoted, p->facts->login_name);
}

bool preflight_find_no_insert(preflight p, struct fr_finding *f)
{
    if (p->facts->may_insert != 0)
        return false;
    preflight_say(f->message, "the login %s may not INSERT into the table",
                  p->facts->login_name);
    grant_cure(p, "INSERT", f->cure);
    return true;
}

bool preflight_find_no_select(preflight p, struct fr_finding *f)
{
    if (p->facts->may_select != 0)
        return false;
    preflight_say(f->message,
                  "the login %s may not SELECT from the table, which INSERT BULK needs",
                  p->facts->login_name);
    grant_cure(p, "SELECT", f->cure);
    return true;
}

static bool has_identity(preflight p)
{
    for (size_t i = 0; i < p->table->column_count; i++)
        if (p->table->columns[i].identity)
            return true;
    return false;
}

bool preflight_find_no_alter(preflight p, struct fr_finding *f)
{
    const struct fr_load_options *o = p->options;
    const char *why =
        o->truncate                           ? "--truncate"
        : o->keep_identity && has_identity(p) ? "-E (identity values from the file)"
        : o->no_check && (preflight_has_constraints(p) || preflight_has_triggers(p))
            ? "--no-check (constraints and triggers are passed by)"
            : NULL;

    if (p->facts->may_alter != 0 || why == NULL)
        return false;
    preflight_say(f->message, "the login %s may not ALTER the table, which %s needs",
                  p->facts->login_name, why);
    grant_cure(p, "ALTER", f->cure);
    return true;
}

/* The server's right, or, where it knows that one, the database's. */
bool preflight_find_no_bulk(preflight p, struct fr_finding *f)
{
    if (!p->options->server_side || p->facts->may_bulk_server != 0 ||
        p->facts->may_bulk_database == 1)
        return false;
    preflight_say(f->message,
                  "the login %s may not have the server read files (BULK INSERT)",
                  p->facts->login_name);
    preflight_say(f->cure,
                  "ALTER SERVER ROLE bulkadmin ADD MEMBER %s, or GRANT ADMINISTER BULK "
                  "OPERATIONS to it (docs/permissions.md)",
                  p->facts->login_name);
    return true;
}

bool preflight_find_no_ledger(preflight p, struct fr_finding *f)
{
    const struct fr_facts *k = p->facts;
    const char *missing = k->may_select_ledger == 0   ? "SELECT from"
                          : k->may_insert_ledger == 0 ? "INSERT into"
                          : k->may_update_ledger == 0 ? "UPDATE"
                                                      : NULL;

    if (!preflight_keeps_ledger(p))
        return false;
    if (k->ledger_exists == 0) {
        if (k->may_create_table != 0 && k->may_alter_schema != 0 &&
            k->may_select_schema != 0 && k->may_insert_schema != 0 &&
            k->may_update_schema != 0)
            return false;
        preflight_say(
            f->message,
            "the ledger is not there, or not to be seen, and the login %s may not make "
            "it, or not use it then (CREATE TABLE; ALTER, SELECT, INSERT, UPDATE on its "
            "schema)",
            k->login_name);
        preflight_say(
            f->cure, "let `fullrack init` make it with more rights, or name a table that "
                     "may be made with --ledger-table, or use --ledger off: at least "
                     "once");
        return true;
    }
    if (missing == NULL && p->options->truncate)
        missing = k->may_select_marks == 0   ? "SELECT from its list of truncated tables,"
                  : k->may_insert_marks == 0 ? "INSERT into its list of truncated tables,"
                                             : NULL;
    if (missing == NULL)
        return false;
    preflight_say(f->message, "the login %s may not %s the ledger", k->login_name,
                  missing);
    preflight_say(f->cure,
                  "GRANT SELECT, INSERT, UPDATE on the ledger's tables to a role of this "
                  "login (docs/permissions.md)");
    return true;
}

bool preflight_find_no_stage(preflight p, struct fr_finding *f)
{
    const struct fr_facts *k = p->facts;

    if (!p->options->stage)
        return false;
    if (k->may_create_table == 0 || k->may_alter_table_schema == 0 ||
        k->may_select_table_schema == 0 || k->may_insert_table_schema == 0) {
        preflight_say(
            f->message,
            "--stage makes tables beside this one, and the login %s may not (CREATE "
            "TABLE; "
            "ALTER, SELECT, INSERT on the schema)",
            k->login_name);
        preflight_say(f->cure,
                      "GRANT these to a role of the login, or load without --stage");
        return true;
    }
    if (k->may_select_stages != 0 && k->may_insert_stages != 0 &&
        k->may_update_stages != 0)
        return false;
    preflight_say(f->message,
                  "the login %s may not use the ledger's list of staged tables",
                  k->login_name);
    preflight_say(f->cure, "GRANT SELECT, INSERT, UPDATE on it to a role of the login "
                           "(docs/permissions.md)");
    return true;
}

bool preflight_find_no_rejects(preflight p, struct fr_finding *f)
{
    const struct fr_facts *k = p->facts;
    const char *table = p->options->reject_table;

    if (table == NULL)
        return false;
    if (k->rejects_exist == 0 && k->may_create_table == 0) {
        preflight_say(f->message,
                      "--reject-table %s is not there, and the login %s may not make it",
                      table, k->login_name);
        preflight_say(
            f->cure,
            "let `fullrack init --reject-table %s` make it with more rights, or "
            "use -e",
            table);
        return true;
    }
    if (k->rejects_exist <= 0 ||
        (k->may_insert_rejects != 0 && k->may_select_rejects != 0))
        return false;
    preflight_say(f->message, "the login %s may not %s --reject-table %s", k->login_name,
                  k->may_insert_rejects == 0 ? "INSERT into" : "SELECT from", table);
    preflight_say(f->cure, "GRANT SELECT, INSERT ON %s to a role of the login", table);
    return true;
}

bool preflight_find_reject_shape(preflight p, struct fr_finding *f)
{
    const struct fr_facts *k = p->facts;
    const char *table = p->options->reject_table;

    if (table == NULL || k->rejects_exist <= 0)
        return false;
    if (k->reject_object == p->table->object_id) {
        preflight_say(f->message, "--reject-table %s is the table that is loaded", table);
        preflight_say(f->cure, "name another");
        return true;
    }
    if (k->reject_columns < 0 || k->reject_columns == FR_REJECT_TABLE_COLUMNS)
        return false;
    preflight_say(f->message,
                  "--reject-table %s is a table of another shape (it has %lld of the %d "
                  "columns that are needed)",
                  table, (long long)k->reject_columns, (int)FR_REJECT_TABLE_COLUMNS);
    preflight_say(f->cure,
                  "name one that fullrack has made, or one that is not there yet");
    return true;
}

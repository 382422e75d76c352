/* parse_backup.c - BACKUP DATABASE, RESTORE DATABASE, RESTORE VERIFYONLY. */
#include "server/tsql/parse_priv.h"

#include <stddef.h>

enum option_kind {
    OPTION_IGNORED, /* says what is done anyway, or only describes */
    OPTION_FLAG,
    OPTION_STATS,
    OPTION_NUMBER,
    OPTION_TEXT, /* a text that only describes */
    OPTION_MOVE,
    OPTION_UNSUPPORTED
};

enum { ALL = BACKUP_WRITE | BACKUP_RESTORE | BACKUP_VERIFY, READS = ALL & ~BACKUP_WRITE };

/* What may stand behind WITH. */
static const struct option {
    const char *name;
    int verbs;
    enum option_kind kind;
    size_t field; /* of struct backup_stmt */
} options[] = {
    {"BLOCKSIZE", ALL, OPTION_NUMBER, offsetof(struct backup_stmt, block)},
    {"BUFFERCOUNT", ALL, OPTION_NUMBER, offsetof(struct backup_stmt, buffers)},
    {"CHECKSUM", ALL, OPTION_IGNORED, 0},
    {"COMPRESSION", BACKUP_WRITE, OPTION_FLAG, offsetof(struct backup_stmt, compression)},
    {"CONTINUE_AFTER_ERROR", ALL, OPTION_UNSUPPORTED, 0},
    {"COPY_ONLY", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"CREDENTIAL", ALL, OPTION_UNSUPPORTED, 0},
    {"DESCRIPTION", BACKUP_WRITE, OPTION_TEXT, 0},
    {"DIFFERENTIAL", BACKUP_WRITE, OPTION_UNSUPPORTED, 0},
    {"ENCRYPTION", BACKUP_WRITE, OPTION_UNSUPPORTED, 0},
    {"EXPIREDATE", BACKUP_WRITE, OPTION_UNSUPPORTED, 0},
    {"FILE", READS, OPTION_NUMBER, offsetof(struct backup_stmt, file)},
    {"FORMAT", BACKUP_WRITE, OPTION_FLAG, offsetof(struct backup_stmt, format)},
    {"INIT", BACKUP_WRITE, OPTION_FLAG, offsetof(struct backup_stmt, init)},
    {"MAXTRANSFERSIZE", ALL, OPTION_NUMBER, offsetof(struct backup_stmt, transfer)},
    {"MEDIADESCRIPTION", BACKUP_WRITE, OPTION_TEXT, 0},
    {"MEDIANAME", BACKUP_WRITE, OPTION_TEXT, 0},
    {"MOVE", READS, OPTION_MOVE, offsetof(struct backup_stmt, move)},
    {"NAME", BACKUP_WRITE, OPTION_TEXT, 0},
    {"NOFORMAT", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"NOINIT", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"NORECOVERY", READS, OPTION_UNSUPPORTED, 0},
    {"NOREWIND", ALL, OPTION_IGNORED, 0},
    {"NOSKIP", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"NOUNLOAD", ALL, OPTION_IGNORED, 0},
    {"NO_CHECKSUM", ALL, OPTION_IGNORED, 0},
    {"NO_COMPRESSION", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"RECOVERY", BACKUP_RESTORE, OPTION_IGNORED, 0},
    {"REPLACE", BACKUP_RESTORE, OPTION_FLAG, offsetof(struct backup_stmt, replace)},
    {"RESTRICTED_USER", BACKUP_RESTORE, OPTION_UNSUPPORTED, 0},
    {"RETAINDAYS", BACKUP_WRITE, OPTION_UNSUPPORTED, 0},
    {"REWIND", ALL, OPTION_IGNORED, 0},
    {"SKIP", BACKUP_WRITE, OPTION_IGNORED, 0},
    {"STANDBY", BACKUP_RESTORE, OPTION_UNSUPPORTED, 0},
    {"STATS", ALL, OPTION_STATS, offsetof(struct backup_stmt, stats)},
    {"STOPAT", BACKUP_RESTORE, OPTION_UNSUPPORTED, 0},
    {"STOP_ON_ERROR", ALL, OPTION_IGNORED, 0},
    {"UNLOAD", ALL, OPTION_IGNORED, 0},
};

/* A literal or a variable. */
static struct expr *parse_value(struct parser *p)
{
    if (!at_literal(p) && p->tok.kind != TK_VARIABLE) {
        parse_syntax_error(p);
        return NULL;
    }
    return parse_expr(p);
}

static bool parse_move(struct parser *p)
{
    return parse_value(p) != NULL && need_kw(p, KW_TO) && parse_value(p) != NULL;
}

static bool parse_option(struct parser *p, const struct option *o, struct backup_stmt *b)
{
    char *field = (char *)b + o->field;
    struct expr *x;

    if (o->kind == OPTION_UNSUPPORTED)
        return parse_unsupported(p, o->name);
    if (!parse_advance(p))
        return false;
    if (o->kind == OPTION_IGNORED)
        return true;
    if (o->kind == OPTION_FLAG || o->kind == OPTION_MOVE || o->kind == OPTION_STATS)
        *(bool *)field = true;
    if (o->kind == OPTION_MOVE)
        return parse_move(p);
    if (o->kind == OPTION_FLAG || (o->kind == OPTION_STATS && !at_op(p, '=')))
        return true;
    if (!need_op(p, '='))
        return false;
    x = parse_value(p);
    if (o->kind == OPTION_NUMBER)
        *(struct expr **)(void *)field = x;
    if (o->kind == OPTION_STATS)
        b->stats_percent = x;
    return x != NULL;
}

static bool parse_options(struct parser *p, struct backup_stmt *b)
{
    if (!take_kw(p, KW_WITH))
        return !p->failed;
    do {
        size_t i = 0, n = sizeof options / sizeof options[0];

        while (i < n &&
               (!at_word(p, options[i].name) || (options[i].verbs & (int)b->verb) == 0))
            i++;
        if (i == n)
            return parse_syntax_error(p);
        if (!parse_option(p, &options[i], b))
            return false;
    } while (take_op(p, ','));
    return !p->failed;
}

static bool parse_devices(struct parser *p, struct backup_stmt *b)
{
    struct list l = LIST_OF(struct expr *);

    do {
        struct expr **x;

        if (at_word(p, "URL") || at_word(p, "TAPE"))
            return parse_unsupported(p, "A backup device other than DISK");
        if (!need_word(p, "DISK") || !need_op(p, '='))
            return false;
        x = list_add(p, &l);
        if (x == NULL)
            return false;
        *x = parse_value(p);
        if (*x == NULL)
            return false;
    } while (take_op(p, ','));
    b->devices = l.items;
    b->ndevices = l.n;
    return !p->failed;
}

static bool parse_database_name(struct parser *p, struct backup_stmt *b)
{
    if (p->tok.kind == TK_VARIABLE) {
        b->database_variable = parse_value(p);
        return b->database_variable != NULL;
    }
    b->database = parse_identifier(p);
    return b->database != NULL;
}

/* RESTORE is in hand. */
static bool parse_restore_verb(struct parser *p, struct backup_stmt *b)
{
    if (!parse_advance(p))
        return false;
    if (take_word(p, "VERIFYONLY")) {
        b->verb = BACKUP_VERIFY;
        return need_kw(p, KW_FROM);
    }
    if (!take_kw(p, KW_DATABASE))
        return parse_unsupported(p, "RESTORE other than DATABASE and VERIFYONLY");
    b->verb = BACKUP_RESTORE;
    return parse_database_name(p, b) && need_kw(p, KW_FROM);
}

static bool parse_backup_verb(struct parser *p, struct backup_stmt *b)
{
    if (!parse_advance(p))
        return false;
    if (!take_kw(p, KW_DATABASE))
        return parse_unsupported(p, "BACKUP other than DATABASE");
    b->verb = BACKUP_WRITE;
    return parse_database_name(p, b) && need_kw(p, KW_TO);
}

struct stmt *parse_backup(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_BACKUP);
    struct backup_stmt *b = NEW(p, backup_stmt);

    if (st == NULL || b == NULL)
        return NULL;
    st->u.backup = b;
    if (!(at_kw(p, KW_BACKUP) ? parse_backup_verb(p, b) : parse_restore_verb(p, b)))
        return NULL;
    return parse_devices(p, b) && parse_options(p, b) ? st : NULL;
}

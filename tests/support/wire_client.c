/*
 * wire_client - our own client alone, for the integration tests: opens a session, runs
 * each statement, prints what came.
 *
 *   wire_client [--server S] [--user U] [--database D] [--encrypt WORD] [--ca-file F]
 *               [--login-ms N] [--statement-ms N] [--packet N] [--options SQL] SQL...
 *
 * The password is FULLRACK_PASSWORD's.  A statement "@call NAME" calls a procedure with
 * one output parameter, @out nvarchar.
 */
#include "base/num.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fr_status print_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    (void)err;
    for (size_t i = 0; i < row->columns; i++) {
        fputs(i == 0 ? (const char *)ctx : "\t", stdout);
        if (row->values == NULL)
            fputs(row->names[i], stdout);
        else if (row->values[i] == NULL)
            fputs("NULL", stdout);
        else
            fwrite(row->values[i], 1, row->lengths[i], stdout);
    }
    fputs("\n", stdout);
    return FR_OK;
}

static void print_outcome(const struct fr_sql *s, fr_status st, const struct fr_err *err)
{
    if (st == FR_OK)
        puts("ok");
    else
        printf("%s %d lost=%d %s\n", fr_status_name(st), err->server_number,
               s != NULL && s->lost ? 1 : 0, err->text);
    fflush(stdout);
}

static void run_long(struct fr_sql *s, const char *blanks)
{
    enum { MOST = 100000000 };
    struct fr_err err = {0};
    struct fr_buf sql;
    int64_t n = 0;

    fr_buf_init(&sql, MOST);
    if (fr_num_i64(blanks, 0, MOST - 100, &n) == FR_OK) {
        fr_buf_printf(&sql, "SELECT 1%*s", (int)n, "");
        print_outcome(s, s->ops->run(s, fr_buf_text(&sql), NULL, NULL, NULL, &err), &err);
    }
    fr_buf_free(&sql);
}

static void run(struct fr_sql *s, const char *sql)
{
    static char row_word[] = "row ", columns_word[] = "columns ";
    struct fr_err err = {0};
    int64_t affected = -1;
    fr_status st;

    if (strncmp(sql, "@repeat ", 8) == 0) {
        run_long(s, sql + 8);
        return;
    }
    s->columns = print_row;
    s->columns_ctx = columns_word;
    if (strncmp(sql, "@call ", 6) == 0) {
        struct fr_sql_param p = fr_sql_out("@out", FR_SQL_NVARCHAR);

        st = fr_sql_call(s, sql + 6, &p, 1, print_row, row_word, &err);
        if (st == FR_OK)
            printf("out %s\n", p.is_null ? "NULL" : p.text);
    } else {
        st = s->ops->run(s, sql, print_row, row_word, &affected, &err);
        if (affected >= 0)
            printf("affected %lld\n", (long long)affected);
    }
    print_outcome(s, st, &err);
}

static bool number(const char *text, uint32_t *out)
{
    int64_t n = 0;
    fr_status st = fr_num_i64(text, 0, UINT32_MAX, &n);

    *out = (uint32_t)n;
    return st == FR_OK;
}

static bool take_option(struct fr_connect *how, const char *name, const char *value)
{
    static const char *const words[] = {"off", "login", "prefer", "require"};
    const struct {
        const char *name;
        const char **text;
        uint32_t *number;
    } options[] = {
        {"--server", &how->server, NULL},
        {"--user", &how->user, NULL},
        {"--database", &how->database, NULL},
        {"--ca-file", &how->ca_file, NULL},
        {"--options", &how->session_options, NULL},
        {"--login-ms", NULL, &how->login_timeout_ms},
        {"--statement-ms", NULL, &how->statement_timeout_ms},
        {"--packet", NULL, &how->packet_bytes},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(name, options[i].name) != 0)
            continue;
        if (options[i].text != NULL)
            *options[i].text = value;
        return options[i].number == NULL || number(value, options[i].number);
    }
    for (unsigned i = 0; strcmp(name, "--encrypt") == 0 && i < 4; i++)
        if (strcmp(value, words[i]) == 0) {
            how->encrypt = (enum fr_encrypt)i;
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    struct fr_connect how = {.server = "127.0.0.1",
                             .user = "sa",
                             .application = "wire_client",
                             .encrypt = FR_ENCRYPT_PREFER,
                             .tcp_timeout_ms = 60000,
                             .login_timeout_ms = 15000,
                             .statement_timeout_ms = 60000};
    const char *password = getenv("FULLRACK_PASSWORD");
    struct fr_secret *secret = NULL;
    struct fr_err err = {0};
    struct fr_sql *s = NULL;
    fr_status st;
    int i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (!take_option(&how, argv[i], argv[i + 1])) {
            fprintf(stderr, "wire_client: %s %s\n", argv[i], argv[i + 1]);
            return 2;
        }
    password = password == NULL ? "" : password;
    st = fr_secret_new(password, strlen(password), &secret, &err);
    how.password = secret;
    if (st == FR_OK)
        st = fr_wire_open(&how, &s, &err);
    if (st != FR_OK) {
        print_outcome(NULL, st, &err);
    } else {
        printf("open encrypted=%d spid=%d\n", fr_wire_is_encrypted(s), s->spid > 0);
        for (; i < argc && !s->lost; i++)
            run(s, argv[i]);
    }
    fr_sql_close(&s);
    fr_secret_free(&secret);
    return 0;
}

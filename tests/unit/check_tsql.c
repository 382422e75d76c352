/*
 * check_tsql.c - batches and their answers, from tests/tsql/NAME.txt; one session a file.
 *
 * A file is a row of batches, each followed by a line GO and by its answer, every line of
 * which begins with "> " (see sql_session.h for its form).  A batch ":r PATH" runs a
 * script of the project, its answer is the script's errors.  ":connect LOGIN [DATABASE]"
 * goes on in that login's session, opened where it is the first, or after ":close LOGIN".
 * With TSQL_WRITE=1 the answers are written anew: look at the difference before you keep
 * it.
 */
#include "../support/sql_session.h"

#include "base/buf.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 200, MAX_FILE_BYTES = 4 * 1024 * 1024, MAX_LOGINS = 16 };

static char *names[MAX_FILES];
static int nnames;

static const char *folder(void)
{
    static char path[1024];
    const char *src = getenv("srcdir");

    snprintf(path, sizeof path, "%s/tests/tsql", src == NULL ? "." : src);
    return path;
}

static void read_file(const char *name, struct fr_buf *b)
{
    char path[2048];
    FILE *f;
    int c;

    snprintf(path, sizeof path, "%s/%s", folder(), name);
    f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot read %s", path);
    while ((c = fgetc(f)) != EOF)
        fr_buf_add_byte(b, (unsigned char)c);
    fclose(f);
}

static void write_file(const char *name, const struct fr_buf *b)
{
    char path[2048];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder(), name);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fwrite(b->data, 1, b->len, f);
    fclose(f);
}

/* Next line at *p without its end; false at the end of the text. */
static bool next_line(const char **p, const char *end, const char **line, size_t *n)
{
    const char *nl;

    if (*p >= end)
        return false;
    nl = memchr(*p, '\n', (size_t)(end - *p));
    *line = *p;
    *n = (size_t)((nl == NULL ? end : nl) - *p);
    *p = nl == NULL ? end : nl + 1;
    return true;
}

static void quote_answer(const char *answer, struct fr_buf *out)
{
    const char *end = answer + strlen(answer);
    const char *line;
    size_t n;

    while (next_line(&answer, end, &line, &n)) {
        fr_buf_add_str(out, "> ");
        fr_buf_add(out, line, n);
        fr_buf_add_byte(out, '\n');
    }
}

static void keep_errors(const char *answer, struct fr_buf *out)
{
    const char *end = answer + strlen(answer);
    const char *line;
    size_t n;

    while (next_line(&answer, end, &line, &n)) {
        if (n > 6 && strncmp(line, "error ", 6) == 0)
            fr_buf_printf(out, "> %.*s\n", (int)n, line);
    }
}

static void run_script(struct test_session *t, const char *path, struct fr_buf *got)
{
    struct fr_buf text, batch;
    const char *p, *end, *line;
    size_t n;

    fr_buf_init(&text, MAX_FILE_BYTES);
    fr_buf_init(&batch, MAX_FILE_BYTES);
    read_file(path, &text);
    p = text.data;
    end = p + text.len;
    while (next_line(&p, end, &line, &n)) {
        bool go = n == 2 && strncmp(line, "GO", 2) == 0;

        if (!go) {
            fr_buf_add(&batch, line, n);
            fr_buf_add_byte(&batch, '\n');
        }
        if (go || p >= end) {
            keep_errors(test_batch(t, fr_buf_text(&batch)), got);
            fr_buf_reset(&batch);
        }
    }
    fr_buf_free(&batch);
    fr_buf_free(&text);
}

struct running {
    struct test_server *server;
    struct {
        char login[64];
        struct test_session *session;
    } open[MAX_LOGINS];
    struct test_session *now;
};

/* The place of a login's session; NULL in it: there is none. */
static struct test_session **session_of(struct running *r, const char *login)
{
    for (size_t i = 0; i < MAX_LOGINS; i++) {
        if (r->open[i].login[0] == '\0')
            snprintf(r->open[i].login, sizeof r->open[i].login, "%s", login);
        if (strcmp(r->open[i].login, login) == 0)
            return &r->open[i].session;
    }
    ck_abort_msg("too many logins");
    return NULL;
}

static void connect_as(struct running *r, const char *login, const char *database,
                       struct fr_buf *got)
{
    struct test_session **t = session_of(r, login);
    const char *answer = "";

    if (*t == NULL)
        *t = test_session_login(r->server, login, database, &answer);
    quote_answer(answer, got);
    if (*t != NULL)
        r->now = *t;
}

static void run_batch(struct running *r, const char *batch, struct fr_buf *got)
{
    char path[1024], login[64], database[64] = "";
    const char *order = batch;

    while (strncmp(order, "--", 2) == 0 && strchr(order, '\n') != NULL)
        order = strchr(order, '\n') + 1;
    if (sscanf(order, ":r %1023s", path) == 1)
        run_script(r->now, path, got);
    else if (sscanf(order, ":connect %63s %63s", login, database) >= 1)
        connect_as(r, login, database, got);
    else if (sscanf(order, ":close %63s", login) == 1)
        test_session_free(session_of(r, login));
    else
        quote_answer(test_batch(r->now, batch), got);
}

/* Run the file's batches; *got: the file as it should be. */
static void run_file(const struct fr_buf *text, struct fr_buf *got)
{
    const char *p = text->data;
    const char *end = p + text->len;
    const char *line;
    struct running r = {.server = test_server_new()};
    struct fr_buf batch;
    size_t n;

    fr_buf_init(&batch, MAX_FILE_BYTES);
    connect_as(&r, "sa", "master", got);
    while (next_line(&p, end, &line, &n)) {
        if (n >= 1 && line[0] == '>')
            continue;
        fr_buf_add(got, line, n);
        fr_buf_add_byte(got, '\n');
        if (n == 2 && strncmp(line, "GO", 2) == 0) {
            run_batch(&r, fr_buf_text(&batch), got);
            fr_buf_reset(&batch);
        } else {
            fr_buf_add(&batch, line, n);
            fr_buf_add_byte(&batch, '\n');
        }
    }
    fr_buf_free(&batch);
    for (size_t i = 0; i < MAX_LOGINS; i++)
        test_session_free(&r.open[i].session);
    test_server_free(&r.server);
}

/* The first line that differs, with its batch. */
static void compare(const char *name, const struct fr_buf *want, const struct fr_buf *got)
{
    const char *a = want->data, *b = got->data;
    const char *a_end = a + want->len, *b_end = b + got->len;
    const char *la, *lb;
    size_t na = 0, nb = 0;
    int number = 0;

    for (;;) {
        bool more_a = next_line(&a, a_end, &la, &na);
        bool more_b = next_line(&b, b_end, &lb, &nb);

        number++;
        if (!more_a && !more_b)
            return;
        if (more_a && more_b && na == nb && memcmp(la, lb, na) == 0)
            continue;
        ck_abort_msg("%s:%d\n  expected %.*s\n  got      %.*s", name, number,
                     more_a ? (int)na : 5, more_a ? la : "(end)", more_b ? (int)nb : 5,
                     more_b ? lb : "(end)");
    }
}

START_TEST(test_file)
{
    struct fr_buf want, got;

    fr_buf_init(&want, MAX_FILE_BYTES);
    fr_buf_init(&got, MAX_FILE_BYTES);
    read_file(names[_i], &want);
    run_file(&want, &got);
    if (getenv("TSQL_WRITE") != NULL)
        write_file(names[_i], &got);
    else
        compare(names[_i], &want, &got);
    fr_buf_free(&want);
    fr_buf_free(&got);
}
END_TEST

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_files(void)
{
    DIR *d = opendir(folder());
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);

        if (nnames < MAX_FILES && n > 4 && strcmp(e->d_name + n - 4, ".txt") == 0)
            names[nnames++] = strdup(e->d_name);
    }
    if (d != NULL)
        closedir(d);
    qsort(names, (size_t)nnames, sizeof names[0], by_name);
}

int main(void)
{
    Suite *s = suite_create("tsql");
    TCase *tc = tcase_create("files");
    SRunner *sr;
    int failed;

    find_files();
    if (nnames == 0) {
        fprintf(stderr, "no files in %s\n", folder());
        return 1;
    }
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_file, 0, nnames);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    for (int i = 0; i < nnames; i++)
        free(names[i]);
    return failed == 0 ? 0 : 1;
}

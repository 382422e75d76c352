#include "wire_fixture.h"

#include "tds_client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

void fixture_open(struct fixture *f, const void *said, size_t n, uint32_t packet_bytes)
{
    memset(f, 0, sizeof *f);
    f->link = memory_link_new(said, n);
    f->link->silent_until = 1;
    fr_buf_init(&f->words, MAX_WORDS_BYTES);
    ck_assert_int_eq(wire_new(&f->link->link, packet_bytes, &f->w, &f->err), FR_OK);
    f->w->is_logged_in = true;
}

void fixture_close(struct fixture *f)
{
    wire_free(f->w);
    memory_link_free(f->link);
    fr_buf_free(&f->words);
}

fr_status fixture_tell_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fixture *f = ctx;

    fr_buf_add_str(&f->words, row->values == NULL ? "columns" : "row");
    for (size_t i = 0; i < row->columns; i++) {
        const char *text = row->values == NULL      ? row->names[i]
                           : row->values[i] == NULL ? "NULL"
                                                    : row->values[i];

        if (row->values != NULL && row->values[i] != NULL)
            ck_assert_uint_eq(strlen(text), row->lengths[i]);
        fr_buf_printf(&f->words, " [%s]", text);
    }
    fr_buf_add_byte(&f->words, '\n');
    return f->err.status == FR_EINTR ? fr_err_set(err, FR_EINTR, "enough") : FR_OK;
}

fr_status fixture_ask(struct fixture *f)
{
    struct fr_err err = {0};
    int64_t affected = -1;
    fr_status st;

    f->w->sql.columns = fixture_tell_row;
    f->w->sql.columns_ctx = f;
    st = f->w->sql.ops->run(&f->w->sql, "SELECT", fixture_tell_row, f, &affected, &err);
    fr_buf_printf(&f->words, "%s %d %lld %s\n", fr_status_name(st),
                  (int)err.server_number, (long long)affected,
                  st == FR_OK ? "" : err.text);
    f->err = err;
    return st;
}

void fixture_reply(struct fr_buf *out, const char *hex, size_t packet_bytes)
{
    struct fr_buf payload;

    fr_buf_init(out, MAX_WORDS_BYTES);
    fr_buf_init(&payload, MAX_WORDS_BYTES);
    tc_hex(&payload, hex);
    tc_message(out, WIRE_PACKET_REPLY, &payload, packet_bytes);
    fr_buf_free(&payload);
}

/*
 * Everything that a server may answer: the first byte's bit 0 says whether the rest comes
 * as it is (packets and all) or cut into good packets, bit 1 whether a row callback gives
 * up; the second byte is the size of each read.  What must hold: texts end with NUL,
 * lengths are theirs, a session that broke the protocol is lost.
 */
#include "../support/memory_link.h"
#include "../support/tds_client.h"
#include "base/sql.h"
#include "wire/wire_priv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static fr_status look_at_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    for (size_t i = 0; i < row->columns; i++) {
        if (row->names[i] == NULL)
            abort();
        if (row->values != NULL && row->values[i] != NULL &&
            row->values[i][row->lengths[i]] != '\0')
            abort();
    }
    return ctx != NULL ? fr_err_set(err, FR_EINTR, "enough") : FR_OK;
}

static void look_at_outcome(const struct wire *w, fr_status st)
{
    if ((st == FR_EPROTO && !w->sql.lost) || (st == FR_OK && w->sql.lost))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fr_sql_param out[2] = {fr_sql_out("@a", FR_SQL_INT),
                                  fr_sql_out("@b", FR_SQL_NVARCHAR)};
    struct fr_buf payload, packets;
    struct memory_link *m;
    struct wire *w;
    struct fr_err err = {0};
    fr_status st;

    if (n < 2)
        return 0;
    fr_buf_init(&payload, 1 << 24);
    fr_buf_init(&packets, 1 << 24);
    fr_buf_add(&payload, data + 2, n - 2);
    if ((data[0] & 1) != 0)
        fr_buf_add(&packets, data + 2, n - 2);
    else
        tc_message(&packets, WIRE_PACKET_REPLY, &payload, 512);
    m = memory_link_new(packets.data, packets.len);
    m->read_step = data[1];
    m->stays = (data[0] & 4) != 0;
    m->silent_until = 1;
    if (wire_new(&m->link, WIRE_MIN_PACKET_BYTES, &w, &err) == FR_OK) {
        w->silence_ms = 1;
        w->is_logged_in = true;
        w->sql.columns = look_at_row;
        st = fr_sql_run(&w->sql, "SELECT 1", look_at_row, (data[0] & 2) != 0 ? w : NULL,
                        &err);
        look_at_outcome(w, st);
        if (!w->sql.lost) {
            st = fr_sql_call(&w->sql, "p", out, 2, look_at_row, NULL, &err);
            look_at_outcome(w, st);
        }
        for (size_t i = 0; i < 2; i++)
            if (!out[i].is_null && st == FR_OK && out[i].type == FR_SQL_NVARCHAR &&
                strlen(out[i].text) > packets.len * 4)
                abort();
        wire_free(w);
    }
    memory_link_free(m);
    fr_buf_free(&payload);
    fr_buf_free(&packets);
    return 0;
}

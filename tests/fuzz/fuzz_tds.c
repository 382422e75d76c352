/*
 * Everything that a client may send: the first byte says whether the rest comes before
 * the login (even) or behind a good one (odd); the second one whether a bulk load is
 * pending (odd).  Rows of a bulk load go the short way and the long one: the answers and
 * what the session sees must be the same.
 */
#include "../support/fake_session.h"
#include "../support/tds_client.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void serve(const struct fr_buf *in, bool long_way, struct fr_buf *out,
                  struct fr_buf *log)
{
    struct server srv;

    fake_server_init(&srv, NULL); /* no password: no delay on a wrong one */
    srv.long_way = long_way;
    fake_serve(&srv, in->data, in->len, out);
    *log = srv.log;
    fr_buf_init(&srv.log, 1);
    fake_server_free(&srv);
}

static bool same(const struct fr_buf *a, const struct fr_buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static bool is_broken(const struct fr_buf *log)
{
    static const char word[] = "bulk end broken";

    return log->len > 0 && memmem(log->data, log->len, word, sizeof word - 1) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct login_fields good = {0x74000004, "sa", "", ""};
    struct fr_buf in, out[2], log[2];

    if (n < 2)
        return 0;
    fr_buf_init(&in, 1 << 24);
    if ((data[0] & 1) != 0)
        tc_login(&in, &good);
    if ((data[1] & 1) != 0)
        tc_batch(&in, "insert bulk 3");
    fr_buf_add(&in, data + 2, n - 2);
    for (int i = 0; i < 2; i++)
        serve(&in, i == 1, &out[i], &log[i]);
    /* a packet that never comes whole is not looked into by the short way */
    if (!same(&out[0], &out[1]) || (!same(&log[0], &log[1]) && !is_broken(&log[1])))
        abort();
    for (int i = 0; i < 2; i++) {
        fr_buf_free(&out[i]);
        fr_buf_free(&log[i]);
    }
    fr_buf_free(&in);
    return 0;
}

/*
 * Everything that a client may send: the first byte says whether the rest comes before
 * the login (even) or behind a good one (odd); the second one whether a bulk load is
 * pending (odd).
 */
#include "../support/fake_session.h"
#include "../support/tds_client.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct login_fields good = {0x74000004, "sa", "", ""};
    struct server srv;
    struct fr_buf in, out;

    if (n < 2)
        return 0;
    fake_server_init(&srv, NULL); /* no password: no delay on a wrong one */
    srv.quiet = true;
    fr_buf_init(&in, 1 << 24);
    if ((data[0] & 1) != 0)
        tc_login(&in, &good);
    if ((data[1] & 1) != 0)
        tc_batch(&in, "insert bulk 3");
    fr_buf_add(&in, data + 2, n - 2);
    fake_serve(&srv, in.data, in.len, &out);
    fr_buf_free(&in);
    fr_buf_free(&out);
    fake_server_free(&srv);
    return 0;
}

/*
 * What a server may say before the first statement: to the prelogin, to the TLS handshake
 * where it offers one, and to the login.  Bit 0 of the first byte: the rest is cut into
 * packets already.
 */
#include "../support/memory_link.h"
#include "../support/tds_client.h"
#include "wire/login.h"
#include "wire/tls.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void log_in(struct wire *w, struct memory_link *m)
{
    static const struct wire_tls_how tls = {.host = "127.0.0.1", .deadline_ms = 1};
    struct fr_connect how = {.server = "fake", .user = "sa", .application = "fuzz"};
    enum wire_encryption answer;
    struct wire_link *over = NULL;
    struct fr_err err = {0};

    if (wire_prelogin(w, WIRE_ENCRYPTION_ON, &answer, &err) != FR_OK)
        return;
    if (answer > WIRE_ENCRYPTION_REQUIRED)
        abort();
    /* what follows is no TLS: it must fail, and leave the link to us */
    if (answer == WIRE_ENCRYPTION_ON &&
        wire_tls_open(&m->link, &tls, &over, &err) == FR_OK)
        abort();
    if (wire_send_login(w, &how, "fake", &err) == FR_OK &&
        wire_read_login(w, &how, &err) == FR_OK && !w->is_logged_in &&
        w->route.host[0] == '\0')
        abort();
    if (memchr(w->route.host, '\0', sizeof w->route.host) == NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fr_buf payload, packets;
    enum wire_encryption ignored;
    struct memory_link *m;
    struct fr_err err = {0};
    struct wire *w;

    if (n < 1)
        return 0;
    (void)wire_prelogin_parse(data + 1, n - 1, &ignored);
    fr_buf_init(&payload, 1 << 24);
    fr_buf_init(&packets, 1 << 24);
    if ((data[0] & 1) == 0) {
        static const unsigned char no_encryption[] = {1, 0, 6, 0, 1, 0xFF, 2};

        fr_buf_add(&payload, no_encryption, sizeof no_encryption);
        tc_message(&packets, WIRE_PACKET_REPLY, &payload, 4096);
        fr_buf_reset(&payload);
        fr_buf_add(&payload, data + 1, n - 1);
        tc_message(&packets, WIRE_PACKET_REPLY, &payload, 4096);
    } else {
        fr_buf_add(&packets, data + 1, n - 1);
    }
    m = memory_link_new(packets.data, packets.len);
    m->read_step = data[0] >> 1;
    if (wire_new(&m->link, WIRE_DEFAULT_PACKET_BYTES, &w, &err) == FR_OK) {
        log_in(w, m);
        wire_free(w);
    }
    memory_link_free(m);
    fr_buf_free(&payload);
    fr_buf_free(&packets);
    return 0;
}

/*
 * packet.h - TDS packets (MS-TDS 2.2.3) as a stream of message bytes, in and out.
 *
 * The reader joins the packets of one message; every read says whether the bytes were
 * there. After a failed read the reader is `broken` and reads nothing more: the session
 * ends. Bytes come and go through callbacks, so that tests and the fuzzer work on memory.
 * One thread.
 */
#ifndef FRD_TDS_PACKET_H
#define FRD_TDS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tds_message {
    TDS_SQL_BATCH = 0x01,
    TDS_OLD_LOGIN = 0x02,
    TDS_RPC = 0x03,
    TDS_RESPONSE = 0x04,
    TDS_ATTENTION = 0x06,
    TDS_BULK = 0x07,
    TDS_FEDAUTH = 0x08,
    TDS_TRANSACTION = 0x0E,
    TDS_LOGIN7 = 0x10,
    TDS_SSPI = 0x11,
    TDS_PRELOGIN = 0x12
};

enum tds_packet_status {
    TDS_EOM = 0x01,
    TDS_IGNORE = 0x02,
    TDS_RESET = 0x08,
    TDS_RESET_SKIP_TRAN = 0x10
};

enum {
    TDS_HEADER_BYTES = 8,
    TDS_MIN_PACKET = 512,
    TDS_MAX_PACKET = 32767,
    TDS_DEFAULT_PACKET = 4096,
    TDS_READ_BYTES = 65536, /* asked from the socket at once */
    TDS_SEND_BYTES = 65536  /* packets are sent together up to this */
};

/* What the reader waits for, so that the transport knows how long that may take. */
struct tds_pace {
    enum { TDS_WAIT_LOGIN, TDS_WAIT_REQUEST, TDS_WAIT_PACKET } what;
    bool again; /* a new wait: set by the reader, cleared by the transport */
};

struct tds_reader {
    /* up to n bytes into buf: number read, 0 at the end, -1 error */
    ssize_t (*fill)(void *ctx, void *buf, size_t n);
    void *ctx;
    uint64_t limit;        /* of one message's bytes, see used; 0: none */
    struct tds_pace *pace; /* borrowed; NULL: nobody looks */
    unsigned char *buf;    /* owned, TDS_READ_BYTES */
    size_t pos, filled;    /* what is in buf and not used yet */
    size_t left;           /* bytes of the current packet still to be used */
    uint64_t used;         /* bytes of this message so far, and headers but the first */
    uint64_t total;        /* bytes ever read, packet headers included */
    uint64_t packets;
    uint8_t type, status; /* of the message: type, status bits of its first packet */
    bool eom;             /* the current packet is the message's last */
    bool ignored;         /* its last packet said IGNORE */
    bool attention;       /* an attention packet came instead of the message's next one */
    bool closed;          /* the peer closed the connection */
    bool broken;          /* framing or length is wrong */
    bool too_long;        /* broken, since the message is longer than the limit */
};

bool tds_reader_init(struct tds_reader *r, ssize_t (*fill)(void *, void *, size_t),
                     void *ctx);
void tds_reader_free(struct tds_reader *r);

/* Go to the next message; what is left of the present one is dropped.  False: closed or
 * broken. */
bool tds_next_message(struct tds_reader *r);
/* Drop the rest of the message; false when its end never comes. */
bool tds_drain(struct tds_reader *r);
/* True when no byte of the message is left (false also when broken). */
bool tds_at_end(struct tds_reader *r);

/* n bytes; false: the message ended before. */
bool tds_read(struct tds_reader *r, void *out, size_t n);
bool tds_skip(struct tds_reader *r, uint64_t n);
/* The next n bytes in place when they lie together (until the next read), else NULL;
 * moves. */
const unsigned char *tds_take(struct tds_reader *r, size_t n);
/* What is left of the present packet, in place and without moving on (tds_skip() does);
 * NULL: nothing, or the connection ended in the middle of it. */
const unsigned char *tds_window(struct tds_reader *r, size_t *n);
bool tds_peek_u8(struct tds_reader *r, uint8_t *out);
bool tds_read_u8(struct tds_reader *r, uint8_t *out);
bool tds_read_u16(struct tds_reader *r, uint16_t *out);
bool tds_read_u32(struct tds_reader *r, uint32_t *out);
bool tds_read_u64(struct tds_reader *r, uint64_t *out);
/* True when a whole attention packet waits in the buffer behind the present message. */
bool tds_attention_buffered(const struct tds_reader *r);

struct tds_writer {
    bool (*send)(void *ctx, const void *p, size_t n);
    void *ctx;
    unsigned char *buf; /* owned, TDS_SEND_BYTES + TDS_MAX_PACKET */
    size_t packet_at;   /* where the current packet begins in buf */
    size_t len;         /* end of what is in buf */
    size_t packet_size;
    uint64_t total, packets;
    uint16_t spid; /* in each header, as the server's are */
    uint8_t id;
    bool open;   /* a message was begun */
    bool failed; /* the peer is gone; nothing more is sent */
};

bool tds_writer_init(struct tds_writer *w, bool (*send)(void *, const void *, size_t),
                     void *ctx);
void tds_writer_free(struct tds_writer *w);
/* From the next message on. */
void tds_writer_set_packet_size(struct tds_writer *w, size_t bytes);

/* Append to the message (begun when need be); false: the peer is gone. */
bool tds_put(struct tds_writer *w, const void *p, size_t n);
bool tds_put_u8(struct tds_writer *w, uint8_t v);
bool tds_put_u16(struct tds_writer *w, uint16_t v);
bool tds_put_u32(struct tds_writer *w, uint32_t v);
bool tds_put_u64(struct tds_writer *w, uint64_t v);
/* The n lowest bytes of v, lowest first; n: 0..8 */
bool tds_put_uint(struct tds_writer *w, uint64_t v, int n);
/* End the message and send it. */
bool tds_end_message(struct tds_writer *w);

#endif

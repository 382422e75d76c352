/* wire_priv.h - the inside of struct wire, for wire/ only. */
#ifndef FR_WIRE_WIRE_PRIV_H
#define FR_WIRE_WIRE_PRIV_H

#include "base/buf.h"
#include "wire/packet.h"
#include "wire/socket.h"

enum {
    /* A message in the making: many packets go out at once. */
    WIRE_OUT_BYTES = 256 << 10,
    WIRE_RAW_BYTES = 64 << 10,
    /* Most of a reply that is looked at in one piece: a token of 64 KiB, a name. */
    WIRE_IN_BYTES = 256 << 10,
    WIRE_MAX_OUTPUT_BYTES = 1 << 20,
    /* How long a server may take to answer an attention, and to say why it refused. */
    WIRE_ATTENTION_MS = 5000
};

enum wire_fault {
    WIRE_FAULT_NONE,
    WIRE_FAULT_SPOKE,    /* the server answered before the message was whole */
    WIRE_FAULT_CLOSED,   /* the peer hung up */
    WIRE_FAULT_SILENT,   /* nothing moved within the time-out */
    WIRE_FAULT_BROKEN,   /* the system or TLS: os_error, link->ops->why() */
    WIRE_FAULT_PROTOCOL, /* no TDS; fault_text says what */
    WIRE_FAULT_MEMORY
};

struct wire {
    struct fr_sql sql;      /* first: a struct fr_sql * points here */
    struct wire_link *link; /* owned; NULL once lost */
    enum wire_fault fault;
    int os_error;
    char fault_text[160];

    struct wire_out out;
    unsigned char *out_buffer; /* owned, WIRE_OUT_BYTES */
    uint8_t out_type;
    uint8_t packet_number;
    uint32_t packet_bytes;
    uint64_t bytes_sent;
    uint64_t waited_ns; /* until the link took what was to be sent */
    bool is_sending;

    unsigned char *raw; /* owned, WIRE_RAW_BYTES: as it came */
    size_t raw_at, raw_end;
    unsigned char *in; /* owned, WIRE_IN_BYTES: payload alone */
    size_t in_at, in_end;
    size_t packet_left; /* payload bytes of the packet under way still to come */
    bool packet_is_last;
    bool in_message_end; /* the last packet has been taken in whole */

    uint32_t
        silence_ms; /* longest wait for the other side, up to INT_MAX; 0 = for ever */
    uint64_t deadline_ms; /* fr_clock_ms() at which every wait ends; 0 = none */
    bool asks_to_stop;    /* silence brings an attention before it brings a fault */
    bool attention_sent;  /* and not answered yet */
    bool is_logged_in;
    bool is_encrypted;
    struct wire_address route; /* host "" = none */
    unsigned char collation[5];
    /* What the last bulk copy was told of its columns' collations, and of which columns:
     * the next into the same ones need not ask. */
    struct fr_buf known_columns;
    struct fr_buf known_collations;
    unsigned char transaction[8]; /* descriptor (MS-TDS 2.2.5.3.2) */
    struct fr_buf outputs;        /* texts of the last call's output parameters */
};

/*
 * n contiguous bytes of the reply (n <= WIRE_IN_BYTES), not yet consumed; valid until the
 * next call.  NULL: w->fault is set; WIRE_FAULT_NONE with in_message_end: the message is
 * over.
 */
const unsigned char *wire_need(struct wire *w, size_t n);
/* The same, consumed. */
const unsigned char *wire_take(struct wire *w, size_t n);
/* Drop n bytes, however many. */
bool wire_skip(struct wire *w, uint64_t n);
/* Bytes there without waiting. */
size_t wire_buffered(const struct wire *w);
/* Go on with the server's next message, behind the end of the last. */
void wire_next_message(struct wire *w);
/* True when nothing came behind the last message; else the session is broken.  To be
 * asked where encryption begins or ends: what is left over was read under the other rule.
 */
bool wire_is_drained(struct wire *w);
/* Mark the session broken by what came; returns false. */
bool wire_protocol_fault(struct wire *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Take in what is there without waiting; false when the link broke or closed. */
bool wire_take_in(struct wire *w);
/* Turn w->fault into an error text; the session is lost. */
fr_status wire_fault_error(struct wire *w, const char *what, struct fr_err *err);
/* Send a message that is nothing but its header, now: an attention. */
bool wire_send_attention(struct wire *w);

/* An attention was sent: from now on its answer has WIRE_ATTENTION_MS. */
void wire_await_attention(struct wire *w);
extern const struct fr_sql_ops wire_session_ops;
void wire_free(struct wire *w);

#endif

/*
 * packet.h - messages to the server, cut into packets; and the replies.
 *
 * For wire/ only.  A message is written into one large buffer and cut into packets where
 * it is sent: the headers (MS-TDS 2.2.3.1) are gathered between the pieces, so that a
 * value never straddles a border while it is written, and one system call carries many
 * packets.  While a message is sent the server's side is watched: an error, the end of a
 * reply or a closed connection ends the sending early.
 *
 * A struct wire belongs to its session's thread.
 */
#ifndef FR_WIRE_PACKET_H
#define FR_WIRE_PACKET_H

#include "base/sql.h"
#include "wire/link.h"

struct wire; /* opaque, wire_priv.h */

/* MS-TDS 2.2.3.1.1 */
enum wire_packet_type {
    WIRE_PACKET_BATCH = 0x01,
    WIRE_PACKET_RPC = 0x03,
    WIRE_PACKET_REPLY = 0x04,
    WIRE_PACKET_ATTENTION = 0x06,
    WIRE_PACKET_BULK = 0x07,
    WIRE_PACKET_LOGIN = 0x10,
    WIRE_PACKET_PRELOGIN = 0x12
};

enum {
    WIRE_ROOM_BYTES = 128 << 10, /* most that wire_room() gives at once */
    WIRE_HEADER_BYTES = 8,
    WIRE_MIN_PACKET_BYTES = 512,
    WIRE_DEFAULT_PACKET_BYTES = 4096,
    WIRE_MAX_PACKET_BYTES = 32767
};

/* Where the message under way is written.  Only `at` is the writer's to move. */
struct wire_out {
    unsigned char *at;
    unsigned char *end;
    struct wire *wire;
};

/* The session behind an fr_sql of fr_wire_open(). */
struct wire *wire_of(struct fr_sql *s);
struct fr_sql *wire_sql(struct wire *w);

/* A session over a link that is open and logged in: for tests, and for wire_open.  Takes
 * the link over, also when it fails. */
fr_status wire_new(struct wire_link *link, uint32_t packet_bytes, struct wire **out,
                   struct fr_err *err);

/* Begin a message of that type.  No other may be under way. */
struct wire_out *wire_begin(struct wire *w, enum wire_packet_type type);

/* Slow half of wire_room(): sends full packets.  NULL as there. */
unsigned char *wire_make_room(struct wire_out *o, size_t n);

/*
 * Room for n bytes (at most WIRE_ROOM_BYTES) at o->at; after writing, set o->at behind
 * what was written.  NULL: the sending has ended; wire_sending_error() says why.
 */
static inline unsigned char *wire_room(struct wire_out *o, size_t n)
{
    return (size_t)(o->end - o->at) >= n ? o->at : wire_make_room(o, n);
}

/* Bytes of any length.  False: as wire_room()'s NULL. */
bool wire_put(struct wire_out *o, const void *p, size_t n);

/* Send the rest, the last packet marked as such. */
fr_status wire_end(struct wire_out *o, struct fr_err *err);

/*
 * Why the sending ended early.  FR_EDB: the server refused in mid-stream, with its number
 * and text; FR_ELOST: closed, broken, or no byte taken within the statement time-out.
 * The session is lost in every case: half a message is on the wire.
 */
fr_status wire_sending_error(struct wire_out *o, const char *what, struct fr_err *err);

/* What is asked of a reply, and what it told. */
struct wire_reply {
    fr_sql_row_fn row; /* may be NULL: rows are read and dropped */
    void *ctx;
    struct fr_sql_param *params; /* output parameters are filled */
    size_t param_count;
    unsigned char (*collations)[5]; /* NULL, or filled from the first COLMETADATA; zeros
                                       where a column has none */
    size_t collation_room;
    /* told: */
    size_t columns;     /* of the first COLMETADATA */
    bool has_count;     /* some statement counted its rows */
    int64_t rows;       /* of the last that did */
    bool was_attention; /* the reply ended with the answer to an attention */
};

/*
 * Read the reply to the message sent, to its end.  what: in front of error texts.
 * FR_EDB: the server refused (the first error of severity over 10 decides; the session
 * can be used on, unless s->lost); FR_ELOST: closed, or silent for longer than the
 * statement time-out (an attention was sent then, and s->lost tells whether the server
 * answered that); FR_EPROTO: what came is no TDS (the session is lost); else what
 * r->row returned, after an attention.
 */
fr_status wire_read_reply(struct wire *w, struct wire_reply *r, const char *what,
                          struct fr_err *err);

/* Send an SQL batch and read its reply. */
fr_status wire_run(struct wire *w, const char *sql, struct wire_reply *r,
                   const char *what, struct fr_err *err);

/* Hang up: the session is lost from now on.  A message under way is dropped. */
void wire_lose(struct wire *w);

/* Payload bytes given to the link so far, headers not counted. */
uint64_t wire_bytes_sent(const struct wire *w);
/* Nanoseconds that sending waited for the link. */
uint64_t wire_waited_ns(const struct wire *w);

/* The server's collation as five bytes of TYPE_INFO (MS-TDS 2.2.5.1.2). */
const unsigned char *wire_collation(const struct wire *w);

#endif

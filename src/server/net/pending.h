/*
 * pending.h - connections that have not logged in yet.
 *
 * They are no sessions: however many there are, a session's place stays free for who has
 * the password.  When there are too many, the oldest one of the address that has most of
 * them goes.  Logins of one address are checked a few at a time, in order of arrival, so
 * that a wrong one's delay cannot be got round by many connections.  An address is a
 * bucket of a keyed hash, that of IPv6 its /64, all of which a single host may have.
 * Thread-safe; no other mutex is taken while this one is held.
 */
#ifndef FRD_NET_PENDING_H
#define FRD_NET_PENDING_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PENDING_CHECKS =
        4, /* logins of one address that are looked at, or delayed, at once */
    PENDING_DELAY_MS = 300 /* what a wrong one costs */
};

struct pending_list; /* opaque */

/* One connection: part of what its thread owns; its fields are the list's. */
struct pending {
    struct pending *next, *before; /* in order of arrival */
    struct pending *next_waiting;  /* for the same address's turn */
    int fd;
    unsigned address;  /* a hash of it */
    bool listed, shut; /* shut: it had to make room; its thread ends by itself */
    bool waiting, has_turn;
};

struct pending_list *pending_new(int max); /* NULL: no memory, or no random bytes */
void pending_free(struct pending_list **lp);

/* Enter it; true when another one had to go. p->fd stays the caller's, who may close it
 * after pending_remove(). */
bool pending_add(struct pending_list *l, struct pending *p, int fd, const char *address);
/* Logged in, or over.  May be called again. */
void pending_remove(struct pending_list *l, struct pending *p);
/* Shut them all. */
void pending_shut_all(struct pending_list *l);

/* Wait for p's turn to have its password looked at, until then (microseconds of
   CLOCK_MONOTONIC; 0: for ever); false: too late, or p was shut meanwhile.  Either way
   pending_end_check() follows; a wrong password is delayed there. */
bool pending_begin_check(struct pending_list *l, struct pending *p, int64_t until_us);
void pending_end_check(struct pending_list *l, struct pending *p, bool good);

#endif

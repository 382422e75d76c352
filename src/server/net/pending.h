/*
 * pending.h - connections that have not logged in yet.
 *
 * They are no sessions: however many there are, a session's place stays free for who has
 * the password.  When there are too many, the oldest one of the address that has most of
 * them goes.  Logins of one address are checked a few at a time, in order of arrival, so
 * that a wrong one's delay cannot be got round by many connections.  Thread-safe; no
 * other mutex is taken while this one is held.
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
    int fd;
    unsigned address;  /* a hash of it */
    bool listed, shut; /* shut: it had to make room; its thread ends by itself */
};

struct pending_list *pending_new(int max); /* NULL: out of memory */
void pending_free(struct pending_list **lp);

/* Enter it; true when another one had to go. p->fd stays the caller's, who may close it
 * after pending_remove(). */
bool pending_add(struct pending_list *l, struct pending *p, int fd, const char *address);
/* Logged in, or over.  May be called again. */
void pending_remove(struct pending_list *l, struct pending *p);
/* Shut them all. */
void pending_shut_all(struct pending_list *l);

/* Wait for p's turn to have its password looked at; false: p was shut meanwhile.  Either
   way pending_end_check() follows; a wrong password is delayed there. */
bool pending_begin_check(struct pending_list *l, struct pending *p);
void pending_end_check(struct pending_list *l, struct pending *p, bool good);

#endif

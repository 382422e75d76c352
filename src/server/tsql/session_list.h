/*
 * session_list.h - the sessions of one server: spids, KILL, the DMVs' view of them.
 *
 * The server owns one list.  Thread-safe; its mutex is taken alone, except that the callback
 * of session_list_each() may take a session's own mutex (session_get_info).
 */
#ifndef FRD_TSQL_SESSION_LIST_H
#define FRD_TSQL_SESSION_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct session_list;
struct session;
struct server;
struct wlock_graph;

enum { SESSION_FIRST_SPID = 51, SESSION_MAX = 32767 };

struct session_list *session_list_new(void);
void session_list_free(struct session_list **lp); /* all sessions must be closed */

/* The lowest free spid from SESSION_FIRST_SPID; 0: too many, or out of memory. */
int session_list_add(struct session_list *l, struct session *s);
void session_list_remove(struct session_list *l, int spid);
/* session_cancel() and mark as killed: its connection ends; false: no such spid. */
bool session_list_kill(struct session_list *l, int spid);
/* In the order of spids, until each() returns false. */
void session_list_each(struct session_list *l, bool (*each)(void *arg, struct session *s),
                       void *arg);
size_t session_list_count(struct session_list *l);

/* Implemented by net/ (tests bring their own). */
struct session_list *server_sessions(struct server *srv);
struct wlock_graph *server_locks(struct server *srv);
/* @@SERVERNAME; borrowed for the server's life. */
const char *server_name(const struct server *srv);
/* Number of schedulers (--schedulers N), at least 1. */
int server_schedulers(const struct server *srv);

#endif

#include "server/net/password.h"
#include "server/net/server_priv.h"
#include "server/store/store.h"
#include "server/value/datetime.h"

#include <stdlib.h>
#include <string.h>

int64_t server_now(void)
{
    struct value now;

    datetime_now(false, &now);
    return now.u.i;
}

fr_status server_new(const struct server_config *config, struct server **out,
                     struct fr_err *err)
{
    struct server *srv = calloc(1, sizeof *srv);
    struct store_config store = {.dir = config->data_dir, .discard = config->discard};
    fr_status st;

    *out = NULL;
    if (srv == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    pthread_mutex_init(&srv->mutex, NULL);
    srv->config = config;
    srv->started = server_now();
    srv->clients = calloc((size_t)config->max_sessions, sizeof(struct client *));
    srv->schedulers = schedulers_new(config->schedulers);
    srv->locks = wlock_graph_new();
    if (srv->clients == NULL || srv->schedulers == NULL || srv->locks == NULL) {
        server_free(&srv);
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    }
    store.graph = srv->locks;
    st = store_open(&store, &srv->store, err);
    if (st != FR_OK) {
        server_free(&srv);
        return st;
    }
    *out = srv;
    return FR_OK;
}

void server_free(struct server **sp)
{
    struct server *srv = *sp;

    *sp = NULL;
    if (srv == NULL)
        return;
    store_close(&srv->store);
    if (srv->locks != NULL)
        wlock_graph_free(&srv->locks);
    schedulers_free(&srv->schedulers);
    free(srv->clients);
    pthread_mutex_destroy(&srv->mutex);
    free(srv);
}

const struct server_config *server_config(const struct server *srv)
{
    return srv->config;
}

struct wlock_graph *server_lock_graph(struct server *srv)
{
    return srv->locks;
}

struct password *server_login_password(struct server *srv, const char *login, bool *known)
{
    struct catalog *master = store_master_catalog(srv->store);
    const struct cat_login *l = master == NULL ? NULL : catalog_login(master, login);
    struct password *p = l == NULL || l->disabled ? NULL : password_from_bytes(l->hash);

    /* who cannot be looked up is no stranger to let in */
    *known = l != NULL || master == NULL;
    catalog_release(&master);
    return p;
}

struct store *server_store(struct server *srv)
{
    return srv->store;
}

int64_t server_started(const struct server *srv)
{
    return srv->started;
}

size_t server_schedulers(struct server *srv, struct scheduler_info *out, size_t max)
{
    return schedulers_info(srv->schedulers, out, max);
}

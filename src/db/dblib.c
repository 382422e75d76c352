#include "db/dblib.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sql.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sybdb.h>
#include <sybfront.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MAX_SERVERS = 4,
    MAX_NAME_BYTES = 300,
    MAX_CONF_BYTES = 1 << 20,
    MAX_CONNECTIONS = 256
};
/* A message's severity up to which it is information; what each USE says. */
enum { MAX_INFORMATION = 10, CHANGED_DATABASE = 5701, CHANGED_LANGUAGE = 5703 };

static _Thread_local struct fr_db_sink *open_sink;

/* Written once by fr_dblib_init before any thread, read-only afterwards. */
static struct {
    size_t count;
    char servers[MAX_SERVERS][MAX_NAME_BYTES];
    char addresses[MAX_SERVERS][MAX_NAME_BYTES + 24]; /* HOST:PORT, "" = unknown */
    bool in_conf[MAX_SERVERS]; /* a section of the user's freetds.conf */
    char ca_file[PATH_MAX];
    bool ready;
} known;

static const char *const level_words[] = {[FR_ENCRYPT_OFF] = "off",
                                          [FR_ENCRYPT_LOGIN] = "request",
                                          [FR_ENCRYPT_REQUIRE] = "require"};

void fr_dblib_set_open_sink(struct fr_db_sink *sink)
{
    open_sink = sink;
}

void fr_db_sink_clear(struct fr_db_sink *sink)
{
    struct fr_db_sink cleared = {.session = sink->session,
                                 .is_patient = sink->is_patient,
                                 .patient_until_ms = sink->patient_until_ms};

    *sink = cleared;
}

static struct fr_db_sink *sink_of(DBPROCESS *dbproc)
{
    struct fr_db_sink *sink = NULL;

    if (dbproc != NULL)
        sink = (struct fr_db_sink *)(void *)dbgetuserdata(dbproc);
    return sink != NULL ? sink : open_sink;
}

static int on_library_error(DBPROCESS *dbproc, int severity, int number, int os_number,
                            char *text, char *os_text)
{
    struct fr_db_sink *sink = sink_of(dbproc);

    (void)severity;
    (void)os_text;
    if (sink == NULL)
        return INT_CANCEL;
    if (number == SYBETIME && sink->is_patient && fr_clock_ms() < sink->patient_until_ms)
        return INT_CONTINUE;
    /* "General SQL Server error: check messages": the message handler has the real one */
    if (number != SYBESMSG && sink->library_number == 0) {
        sink->library_number = number;
        sink->os_number = os_number;
        snprintf(sink->library_text, sizeof sink->library_text, "%s", text);
    }
    if (number == SYBETIME)
        sink->timed_out = true;
    if (number == SYBETIME || number == SYBEREAD || number == SYBEWRIT ||
        number == SYBESEOF || number == SYBEBTOK || dbproc == NULL || DBDEAD(dbproc))
        sink->dead = true;
    return INT_CANCEL;
}

static int on_server_message(DBPROCESS *dbproc, DBINT number, int state, int severity,
                             char *text, char *server, char *procedure, int line)
{
    struct fr_db_sink *sink = sink_of(dbproc);

    (void)state;
    (void)server;
    if (sink != NULL && severity <= MAX_INFORMATION && sink->session != NULL &&
        sink->session->message != NULL && number != CHANGED_DATABASE &&
        number != CHANGED_LANGUAGE)
        sink->session->message(sink->session->message_ctx, text);
    if (sink == NULL || severity <= MAX_INFORMATION || sink->server_number != 0)
        return 0;
    sink->server_number = number;
    sink->severity = severity;
    sink->line = procedure != NULL && procedure[0] != '\0' ? 0 : line;
    snprintf(sink->server_text, sizeof sink->server_text, "%s", text);
    if (severity >= 20)
        sink->dead = true;
    return 0;
}

/* The user's own freetds.conf, where db-lib would look for it. */
static void read_user_conf(struct fr_buf *out)
{
    char home_conf[1024];
    const char *candidates[3];
    const char *home = getenv("HOME");

    snprintf(home_conf, sizeof home_conf, "%s/.freetds.conf", home == NULL ? "" : home);
    candidates[0] = getenv("FREETDSCONF");
    candidates[1] = home == NULL ? NULL : home_conf;
    candidates[2] = "/etc/freetds/freetds.conf";
    for (size_t i = 0; i < 3; i++) {
        FILE *f = candidates[i] == NULL ? NULL : fopen(candidates[i], "re");
        char chunk[4096];
        size_t n;

        if (f == NULL)
            continue;
        while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
            fr_buf_add(out, chunk, n);
        fclose(f);
        fr_buf_add_str(out, "\n");
        return;
    }
}

/* Copy the lines of section [name] of conf, without its encryption line; false when there
 * is none. */
static bool copy_section(const char *conf, const char *name, struct fr_buf *out)
{
    bool inside = false, found = false;

    for (const char *p = conf; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        const char *text = p;
        size_t len = n;

        while (len > 0 && (*text == ' ' || *text == '\t'))
            text++, len--;
        if (len > 0 && *text == '[') {
            const char *end = memchr(text, ']', len);
            size_t name_len = end == NULL ? 0 : (size_t)(end - text) - 1;

            inside =
                name_len == strlen(name) && strncasecmp(text + 1, name, name_len) == 0;
            found = found || inside;
        } else if (inside && strncasecmp(text, "encryption", len < 10 ? len : 10) != 0) {
            fr_buf_add(out, p, n);
            fr_buf_add_str(out, "\n");
        }
        p += n + (p[n] == '\n' ? 1 : 0);
    }
    return found;
}

/* The value of `key = value` in a section's lines; false when there is none. */
static bool section_value(const char *body, const char *key, char *out, size_t out_bytes)
{
    size_t n = strlen(key);
    bool found = false;

    for (const char *p = body; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *v = p + strspn(p, " \t");

        if (strncasecmp(v, key, n) != 0)
            continue;
        v += n;
        v += strspn(v, " \t");
        if (*v != '=')
            continue;
        v++;
        v += strspn(v, " \t");
        n = strcspn(v, " \t\r\n;#");
        snprintf(out, out_bytes, "%.*s", (int)n, v);
        n = strlen(key);
        found = true; /* the last one counts, as in db-lib */
    }
    return found;
}

static void keep_address(size_t index, const char *body)
{
    char host[MAX_NAME_BYTES], instance[MAX_NAME_BYTES], port[16] = "1433";

    known.addresses[index][0] = '\0';
    (void)section_value(body, "port", port, sizeof port);
    if (section_value(body, "host", host, sizeof host) &&
        !section_value(body, "instance", instance, sizeof instance))
        snprintf(known.addresses[index], sizeof known.addresses[index],
                 strchr(host, ':') == NULL ? "%s:%s" : "[%s]:%s", host, port);
}

static void add_server(const char *conf, size_t index, const char *ca_file,
                       struct fr_buf *out)
{
    const char *server = known.servers[index];
    struct fr_buf body;
    const char *colon = strrchr(server, ':');

    fr_buf_init(&body, MAX_CONF_BYTES);
    known.in_conf[index] = copy_section(conf, server, &body);
    if (!known.in_conf[index]) {
        /* not a name of freetds.conf: HOST or HOST:PORT ([::1]:PORT for an IPv6 address)
         */
        size_t host_len = colon == NULL ? strlen(server) : (size_t)(colon - server);
        const char *host = server;

        if (host_len >= 2 && host[0] == '[' && host[host_len - 1] == ']') {
            host++;
            host_len -= 2;
        }
        fr_buf_reset(&body);
        fr_buf_printf(&body, "host = %.*s\nport = %s\n", (int)host_len, host,
                      colon == NULL ? "1433" : colon + 1);
    }
    keep_address(index, fr_buf_text(&body));
    if (ca_file != NULL)
        fr_buf_printf(&body, "ca file = %s\n", ca_file);
    for (size_t level = 0; level < sizeof level_words / sizeof level_words[0]; level++) {
        if (level_words[level] == NULL)
            continue;
        fr_buf_printf(out,
                      "[fullrack-%zu-%s]\n%sencryption = %s\nclient charset = UTF-8\n",
                      index, level_words[level], fr_buf_text(&body), level_words[level]);
    }
    fr_buf_free(&body);
}

/* db-lib reads encryption only from its configuration file (before 1.5): give it one of
 * ours, in memory. */
static fr_status write_private_conf(const char *ca_file, struct fr_err *err)
{
    struct fr_buf conf, out;
    char path[64];
    fr_status st = FR_OK;
    int fd;

    fr_buf_init(&conf, MAX_CONF_BYTES);
    fr_buf_init(&out, 4 * MAX_CONF_BYTES);
    read_user_conf(&conf);
    fr_buf_add(&out, fr_buf_text(&conf), conf.len);
    for (size_t i = 0; i < known.count; i++)
        add_server(fr_buf_text(&conf), i, ca_file, &out);
    fd = memfd_create("fullrack-freetds.conf", MFD_CLOEXEC);
    if (out.failed || fd < 0 || write(fd, out.data, out.len) != (ssize_t)out.len)
        st = fr_err_errno(err, FR_EIO, errno, "private freetds.conf");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (st == FR_OK && setenv("FREETDSCONF", path, 1) != 0)
        st = fr_err_errno(err, FR_EIO, errno, "FREETDSCONF");
    fr_buf_free(&out);
    fr_buf_free(&conf);
    return st;
}

/* A command that does two things, or a worker that was forked by a process which has
 * done it all. */
static bool is_ready_for(const struct fr_dblib_setup *setup)
{
    const char *ca_file = setup->ca_file == NULL ? "" : setup->ca_file;

    for (size_t i = 0; i < sizeof setup->servers / sizeof setup->servers[0]; i++)
        if (setup->servers[i] != NULL &&
            fr_dblib_server_name(setup->servers[i], FR_ENCRYPT_OFF) == NULL)
            return false;
    return known.ready && strcmp(known.ca_file, ca_file) == 0;
}

fr_status fr_dblib_init(const struct fr_dblib_setup *setup, struct fr_err *err)
{
    fr_status st;

    if (is_ready_for(setup)) {
        dbsetlogintime((int)setup->login_timeout_s);
        dbsettime((int)setup->statement_timeout_s);
        return FR_OK;
    }
    known.count = 0;
    for (size_t i = 0; i < sizeof setup->servers / sizeof setup->servers[0]; i++) {
        const char *server = setup->servers[i];

        if (server == NULL || fr_dblib_server_name(server, FR_ENCRYPT_OFF) != NULL)
            continue;
        /* a line of a configuration file; brackets only around an IPv6 address */
        if (known.count == MAX_SERVERS || strlen(server) >= MAX_NAME_BYTES ||
            strpbrk(server, server[0] == '[' ? "\r\n#;" : "\r\n[]#;") != NULL)
            return fr_err_set(err, FR_EARG, "server name %s cannot be used", server);
        snprintf(known.servers[known.count++], MAX_NAME_BYTES, "%s", server);
    }
    if (setup->ca_file != NULL && strpbrk(setup->ca_file, "\r\n#;") != NULL)
        return fr_err_set(err, FR_EARG, "CA file name %s cannot be used", setup->ca_file);
    st = write_private_conf(setup->ca_file, err);
    if (st != FR_OK)
        return st;
    if (dbinit() == FAIL)
        return fr_err_set(err, FR_ENOMEM, "db-lib could not be started");
    dberrhandle(on_library_error);
    dbmsghandle(on_server_message);
    dbsetmaxprocs(MAX_CONNECTIONS);
    dbsetlogintime((int)setup->login_timeout_s);
    dbsettime((int)setup->statement_timeout_s);
    snprintf(known.ca_file, sizeof known.ca_file, "%s",
             setup->ca_file == NULL ? "" : setup->ca_file);
    known.ready = true;
    return FR_OK;
}

const char *fr_dblib_server_name(const char *server, enum fr_encrypt level)
{
    /* one constant string per server and level, so that the answer needs no memory of its
     * own */
    static const char *const names[MAX_SERVERS][4] = {
        {"fullrack-0-off", "fullrack-0-request", NULL, "fullrack-0-require"},
        {"fullrack-1-off", "fullrack-1-request", NULL, "fullrack-1-require"},
        {"fullrack-2-off", "fullrack-2-request", NULL, "fullrack-2-require"},
        {"fullrack-3-off", "fullrack-3-request", NULL, "fullrack-3-require"},
    };

    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.servers[i], server) == 0)
            return names[i][level];
    return NULL;
}

bool fr_dblib_address(const char *server, char *out, size_t out_bytes)
{
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.servers[i], server) == 0 && known.addresses[i][0] != '\0') {
            snprintf(out, out_bytes, "%s", known.addresses[i]);
            return true;
        }
    return false;
}

bool fr_dblib_is_conf_name(const char *server)
{
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.servers[i], server) == 0)
            return known.in_conf[i];
    return false;
}

fr_status fr_db_sink_error(const struct fr_db_sink *sink, const char *what,
                           struct fr_err *err)
{
    bool lost = sink->dead || sink->timed_out;

    if (sink->server_number != 0) {
        fr_err_set(err, lost ? FR_ELOST : FR_EDB, "%s: %s (server error %d)", what,
                   sink->server_text, sink->server_number);
        if (err != NULL) {
            err->server_number = sink->server_number;
            err->server_line = sink->line > 0 ? sink->line : 0;
        }
        return lost ? FR_ELOST : FR_EDB;
    }
    if (sink->timed_out)
        return fr_err_set(
            err, FR_ELOST,
            "%s: no answer from the server within the time-out (--statement-timeout; "
            "of phases and backups --phase-timeout)",
            what);
    if (sink->library_number != 0 && sink->os_number > 0)
        return fr_err_errno(err, lost ? FR_ELOST : FR_EDB, sink->os_number, "%s: %s",
                            what, sink->library_text);
    if (sink->library_number != 0)
        return fr_err_set(err, lost ? FR_ELOST : FR_EDB, "%s: %s", what,
                          sink->library_text);
    return fr_err_set(err, FR_ELOST, "%s: the connection was lost", what);
}

const char *fr_dblib_version(void)
{
    return dbversion();
}

/* major * 1,000,000 + minor * 1,000 + patch of "freetds v1.3.17"; 0 = cannot be told */
static unsigned long version_number(const char *text)
{
    const char *p = strpbrk(text, "0123456789");
    unsigned long number = 0;

    for (int part = 0; part < 3; part++) {
        char *end = NULL;
        unsigned long n = p == NULL ? 0 : strtoul(p, &end, 10);

        number = number * 1000 + (n > 999 ? 999 : n);
        p = end != NULL && *end == '.' && end[1] >= '0' && end[1] <= '9' ? end + 1 : NULL;
    }
    return number;
}

bool fr_dblib_trims_blanks(const char *version)
{
    unsigned long number = version_number(version);

    return number == 0 || number >= 1004000;
}

bool fr_dblib_skips_xml(const char *version)
{
    return version_number(version) >= 1005003;
}

/*
 * fullrackd - the embedded server: TDS in front, SQLite behind.  It is for
 * demonstrations, tests and dry runs of fullrack, not a replacement for SQL Server.
 */
#include "base/log.h"
#include "server/net/listen.h"
#include "server/net/password.h"
#include "server/tds/tls.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

enum {
    DEFAULT_MAX_SESSIONS = 512,
    DEFAULT_MAX_PENDING = 512,
    DEFAULT_LOGIN_TIMEOUT_S = 30,
    DEFAULT_STALL_TIMEOUT_S = 600,
    DEFAULT_STOP_TIMEOUT_S = 5,
    MAX_TIMEOUT_S = 7 * 86400,
    MAX_PASSWORD_UNITS = 128,                    /* UTF-16: no login sends more */
    MAX_PASSWORD_BYTES = 3 * MAX_PASSWORD_UNITS, /* as UTF-8 */
    /* the most that a session has open: its socket and the files of a few databases */
    SESSION_DESCRIPTORS = 8,
    OWN_DESCRIPTORS = 64
};

struct options {
    struct server_config config;
    const char *password_file, *tls_cert, *tls_key;
    struct tls_credentials *tls; /* owned */
    struct password *hash;       /* owned */
    bool tls_self_signed;
    char host[256];
    /* wiped as soon as it is hashed; room for one byte too many and the line's end */
    char password[MAX_PASSWORD_BYTES + 4];
    char server_name[128];
    char temp_dir[PATH_MAX]; /* made by us, "" when --data is given */
    bool no_password;
    bool done; /* --help, --version */
};

static const char usage[] =
    "Usage: fullrackd [OPTION]...\n"
    "Speak TDS 7.2 to 7.4, understand a subset of T-SQL, keep the data in SQLite files.\n"
    "For demonstrations, tests and dry runs; not a replacement for SQL Server.\n\n"
    "  --listen HOST:PORT      where to listen (default 127.0.0.1:1433; port 0: any free "
    "one,\n"
    "                          see the line \"fullrackd: listening on HOST:PORT\")\n"
    "  --user NAME             the login that may do all (default sa)\n"
    "  --password-file FILE    its password is the first line of FILE; without it, the\n"
    "                          environment's FULLRACKD_PASSWORD\n"
    "  --no-password           let everybody in: only when listening on loopback\n"
    "  --allow-insecure-remote listen elsewhere than on loopback without TLS, or without "
    "a\n"
    "                          password: whoever can reach it reads, or owns, the data\n"
    "  --tls-cert FILE, --tls-key FILE\n"
    "                          certificate and key (PEM): the login is encrypted, and "
    "all the\n"
    "                          rest where the client asks for it\n"
    "  --tls-self-signed       the same with a certificate made at the start\n"
    "  --require-tls           refuse clients that do not encrypt, encrypt everything\n"
    "  --data DIR              where the databases are (default: a temporary folder that "
    "is\n"
    "                          removed at the end)\n"
    "  --schedulers N          schedulers to show and to place work on (default: CPUs; "
    "1..1024)\n"
    "  --max-sessions N        sessions at a time (default 512; 1..32767)\n"
    "  --max-pending N         connections that have not logged in yet (default 512): "
    "one\n"
    "                          more, and the oldest is closed\n"
    "  --login-timeout SECONDS to have logged in, from the connection on (default 30)\n"
    "  --idle-timeout SECONDS  a session without a request ends then, its transaction "
    "is\n"
    "                          rolled back (default 0: never)\n"
    "  --stall-timeout SECONDS a client that stops half-way through a message, or does "
    "not\n"
    "                          take its answer, is cut off then (default 600; 0: never)\n"
    "  --stop-timeout SECONDS  how long SIGTERM lets running requests end (default 5)\n"
    "  --discard               bulk rows are decoded, checked and counted, but not "
    "stored\n"
    "  --backup-root DIR       BACKUP and RESTORE may use files in DIR and below; may be "
    "given\n"
    "                          several times (default: nowhere, both are refused)\n"
    "  --bulk-root DIR         BULK INSERT may read files in DIR and below; may be "
    "given\n"
    "                          several times (default: nowhere, it is refused)\n"
    "  --server-name NAME      what @@SERVERNAME says (default: the host's name)\n"
    "  --log-level LEVEL       error, warning (default), info (sessions), debug\n"
    "  -v, --verbose           --log-level info (twice: debug)\n"
    "      --help, --version   this text; the version\n\n"
    "SIGTERM: no new requests, those that run may end for --stop-timeout; SIGINT, or a "
    "second\n"
    "SIGTERM: at once. Open transactions are rolled back.\n"
    "Exit status: 0 ended by a signal, 1 failure, 2 wrong usage.\n";

enum option_id {
    OPT_LISTEN = 256,
    OPT_USER,
    OPT_PASSWORD_FILE,
    OPT_NO_PASSWORD,
    OPT_TLS_CERT,
    OPT_TLS_KEY,
    OPT_TLS_SELF_SIGNED,
    OPT_REQUIRE_TLS,
    OPT_DATA,
    OPT_SCHEDULERS,
    OPT_MAX_SESSIONS,
    OPT_MAX_PENDING,
    OPT_LOGIN_TIMEOUT,
    OPT_IDLE_TIMEOUT,
    OPT_STALL_TIMEOUT,
    OPT_STOP_TIMEOUT,
    OPT_INSECURE_REMOTE,
    OPT_LOG_LEVEL,
    OPT_DISCARD,
    OPT_BACKUP_ROOT,
    OPT_BULK_ROOT,
    OPT_SERVER_NAME,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"user", required_argument, NULL, OPT_USER},
    {"password-file", required_argument, NULL, OPT_PASSWORD_FILE},
    {"no-password", no_argument, NULL, OPT_NO_PASSWORD},
    {"tls-cert", required_argument, NULL, OPT_TLS_CERT},
    {"tls-key", required_argument, NULL, OPT_TLS_KEY},
    {"tls-self-signed", no_argument, NULL, OPT_TLS_SELF_SIGNED},
    {"require-tls", no_argument, NULL, OPT_REQUIRE_TLS},
    {"data", required_argument, NULL, OPT_DATA},
    {"schedulers", required_argument, NULL, OPT_SCHEDULERS},
    {"max-sessions", required_argument, NULL, OPT_MAX_SESSIONS},
    {"max-pending", required_argument, NULL, OPT_MAX_PENDING},
    {"login-timeout", required_argument, NULL, OPT_LOGIN_TIMEOUT},
    {"idle-timeout", required_argument, NULL, OPT_IDLE_TIMEOUT},
    {"stall-timeout", required_argument, NULL, OPT_STALL_TIMEOUT},
    {"stop-timeout", required_argument, NULL, OPT_STOP_TIMEOUT},
    {"allow-insecure-remote", no_argument, NULL, OPT_INSECURE_REMOTE},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"discard", no_argument, NULL, OPT_DISCARD},
    {"backup-root", required_argument, NULL, OPT_BACKUP_ROOT},
    {"bulk-root", required_argument, NULL, OPT_BULK_ROOT},
    {"server-name", required_argument, NULL, OPT_SERVER_NAME},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static fr_status parse_between(const char *name, const char *text, int min, int max,
                               int *out, struct fr_err *err)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < min || n > max)
        return fr_err_set(err, FR_EARG, "--%s %s: give a number from %d to %d", name,
                          text, min, max);
    *out = (int)n;
    return FR_OK;
}

static fr_status parse_number(const char *name, const char *text, int max, int *out,
                              struct fr_err *err)
{
    return parse_between(name, text, 1, max, out, err);
}

static fr_status parse_seconds(int opt, struct options *o, struct fr_err *err)
{
    struct server_config *c = &o->config;

    switch (opt) {
    case OPT_LOGIN_TIMEOUT:
        return parse_between("login-timeout", optarg, 1, MAX_TIMEOUT_S,
                             &c->login_timeout_s, err);
    case OPT_IDLE_TIMEOUT:
        return parse_between("idle-timeout", optarg, 0, MAX_TIMEOUT_S, &c->idle_timeout_s,
                             err);
    case OPT_STALL_TIMEOUT:
        return parse_between("stall-timeout", optarg, 0, MAX_TIMEOUT_S,
                             &c->stall_timeout_s, err);
    default:
        return parse_between("stop-timeout", optarg, 1, MAX_TIMEOUT_S, &c->stop_timeout_s,
                             err);
    }
}

static fr_status parse_level(const char *text, struct fr_err *err)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};

    for (int i = FR_LOG_ERROR; i <= FR_LOG_DEBUG; i++)
        if (strcmp(text, levels[i]) == 0) {
            fr_log_set_level((enum fr_log_level)i);
            return FR_OK;
        }
    return fr_err_set(err, FR_EARG, "--log-level %s: give error, warning, info or debug",
                      text);
}

/* HOST:PORT, [V6]:PORT, HOST or :PORT */
static fr_status parse_listen(const char *text, struct options *o, struct fr_err *err)
{
    const char *colon = strrchr(text, ':'), *host = text;
    size_t n = colon == NULL ? strlen(text) : (size_t)(colon - text);
    char *end = NULL;
    long port = 1433;

    if (colon != NULL) {
        port = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end != '\0' || port < 0 || port > 65535)
            return fr_err_set(err, FR_EARG,
                              "--listen %s: the port is no number from 0 to 65535", text);
    }
    if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    }
    if (n >= sizeof o->host)
        return fr_err_set(err, FR_EARG, "--listen: the host's name is too long");
    if (n > 0)
        snprintf(o->host, sizeof o->host, "%.*s", (int)n, host);
    o->config.listen_port = (int)port;
    return FR_OK;
}

static fr_status take_option(int opt, struct options *o, struct fr_err *err)
{
    switch (opt) {
    case OPT_LISTEN:
        return parse_listen(optarg, o, err);
    case OPT_USER:
        o->config.user = optarg;
        return FR_OK;
    case OPT_PASSWORD_FILE:
        o->password_file = optarg;
        return FR_OK;
    case OPT_NO_PASSWORD:
        o->no_password = true;
        return FR_OK;
    case OPT_TLS_CERT:
        o->tls_cert = optarg;
        return FR_OK;
    case OPT_TLS_KEY:
        o->tls_key = optarg;
        return FR_OK;
    case OPT_TLS_SELF_SIGNED:
        o->tls_self_signed = true;
        return FR_OK;
    case OPT_REQUIRE_TLS:
        o->config.require_tls = true;
        return FR_OK;
    case OPT_DATA:
        o->config.data_dir = optarg;
        return FR_OK;
    case OPT_SCHEDULERS:
        return parse_number("schedulers", optarg, SERVER_MAX_SCHEDULERS,
                            &o->config.schedulers, err);
    case OPT_MAX_SESSIONS:
        return parse_number("max-sessions", optarg, SERVER_MAX_SESSIONS,
                            &o->config.max_sessions, err);
    case OPT_MAX_PENDING:
        return parse_number("max-pending", optarg, SERVER_MAX_SESSIONS,
                            &o->config.max_pending, err);
    case OPT_LOGIN_TIMEOUT:
    case OPT_IDLE_TIMEOUT:
    case OPT_STALL_TIMEOUT:
    case OPT_STOP_TIMEOUT:
        return parse_seconds(opt, o, err);
    case OPT_INSECURE_REMOTE:
        o->config.insecure_remote = true;
        return FR_OK;
    case OPT_LOG_LEVEL:
        return parse_level(optarg, err);
    case OPT_DISCARD:
        o->config.discard = true;
        return FR_OK;
    case OPT_BACKUP_ROOT:
        return backup_roots_add(&o->config.backup_roots, "--backup-root", optarg, err);
    case OPT_BULK_ROOT:
        return backup_roots_add(&o->config.bulk_roots, "--bulk-root", optarg, err);
    case OPT_SERVER_NAME:
        snprintf(o->server_name, sizeof o->server_name, "%s", optarg);
        return FR_OK;
    case 'v':
        fr_log_set_level(fr_log_get_level() < FR_LOG_INFO ? FR_LOG_INFO : FR_LOG_DEBUG);
        return FR_OK;
    case OPT_HELP:
        fputs(usage, stdout);
        o->done = true;
        return FR_OK;
    case OPT_VERSION:
        puts("fullrackd " PACKAGE_VERSION);
        o->done = true;
        return FR_OK;
    default:
        return fr_err_set(err, FR_EARG, "see fullrackd --help");
    }
}

static void set_defaults(struct options *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    memset(o, 0, sizeof *o);
    snprintf(o->host, sizeof o->host, "127.0.0.1");
    if (gethostname(o->server_name, sizeof o->server_name - 1) != 0)
        snprintf(o->server_name, sizeof o->server_name, "fullrackd");
    o->config.listen_port = 1433;
    o->config.user = "sa";
    o->config.schedulers = cpus < 1                       ? 1
                           : cpus > SERVER_MAX_SCHEDULERS ? SERVER_MAX_SCHEDULERS
                                                          : (int)cpus;
    o->config.max_sessions = DEFAULT_MAX_SESSIONS;
    o->config.max_pending = DEFAULT_MAX_PENDING;
    o->config.login_timeout_s = DEFAULT_LOGIN_TIMEOUT_S;
    o->config.stall_timeout_s = DEFAULT_STALL_TIMEOUT_S;
    o->config.stop_timeout_s = DEFAULT_STOP_TIMEOUT_S;
}

static fr_status parse_options(int argc, char **argv, struct options *o,
                               struct fr_err *err)
{
    fr_status st = FR_OK;
    int opt;

    while (st == FR_OK && !o->done &&
           (opt = getopt_long(argc, argv, "v", long_options, NULL)) != -1)
        st = take_option(opt, o, err);
    if (st == FR_OK && !o->done && optind < argc)
        st = fr_err_set(err, FR_EARG, "%s: no argument is expected; see fullrackd --help",
                        argv[optind]);
    o->config.listen_host = o->host;
    o->config.server_name = o->server_name;
    return st;
}

static fr_status read_password_file(struct options *o, struct fr_err *err)
{
    FILE *f = fopen(o->password_file, "re");
    char *ok;

    if (f == NULL)
        return fr_err_errno(err, FR_EARG, errno, "--password-file %s", o->password_file);
    setvbuf(f, NULL, _IONBF, 0); /* no buffer that keeps it */
    ok = fgets(o->password, sizeof o->password, f);
    fclose(f);
    if (ok == NULL)
        return fr_err_set(err, FR_EARG, "--password-file %s: the file is empty",
                          o->password_file);
    o->password[strcspn(o->password, "\r\n")] = '\0';
    return FR_OK;
}

static size_t utf16_units(const char *utf8)
{
    size_t n = 0;

    for (; *utf8 != '\0'; utf8++)
        n += ((unsigned char)*utf8 & 0xC0) == 0x80 ? 0
             : (unsigned char)*utf8 >= 0xF0        ? 2
                                                   : 1;
    return n;
}

static fr_status hash_password(struct options *o, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (utf16_units(o->password) > MAX_PASSWORD_UNITS)
        st = fr_err_set(err, FR_EARG,
                        "the password is longer than the %d characters that a login can "
                        "send: give a shorter one",
                        MAX_PASSWORD_UNITS);
    else if (o->password[0] == '\0')
        st = fr_err_set(
            err, FR_EARG,
            "no password: set FULLRACKD_PASSWORD, give --password-file FILE, or "
            "--no-password on loopback");
    else
        st = password_hash(o->password, &o->hash, err);
    explicit_bzero(o->password, sizeof o->password);
    o->config.password = o->hash;
    return st;
}

static fr_status find_password(struct options *o, struct fr_err *err)
{
    char *env = getenv("FULLRACKD_PASSWORD");
    fr_status st = FR_OK;

    if (o->password_file != NULL)
        st = read_password_file(o, err);
    else if (env != NULL)
        snprintf(o->password, sizeof o->password, "%s", env);
    if (env != NULL) {
        /* /proc shows the environment as it lies in memory, whatever unsetenv() does */
        explicit_bzero(env, strlen(env));
        unsetenv("FULLRACKD_PASSWORD");
    }
    if (st != FR_OK)
        return st;
    if (!o->no_password)
        return hash_password(o, err);
    explicit_bzero(o->password, sizeof o->password);
    return FR_OK;
}

static fr_status make_credentials(struct options *o, struct fr_err *err)
{
    fr_status st = FR_OK;

    if ((o->tls_cert == NULL) != (o->tls_key == NULL))
        return fr_err_set(err, FR_EARG, "--tls-cert and --tls-key go together");
    if (o->tls_cert != NULL)
        st = tls_credentials_load(o->tls_cert, o->tls_key, &o->tls, err);
    else if (o->tls_self_signed)
        st = tls_credentials_self_signed(o->server_name, &o->tls, err);
    else if (o->config.require_tls)
        return fr_err_set(
            err, FR_EARG,
            "--require-tls needs --tls-cert and --tls-key, or --tls-self-signed");
    o->config.tls = o->tls;
    return st;
}

static fr_status make_data_dir(struct options *o, struct fr_err *err)
{
    const char *tmp = getenv("TMPDIR");

    if (o->config.data_dir != NULL)
        return FR_OK;
    snprintf(o->temp_dir, sizeof o->temp_dir, "%s/fullrackd.XXXXXX",
             tmp == NULL || *tmp == '\0' ? "/tmp" : tmp);
    if (mkdtemp(o->temp_dir) == NULL) {
        fr_err_errno(err, FR_EIO, errno, "%s", o->temp_dir);
        o->temp_dir[0] = '\0';
        return FR_EIO;
    }
    o->config.data_dir = o->temp_dir;
    return FR_OK;
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_data_dir(const struct options *o)
{
    if (o->temp_dir[0] != '\0')
        nftw(o->temp_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* As many open files as are allowed: what a shell gives is too few for all sessions. */
static void raise_descriptors(const struct server_config *c)
{
    struct rlimit files;
    rlim_t wanted = (rlim_t)c->max_sessions * SESSION_DESCRIPTORS +
                    2 * (rlim_t)c->max_pending + OWN_DESCRIPTORS;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    if (files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0)
            getrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur < wanted)
        fr_log(FR_LOG_WARN,
               "%llu files may be open, but --max-sessions %d and --max-pending %d may "
               "take %llu: raise the limit (ulimit -n), or lower these",
               (unsigned long long)files.rlim_cur, c->max_sessions, c->max_pending,
               (unsigned long long)wanted);
}

static fr_status run(struct options *o, struct fr_err *err)
{
    struct server *srv = NULL;
    fr_status st = find_password(o, err);

    if (st == FR_OK)
        raise_descriptors(&o->config);
    if (st == FR_OK)
        st = make_credentials(o, err);
    if (st == FR_OK)
        st = make_data_dir(o, err);
    if (st == FR_OK)
        st = server_new(&o->config, &srv, err);
    if (st == FR_OK)
        st = listen_run(srv, err);
    if (st == FR_EINTR) {
        /* sessions still run in memory that may not be freed: the files are safe as they
         * are */
        fr_log(FR_LOG_WARN, "%s", err->text);
        remove_data_dir(o);
        _exit(0);
    }
    server_free(&srv);
    remove_data_dir(o);
    return st;
}

int main(int argc, char **argv)
{
    struct options *o = malloc(sizeof *o);
    struct fr_err err = {0};
    fr_status st;

    fr_log_hold_standard_streams();
    fr_log_init("fullrackd", FR_LOG_WARN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on files fails the write, not the server */
    /* the password is in memory: no core file of it */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /* databases are in its files, and hashes of passwords */
    umask(S_IRWXG | S_IRWXO);
    if (o == NULL)
        return EXIT_FAILURE;
    set_defaults(o);
    st = parse_options(argc, argv, o, &err);
    if (st == FR_OK && !o->done)
        st = run(o, &err);
    if (st != FR_OK)
        fr_log(FR_LOG_ERROR, "%s", err.text);
    tls_credentials_free(&o->tls);
    password_free(&o->hash);
    backup_roots_free(&o->config.backup_roots);
    backup_roots_free(&o->config.bulk_roots);
    free(o);
    return st == FR_OK ? EXIT_SUCCESS : st == FR_EARG ? 2 : EXIT_FAILURE;
}

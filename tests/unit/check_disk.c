/* Disk tests: matrix, targets, fio's figures, histogram, children. */
#include "disk/child.h"
#include "disk/defaults.h"
#include "disk/fio.h"
#include "disk/sheet.h"
#include "disk/targets.h"
#include "support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define RUN "\"operation\":\"read\",\"access\":\"random\",\"block\":\"8K\""

/* -- matrix -------------------------------------------------------------------------- */

static struct fr_document parsed(const char *text)
{
    struct fr_document d;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_document_parse("m.json", text, &d, &err), FR_OK);
    return d;
}

START_TEST(test_default_matrix)
{
    static const struct {
        const char *operation, *access;
        unsigned kilobytes;
    } want[] = {
        {"read", "random", 8},        {"read", "random", 64},
        {"read", "sequential", 64},   {"read", "sequential", 128},
        {"read", "sequential", 256},  {"read", "sequential", 512},
        {"read", "sequential", 1024}, {"write", "random", 8},
        {"write", "random", 64},      {"write", "sequential", 64},
        {"write", "sequential", 128}, {"write", "sequential", 256},
        {"write", "sequential", 512}, {"write", "sequential", 1024},
    };
    struct fr_document d = parsed(fr_disk_default_matrix);
    struct fr_disk_matrix m;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_disk_matrix_read(&d, &m, &err), FR_OK);
    ck_assert_uint_eq(d.mistake_count, 0);
    ck_assert_uint_eq(m.count, COUNT_OF(want));
    ck_assert_uint_eq(m.file_bytes, UINT64_C(20) << 30);
    for (size_t i = 0; i < m.count; i++) {
        const struct fr_disk_run *run = &m.runs[i];

        ck_assert_str_eq(fr_disk_operations[run->kind.is_write], want[i].operation);
        ck_assert_str_eq(fr_disk_accesses[run->kind.is_random], want[i].access);
        ck_assert_uint_eq(run->kind.block_bytes, want[i].kilobytes * 1024);
        ck_assert_int_eq(run->threads, 8);
        ck_assert_int_eq(run->outstanding, 8);
        ck_assert_int_eq(run->seconds, 120);
        ck_assert_int_eq(run->write_through, run->kind.is_write);
    }
    fr_disk_matrix_free(&m);
    fr_document_free(&d);
}
END_TEST

/* What a matrix says, and what is wrong with it, at which place; NULL: nothing. */
static const struct {
    const char *text;
    size_t runs, line, column;
    const char *mistake;
} matrixes[] = {
    {"{\"runs\":[{" RUN "}]}", 1, 0, 0, NULL},
    {"{\"runs\":[{" RUN ",\"threads\":3,\"seconds\":1,\"outstanding\":2}]}", 1, 0, 0,
     NULL},
    {"{\"runs\":[{\"operation\":[\"read\",\"write\"],\"access\":[\"random\","
     "\"sequential\"],\"block\":[512,\"1M\",8192]}]}",
     12, 0, 0, NULL},
    {"{\"runs\":[{" RUN "}]", 0, 1, 61, "'}' expected near end of file"},
    {"[]", 0, 1, 1, "a matrix is an object, not a list"},
    {"{}", 0, 1, 1, "a matrix needs \"runs\""},
    {"{\"runs\":[]}", 0, 1, 9, "\"runs\" has 0 elements: 1 to 1000"},
    {"{\"runs\":{}}", 0, 1, 9, "\"runs\" takes a list, not an object"},
    {"{\"runs\":[3]}", 0, 1, 10, "a run is an object, not a whole number"},
    {"{\n \"thread\":3,\"runs\":[{" RUN "}]}", 0, 2, 2,
     "a matrix has no \"thread\"; did you mean \"threads\"?"},
    {"{\"runs\":[{" RUN ",\n\"blocks\":1}]}", 0, 2, 1,
     "a run has no \"blocks\"; did you mean \"block\"?"},
    {"{\"runs\":[{" RUN ",\"zzzzz\":1}]}", 0, 1, 61, "a run has no \"zzzzz\""},
    {"{\"runs\":[{" RUN ",\"threads\":0}]}", 0, 1, 71,
     "\"threads\" takes a whole number of 1 to 256"},
    {"{\"runs\":[{" RUN ",\"threads\":\"8\"}]}", 0, 1, 71,
     "\"threads\" takes a whole number of 1 to 256"},
    {"{\"runs\":[{" RUN ",\"seconds\":1.5}]}", 0, 1, 71,
     "\"seconds\" takes a whole number of 1 to 86400"},
    {"{\"runs\":[{" RUN ",\"threads\":256,\"outstanding\":9}]}", 0, 1, 10,
     "256 threads with 9 outstanding I/Os each: at most 2048 together"},
    {"{\"runs\":[{" RUN ",\"write-through\":1}]}", 0, 1, 77,
     "\"write-through\" takes true or false, not a whole number"},
    {"{\"runs\":[{\"operation\":\"erase\",\"access\":\"random\",\"block\":\"8K\"}]}", 0,
     1, 23, "\"operation\" takes \"read\" or \"write\", not \"erase\""},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":[\"random\",7],\"block\":\"8K\"}]}",
     0, 1, 49, "\"access\" takes \"sequential\" or \"random\", not a whole number"},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":\"random\"}]}", 0, 1, 10,
     "a run needs \"block\""},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":\"random\",\"block\":\"8 KB\"}]}", 0,
     1, 56, "\"block\" takes bytes, or a text like \"64K\", not \"8 KB\""},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":\"random\",\"block\":[\"8K\",1000]}]"
     "}",
     0, 1, 62, "\"block\" is a multiple of 512 bytes, 512 to 67108864, not 1000"},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":\"random\",\"block\":-512}]}", 0, 1,
     56, "\"block\" takes bytes, or a text like \"64K\", not a negative number"},
    {"{\"runs\":[{\"operation\":\"read\",\"access\":\"random\",\"block\":[]}]}", 0, 1, 56,
     "\"block\" has 0 elements: 1 to 64"},
    {"{\"file-size\":\"100K\",\"runs\":[{" RUN "}]}", 0, 1, 14,
     "\"file-size\" is a multiple of 1048576 bytes, 1048576 to 1125899906842624, not "
     "102400"},
    {"{\"description\":1,\"runs\":[{" RUN "}]}", 0, 1, 16,
     "\"description\" takes a text, not a whole number"},
    {"{\"runs\":[],\"runs\":[]}", 0, 1, 17, "duplicate object key near '\"runs\"'"},
};

START_TEST(test_matrix)
{
    struct fr_document d = parsed(matrixes[_i].text);
    struct fr_disk_matrix m;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_disk_matrix_read(&d, &m, &err), FR_OK);
    ck_assert_uint_eq(m.count, matrixes[_i].runs);
    ck_assert_uint_eq(d.mistake_count, matrixes[_i].mistake == NULL ? 0 : 1);
    if (matrixes[_i].mistake != NULL) {
        ck_assert_str_eq(d.mistakes[0].text, matrixes[_i].mistake);
        ck_assert_uint_eq(d.mistakes[0].line, matrixes[_i].line);
        ck_assert_uint_eq(d.mistakes[0].column, matrixes[_i].column);
    }
    fr_disk_matrix_free(&m);
    fr_document_free(&d);
}
END_TEST

START_TEST(test_overrides)
{
    struct fr_document d =
        parsed("{\"threads\":2,\"runs\":[{" RUN "},{\"operation\":\"write\",\"access\":"
               "\"sequential\",\"block\":\"1M\",\"threads\":4}]}");
    struct fr_disk_matrix m;
    struct fr_disk_overrides none = {0},
                             some = {.file_bytes = (5 << 20) + 1, .seconds = 7},
                             many = {.outstanding = 1024};
    struct fr_err err = {0};

    ck_assert_int_eq(fr_disk_matrix_read(&d, &m, &err), FR_OK);
    ck_assert_int_eq(fr_disk_matrix_override(&m, &none, &err), FR_OK);
    ck_assert_int_eq(m.runs[0].threads, 2);
    ck_assert_int_eq(m.runs[1].threads, 4);
    ck_assert_int_eq(m.runs[1].seconds, 120);
    ck_assert_int_eq(fr_disk_matrix_override(&m, &some, &err), FR_OK);
    ck_assert_uint_eq(m.file_bytes, 5 << 20);
    ck_assert_int_eq(m.runs[1].seconds, 7);
    ck_assert(fr_disk_matrix_writes(&m));
    /* four threads of a MiB each; without O_DIRECT 32 */
    ck_assert_int_eq(fr_disk_matrix_fits(&m, 4 << 20, true, &err), FR_OK);
    ck_assert_int_eq(fr_disk_matrix_fits(&m, (4 << 20) - 512, true, &err), FR_EARG);
    ck_assert_int_eq(fr_disk_matrix_fits(&m, 31 << 20, false, &err), FR_EARG);
    ck_assert_str_eq(err.text,
                     "a file of 32505856 bytes is too small for 32 threads with "
                     "blocks of 1024 KB");
    ck_assert_int_eq(fr_disk_matrix_override(&m, &many, &err), FR_EARG);
    fr_disk_matrix_free(&m);
    fr_document_free(&d);
}
END_TEST

/* -- fio ----------------------------------------------------------------------------- */

static const struct {
    bool is_write, is_random, is_direct, write_through;
    const char *name, *want; /* all arguments, blanks between */
} arguments[] = {
    {false, true, true, false, "x.dat",
     "fio --output-format=json+ --eta=never --thread --group_reporting --name=run "
     "--allow_file_create=0 --ioengine=libaio --direct=1 --numjobs=3 --iodepth=4 "
     "--rw=randread --bs=65536 --time_based --runtime=9 --readonly --norandommap "
     "--randrepeat=0 --size=1048576 --filename=./x.dat"},
    {true, false, true, true, "pci-0000:00",
     "fio --output-format=json+ --eta=never --thread --group_reporting --name=run "
     "--allow_file_create=0 --ioengine=libaio --direct=1 --numjobs=3 --iodepth=4 "
     "--rw=write --bs=65536 --time_based --runtime=9 --sync=dsync --size=327680 "
     "--offset_increment=327680 --filename=./pci-0000\\:00"},
    {false, false, false, false, "-",
     "fio --output-format=json+ --eta=never --thread --group_reporting --name=run "
     "--allow_file_create=0 --ioengine=psync --direct=0 --numjobs=12 --iodepth=1 "
     "--rw=read --bs=65536 --time_based --runtime=9 --readonly --size=65536 "
     "--offset_increment=65536 --filename=./-"},
};

START_TEST(test_fio_arguments)
{
    struct fr_disk_run run = {.kind = {.is_write = arguments[_i].is_write,
                                       .is_random = arguments[_i].is_random,
                                       .block_bytes = 65536},
                              .write_through = arguments[_i].write_through,
                              .threads = 3,
                              .outstanding = 4,
                              .seconds = 9};
    char name[32], got[2048] = "";
    struct fr_test_file f = {
        .name = name, .bytes = 1 << 20, .is_direct = arguments[_i].is_direct};
    struct fr_fio_arguments a;
    struct fr_err err = {0};
    size_t n = 0;

    snprintf(name, sizeof name, "%s", arguments[_i].name);
    ck_assert_int_eq(fr_fio_arguments_make(&f, &run, &a, &err), FR_OK);
    for (size_t i = 0; a.argv[i] != NULL; i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i == 0 ? "" : " ",
                              a.argv[i]);
    ck_assert_str_eq(got, arguments[_i].want);
}
END_TEST

#define FIO(error, total, bins)                                                          \
    "note: a line in front\n{\"fio version\":\"fio-3.33\",\"jobs\":[{\"error\":" error   \
    ",\"read\":{\"total_ios\":" total                                                    \
    ",\"io_bytes\":819200,\"runtime\":2000,\"iops\":50.5,\"bw_bytes\":409600,"           \
    "\"clat_ns\":{\"min\":14842,\"max\":30000000,\"mean\":1500000.5,\"bins\":" bins      \
    "}}}]}\n"

static const struct {
    const char *text;
    fr_status st;
    const char *says;
} outputs[] = {
    {FIO("0", "100",
         "{\"999999\":90,\"1000000\":5,\"23999999\":3,\"24000000\":1,"
         "\"30015488\":1}"),
     FR_OK, NULL},
    {FIO("28", "100", "{\"1\":1}"), FR_EIO, "fio's job failed: No space left on device"},
    {FIO("0", "0", "{\"1\":1}"), FR_EIO, "not one I/O ended in time"},
    {FIO("0", "-1", "{\"1\":1}"), FR_EPROTO, "fio's JSON: \"total_ios\" is no count"},
    {FIO("0", "1", "{}"), FR_EPROTO,
     "fio's JSON has no latencies: is its version older than 3.0?"},
    {FIO("0", "1", "{\"-5\":1}"), FR_EPROTO, "fio's JSON: \"bins\" has no such \"-5\""},
    {FIO("0", "1", "{\"5\":-1}"), FR_EPROTO, "fio's JSON: \"bins\" has no such \"5\""},
    {"", FR_EPROTO, "fio printed no JSON"},
    {"fio: broken {", FR_EPROTO, "fio printed no JSON"},
    {"{", FR_EPROTO, "fio's JSON: line 1: string or '}' expected near end of file"},
    {"{}", FR_EPROTO, "fio's JSON: \"total_ios\" is no count"},
};

START_TEST(test_fio_result)
{
    json_t *document;
    struct fr_disk_result r;
    struct fr_err err = {0};
    fr_status st =
        fr_disk_fio_document(outputs[_i].text, strlen(outputs[_i].text), &document, &err);

    if (st == FR_OK)
        st = fr_disk_fio_result(document, false, &r, &err);
    ck_assert_int_eq(st, outputs[_i].st);
    if (st != FR_OK) {
        ck_assert_str_eq(err.text, outputs[_i].says);
    } else {
        ck_assert_str_eq(fr_disk_fio_version(document), "fio-3.33");
        ck_assert_uint_eq(r.ios, 100);
        ck_assert_double_eq_tol(r.ios_per_s, 50.5, 1e-9);
        ck_assert_double_eq_tol(r.mb_per_s, 0.4096, 1e-9);
        ck_assert_double_eq_tol(r.min_ms, 0.014842, 1e-9);
        ck_assert_double_eq_tol(r.average_ms, 1.5000005, 1e-9);
        ck_assert_double_eq_tol(r.max_ms, 30, 1e-9);
        ck_assert_uint_eq(r.counts[0], 90);
        ck_assert_uint_eq(r.counts[1], 5);
        ck_assert_uint_eq(r.counts[23], 3);
        ck_assert_uint_eq(r.counts[24], 2);
        ck_assert_double_eq_tol(fr_disk_percent_within(&r, 1), 90, 1e-9);
        ck_assert_double_eq_tol(fr_disk_percent_within(&r, 24), 98, 1e-9);
    }
    json_decref(document);
}
END_TEST

static const struct {
    uint64_t counts[FR_DISK_BUCKETS];
    unsigned want[FR_DISK_BUCKETS], sum;
} histograms[] = {
    {{1}, {100}, 100},
    {{1, 1, 1}, {34, 33, 33}, 100},
    {{0, 999999, 1}, {0, 100, 0}, 100},
    {{995, 3, 2}, {100, 0, 0}, 100},
    {{994, 6}, {99, 1}, 100},
    {{1, 1, 1, 1, 1, 1, 1}, {15, 15, 14, 14, 14, 14, 14}, 100},
    {{UINT64_C(1) << 53, UINT64_C(1) << 53}, {50, 50}, 100},
    {{0}, {0}, 0},
};

START_TEST(test_percents)
{
    unsigned got[FR_DISK_BUCKETS], sum = 0;

    fr_disk_percents(histograms[_i].counts, got);
    for (size_t i = 0; i < FR_DISK_BUCKETS; i++) {
        ck_assert_uint_eq(got[i], histograms[_i].want[i]);
        sum += got[i];
    }
    ck_assert_uint_eq(sum, histograms[_i].sum);
}
END_TEST

START_TEST(test_sheet)
{
    struct fr_disk_result r = {.ios = 4,
                               .ios_per_s = 12345.678,
                               .mb_per_s = 101.135,
                               .min_ms = 0.0148,
                               .average_ms = 0.5,
                               .max_ms = 30,
                               .counts = {[0] = 2, [5] = 1, [24] = 1}};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    fr_disk_sheet_print(&r, f);
    fclose(f);
    ck_assert_str_eq(
        text, "IOs/sec:     12345.68\nMBs/sec:       101.14\n"
              "Min_Latency(ms): 0.015\nAvg_Latency(ms): 0.500\nMax_Latency(ms): 30.000\n"
              "histogram:\n"
              "ms:   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  "
              "17  18  "
              "19  20  21  22  23 24+\n"
              "%:   50"
              "   0   0   0   0  25"
              "   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0"
              "  25\n");
    free(text);
}
END_TEST

/* -- children ------------------------------------------------------------------------ */

/* A script, how it ends, what it prints and says. */
static const struct {
    const char *script;
    uint64_t limit_ms;
    int stop;
    fr_status st;
    int exit_status, signal;
    const char *printed, *messages, *err;
} children[] = {
    {"echo out; echo '  bad  ' >&2; exit 3", 0, 0, FR_OK, 3, 0, "out\n", "bad", ""},
    {"kill -TERM $$", 0, 0, FR_OK, -1, SIGTERM, "", "", ""},
    {"read x || echo none; pwd", 0, 0, FR_OK, 0, 0, "none\n/\n", "", ""},
    {"echo \"$FULLRACK_PASSWORD-$FULLRACKD_PASSWORD-$LC_ALL-$KEPT\"", 0, 0, FR_OK, 0, 0,
     "--C-kept\n", "", ""},
    {"sleep 60", 200, 0, FR_EIO, -1, SIGINT, "", "", "sh did not end within 0 s"},
    /* what it started ends with it, and so do the pipes */
    {"sleep 60 & sleep 60", 200, 0, FR_EIO, -1, SIGINT, "", "",
     "sh did not end within 0 s"},
    {"sleep 60", 0, 1, FR_EINTR, -1, SIGINT, "", "", "interrupted"},
    /* nothing of its own is open: only its end tells */
    {"exec <&- >&- 2>&-; sleep 60", 200, 0, FR_EIO, -1, SIGINT, "", "",
     "sh did not end within 0 s"},
    {"exec <&- >&- 2>&-; sleep 0.3; exit 5", 10000, 0, FR_OK, 5, 0, "", "", ""},
    {"while :; do echo 0123456789; done", 0, 0, FR_EIO, -1, -1, NULL, "",
     "sh prints too much"},
    {"i=0; while [ $i -lt 1000 ]; do echo message $i >&2; i=$((i + 1)); done; exit 1", 0,
     0, FR_OK, 1, 0, "", NULL, ""},
};

START_TEST(test_child)
{
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t)children[_i].script, NULL};
    volatile sig_atomic_t stop = children[_i].stop;
    struct fr_child c = {
        .argv = argv, .folder = "/", .limit_ms = children[_i].limit_ms, .stop = &stop};
    struct fr_child_end end;
    struct fr_buf out;
    struct fr_err err = {0};

    setenv("FULLRACK_PASSWORD", "secret", 1);
    setenv("FULLRACKD_PASSWORD", "secret", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("KEPT", "kept", 1);
    fr_buf_init(&out, 4096);
    ck_assert_int_eq(fr_child_run(&c, &out, &end, &err), children[_i].st);
    ck_assert_str_eq(err.text, children[_i].err);
    ck_assert_int_eq(end.exit_status, children[_i].exit_status);
    if (children[_i].signal >= 0)
        ck_assert_int_eq(end.signal, children[_i].signal);
    if (children[_i].printed != NULL)
        ck_assert_str_eq(fr_buf_text(&out), children[_i].printed);
    if (children[_i].messages != NULL) {
        ck_assert_str_eq(end.messages, children[_i].messages);
    } else {
        /* the last of them */
        ck_assert_uint_ge(strlen(end.messages), FR_CHILD_MESSAGE_BYTES - 2);
        ck_assert_ptr_nonnull(strstr(end.messages, "\nmessage 999"));
        ck_assert_ptr_null(strstr(end.messages, "message 1\n"));
    }
    fr_buf_free(&out);
}
END_TEST

static volatile sig_atomic_t alarmed;

static void on_alarm(int number)
{
    (void)number;
    alarmed = 1;
}

/* Stopped while it lives without its pipes; check's own limit ends a test that hangs. */
START_TEST(test_stop_of_a_silent_child)
{
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t) "exec <&- >&- 2>&-; sleep 60", NULL};
    struct fr_child c = {.argv = argv, .stop = &alarmed};
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    struct fr_child_end end;
    struct fr_buf out;
    struct fr_err err = {0};

    fr_buf_init(&out, 4096);
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
    ck_assert_int_eq(fr_child_run(&c, &out, &end, &err), FR_EINTR);
    ck_assert_int_eq(end.signal, SIGINT);
    fr_buf_free(&out);
}
END_TEST

START_TEST(test_no_such_child)
{
    static const struct {
        const char *program, *folder;
        fr_status st;
    } cases[] = {
        {"fullrack-no-such-program", NULL, FR_EMPTY},
        {"/no/such/program", NULL, FR_EMPTY},
        {"/etc/passwd", NULL, FR_EIO},
        {"sh", "/no/such/folder", FR_EIO},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *argv[] = {(char *)(uintptr_t)cases[i].program, NULL};
        struct fr_child c = {.argv = argv, .folder = cases[i].folder};
        struct fr_child_end end;
        struct fr_buf out;
        struct fr_err err = {0};

        fr_buf_init(&out, 4096);
        ck_assert_int_eq(fr_child_run(&c, &out, &end, &err), cases[i].st);
        ck_assert_uint_eq(err.text[0] != '\0', cases[i].st == FR_EIO);
        fr_buf_free(&out);
    }
}
END_TEST

/* -- targets ------------------------------------------------------------------------- */

START_TEST(test_default_targets)
{
    static const char *const names[] = {"tempdb", "data", "log", "backup"};
    struct fr_document d = parsed(fr_disk_default_targets),
                       of_matrix = parsed(fr_disk_default_matrix);
    struct fr_disk_targets t;
    struct fr_disk_matrix m;
    struct fr_err err = {0};
    char *asked[4];

    ck_assert_int_eq(fr_disk_targets_read(&d, &t, &err), FR_OK);
    ck_assert_int_eq(fr_disk_matrix_read(&of_matrix, &m, &err), FR_OK);
    ck_assert_uint_eq(d.mistake_count, 0);
    ck_assert_uint_eq(t.count, COUNT_OF(names));
    for (size_t i = 0; i < t.count; i++) {
        ck_assert_str_eq(t.items[i].name, names[i]);
        asked[i] = (char *)(uintptr_t)names[i];
    }
    /* the matrix that is built in measures all that they ask */
    ck_assert_int_eq(fr_disk_targets_choose(&t, asked, 4, &m, &err), FR_OK);
    fr_disk_matrix_free(&m);
    fr_disk_targets_free(&t);
    fr_document_free(&of_matrix);
    fr_document_free(&d);
}
END_TEST

static const struct {
    const char *text;
    size_t line, column;
    const char *mistake;
} target_files[] = {
    {"{\"targets\":{\"a\":[{" RUN ",\"average-ms\":2}]}}", 0, 0, NULL},
    {"{\"targets\":{}}", 1, 12,
     "\"targets\" takes an object of 1 to 100 targets: \"data\": [rules]"},
    {"{\"targets\":{\"a\":{}}}", 1, 17, "a target is a list of rules, not an object"},
    {"{\"targets\":{\"a\":[{" RUN "}]}}", 1, 18,
     "a rule needs a limit: \"average-ms\", \"max-ms\", \"ios-per-s\", \"mb-per-s\" or "
     "\"within\""},
    {"{\"targets\":{\"a\":[{" RUN ",\"averge-ms\":2,\"max-ms\":1}]}}", 1, 69,
     "a rule has no \"averge-ms\"; did you mean \"average-ms\"?"},
    {"{\"targets\":{\"a\":[{" RUN ",\"max-ms\":0,\"mb-per-s\":1}]}}", 1, 78,
     "\"max-ms\" takes a number above 0, at most 1000000"},
    {"{\"targets\":{\"a\":[{" RUN ",\"within\":{\"ms\":25,\"percent\":9}}]}}", 1, 84,
     "\"ms\" takes a whole number of 1 to 24"},
    {"{\"targets\":{\"a\":[{" RUN ",\"within\":{\"ms\":2}}]}}", 1, 78,
     "\"within\" needs \"percent\""},
    {"{\"target\":{}}", 1, 2,
     "a file of targets has no \"target\"; did you mean "
     "\"targets\"?"},
};

START_TEST(test_target_files)
{
    struct fr_document d = parsed(target_files[_i].text);
    struct fr_disk_targets t;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_disk_targets_read(&d, &t, &err), FR_OK);
    ck_assert_uint_eq(t.count, target_files[_i].mistake == NULL ? 1 : 0);
    if (target_files[_i].mistake != NULL) {
        fr_document_sort_mistakes(&d);
        ck_assert_uint_ge(d.mistake_count, 1);
        for (size_t i = 0; i < d.mistake_count; i++)
            if (strcmp(d.mistakes[i].text, target_files[_i].mistake) == 0) {
                ck_assert_uint_eq(d.mistakes[i].line, target_files[_i].line);
                ck_assert_uint_eq(d.mistakes[i].column, target_files[_i].column);
                fr_document_free(&d);
                return;
            }
        ck_abort_msg("%s: said %s", target_files[_i].mistake, d.mistakes[0].text);
    }
    fr_disk_targets_free(&t);
    fr_document_free(&d);
}
END_TEST

/* Figures of two runs, the worse of which decides; what the limits make of them. */
static const struct {
    const char *limit;
    const char *state, *figure;
    double got;
} judged[] = {
    {"\"average-ms\":2", "met", "average_ms", 2},
    {"\"average-ms\":1.9", "missed", "average_ms", 2},
    {"\"max-ms\":9.9", "missed", "max_ms", 10},
    {"\"ios-per-s\":100", "met", "ios_per_s", 100},
    {"\"ios-per-s\":101", "missed", "ios_per_s", 100},
    {"\"mb-per-s\":1", "missed", "mb_per_s", 0.5},
    {"\"within\":{\"ms\":2,\"percent\":50}", "met", "percent_within_2_ms", 50},
    {"\"within\":{\"ms\":1,\"percent\":50.5}", "missed", "percent_within_1_ms", 50},
};

START_TEST(test_verdict)
{
    static const struct fr_disk_run runs[] = {
        {.kind = {.is_random = true, .block_bytes = 8192}, .threads = 1},
        {.kind = {.is_random = true, .block_bytes = 8192}, .threads = 8},
        {.kind = {.is_random = true, .block_bytes = 65536}, .threads = 1}};
    static const struct fr_disk_result results[] = {
        {.average_ms = 1, .max_ms = 5, .ios_per_s = 100, .mb_per_s = 2, .counts = {9, 1}},
        {.average_ms = 2,
         .max_ms = 10,
         .ios_per_s = 900,
         .mb_per_s = 0.5,
         .counts = {1, 0, 1}},
        {.average_ms = 99, .max_ms = 99, .counts = {[24] = 1}}};
    char text[512];
    struct fr_document d;
    struct fr_disk_targets t;
    struct fr_err err = {0};
    json_t *verdict, *target, *rule;

    snprintf(text, sizeof text,
             "{\"targets\":{\"a\":[{" RUN ",%s}],\"b\":[{\"operation\":\"write\","
             "\"access\":\"random\",\"block\":\"8K\",\"average-ms\":1}]}}",
             judged[_i].limit);
    d = parsed(text);
    ck_assert_int_eq(fr_disk_targets_read(&d, &t, &err), FR_OK);
    ck_assert_uint_eq(d.mistake_count, 0);
    verdict = fr_disk_verdict(&t, runs, results, 3);
    target = json_array_get(verdict, 0);
    ck_assert_str_eq(json_string_value(json_object_get(target, "state")),
                     judged[_i].state);
    rule = json_array_get(json_object_get(target, "rules"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(rule, "figure")),
                     judged[_i].figure);
    ck_assert_double_eq_tol(json_real_value(json_object_get(rule, "got")), judged[_i].got,
                            1e-9);
    target = json_array_get(verdict, 1);
    ck_assert_str_eq(json_string_value(json_object_get(target, "state")), "not measured");
    rule = json_array_get(json_object_get(target, "rules"), 0);
    ck_assert(json_is_null(json_object_get(rule, "got")));
    json_decref(verdict);
    fr_disk_targets_free(&t);
    fr_document_free(&d);
}
END_TEST

START_TEST(test_choice)
{
    static const char text[] =
        "{\"targets\":{\"a\":[{" RUN ",\"max-ms\":1}],\"b\":[{" RUN
        ",\"max-ms\":2}],\"c\":[{\"operation\":\"write\",\"access\":"
        "\"random\",\"block\":\"8K\",\"max-ms\":1}]}}";
    static const struct {
        const char *names[3];
        size_t count;
        fr_status st;
        const char *says;
    } choices[] = {
        {{"b", "b"}, 2, FR_OK, NULL},
        {{"a", "z"}, 2, FR_EARG, "there is no target z (there are a, b, c)"},
        {{"c"}, 1, FR_EARG, "target c: the matrix has no run write random 8 KB"},
    };
    struct fr_document of_matrix = parsed("{\"runs\":[{" RUN "}]}");
    struct fr_disk_matrix m;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_disk_matrix_read(&of_matrix, &m, &err), FR_OK);
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        struct fr_document d = parsed(text);
        struct fr_disk_targets t;
        char *names[3] = {(char *)(uintptr_t)choices[i].names[0],
                          (char *)(uintptr_t)choices[i].names[1], NULL};

        ck_assert_int_eq(fr_disk_targets_read(&d, &t, &err), FR_OK);
        ck_assert_int_eq(fr_disk_targets_choose(&t, names, choices[i].count, &m, &err),
                         choices[i].st);
        if (choices[i].says != NULL) {
            ck_assert_str_eq(err.text, choices[i].says);
        } else {
            ck_assert_uint_eq(t.count, 1);
            ck_assert_str_eq(t.items[0].name, "b");
        }
        fr_disk_targets_free(&t);
        fr_document_free(&d);
    }
    fr_disk_matrix_free(&m);
    fr_document_free(&of_matrix);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("disk");
    TCase *tc = tcase_create("io");

    tcase_add_test(tc, test_default_matrix);
    tcase_add_loop_test(tc, test_matrix, 0, COUNT_OF(matrixes));
    tcase_add_test(tc, test_overrides);
    tcase_add_loop_test(tc, test_fio_arguments, 0, COUNT_OF(arguments));
    tcase_add_loop_test(tc, test_fio_result, 0, COUNT_OF(outputs));
    tcase_add_loop_test(tc, test_percents, 0, COUNT_OF(histograms));
    tcase_add_test(tc, test_sheet);
    tcase_add_loop_test(tc, test_child, 0, COUNT_OF(children));
    tcase_add_test(tc, test_stop_of_a_silent_child);
    tcase_add_test(tc, test_no_such_child);
    tcase_add_test(tc, test_default_targets);
    tcase_add_loop_test(tc, test_target_files, 0, COUNT_OF(target_files));
    tcase_add_loop_test(tc, test_verdict, 0, COUNT_OF(judged));
    tcase_add_test(tc, test_choice);
    suite_add_tcase(s, tc);
    return suite_run(s);
}

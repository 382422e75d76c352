#include "stats/pace.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Parts of the tasks' time from which on a CPU counts as busy, and a wait as what counts.
 */
#define IS_BUSY 0.7
#define IS_MUCH 0.3

struct rule {
    const char *sentence, *next;
};

static const struct rule idle = {"No task took any time", ""};
static const struct rule client_cpu = {
    "The clients' CPUs set the pace",
    "More workers on more CPUs, or a second host; --engine wire takes less CPU than bcp; "
    "unpacking (.gz) costs most where it is done."};
static const struct rule rate = {"--rate set the pace", "A higher --rate."};
static const struct rule reading = {"Reading the files set the pace",
                                    "Files on more or faster disks, and more workers "
                                    "that read at once; a pipe is as fast as "
                                    "who writes to it."};
static const struct rule server_cpu = {
    "The server's CPUs set the pace",
    "More schedulers (rows of scheduler_use); no indexes, triggers and compression on "
    "the "
    "target while it is loaded (`fullrack load --dry-run` names them)."};
static const struct rule sending = {
    "The server, or the network to it, took rows more slowly than they came",
    "`fullrack waits` and `fullrack vfs` say what the server waits for; a larger -a; the "
    "network's rate."};
static const struct rule answers = {
    "The ends of batches set the pace: the server's copy and commit",
    "Larger batches (-b); the log's disk (`fullrack vfs`, WRITELOG in `fullrack "
    "waits`)."};
static const struct rule rows_wanted = {
    "The server waited for rows",
    "Neither its CPUs nor the clients' are busy: reading the files, the network or "
    "--rate "
    "sets the pace. More workers, and files on more disks."};
static const struct rule server_waits = {"The server's waits set the pace",
                                         "`fullrack waits` and `fullrack vfs` say what "
                                         "it waits for and where: log (WRITELOG), "
                                         "pages (PAGEIOLATCH, PAGELATCH), locks (LCK)."};
static const struct rule nothing = {"Nothing was busy most of the time",
                                    "Small tasks cost most by their beginnings and ends: "
                                    "fewer, larger files or batches."};

static double part(double ms, const struct fr_pace *p)
{
    return ms > 0 && p->busy_ms > 0 ? ms / p->busy_ms : 0;
}

/* The largest of what a worker can only wait for. */
static const struct rule *largest_wait(const struct fr_pace *p)
{
    const struct {
        double ms;
        const struct rule *rule;
    } waits[] = {{p->rate_ms, &rate},
                 {p->read_ms, &reading},
                 {p->send_ms, &sending},
                 {p->answer_ms, &answers}};
    size_t most = 0;

    for (size_t i = 1; i < sizeof waits / sizeof waits[0]; i++)
        if (waits[i].ms > waits[most].ms)
            most = i;
    return part(waits[most].ms, p) >= IS_MUCH ? waits[most].rule : NULL;
}

static const struct rule *judge(const struct fr_pace *p)
{
    const struct rule *waited = largest_wait(p);

    if (p->busy_ms <= 0)
        return &idle;
    if (part(p->client_cpu_ms, p) >= IS_BUSY)
        return &client_cpu;
    if (waited == &rate || waited == &reading)
        return waited;
    if (part(p->server_cpu_ms, p) >= IS_BUSY)
        return &server_cpu;
    if (waited != NULL)
        return waited;
    if (p->wait != NULL && part(p->wait_ms, p) >= IS_MUCH)
        return strcmp(p->wait, "ASYNC_NETWORK_IO") == 0 ? &rows_wanted : &server_waits;
    return &nothing;
}

static size_t add_part(char *out, size_t at, const char *what, double ms,
                       const struct fr_pace *p)
{
    if (ms < 0 || at >= FR_PACE_TEXT_BYTES)
        return at;
    return at + (size_t)snprintf(out + at, FR_PACE_TEXT_BYTES - at, ", %s %.0f %%", what,
                                 part(ms, p) * 100);
}

void fr_pace_add(double *sum, double ms)
{
    if (ms >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + ms;
}

void fr_pace_judge(const struct fr_pace *p, struct fr_pace_verdict *out)
{
    const struct rule *rule = judge(p);
    size_t at;

    out->next = rule->next;
    at = (size_t)snprintf(out->sentence, FR_PACE_TEXT_BYTES, "%s", rule->sentence);
    if (p->busy_ms > 0) {
        at += (size_t)snprintf(out->sentence + at, FR_PACE_TEXT_BYTES - at,
                               ": of the tasks' time the client's CPU was busy %.0f %%",
                               part(p->client_cpu_ms, p) * 100);
        at = add_part(out->sentence, at, "the server's", p->server_cpu_ms, p);
        at = add_part(out->sentence, at, "reading took", p->read_ms, p);
        at = add_part(out->sentence, at, "waiting to send", p->send_ms, p);
        at = add_part(out->sentence, at, "ends of batches", p->answer_ms, p);
        if (p->rate_ms > 0)
            at = add_part(out->sentence, at, "--rate", p->rate_ms, p);
        if (p->wait != NULL && at < FR_PACE_TEXT_BYTES)
            at += (size_t)snprintf(out->sentence + at, FR_PACE_TEXT_BYTES - at,
                                   "; the server's longest wait was %s", p->wait);
    }
    if (at < FR_PACE_TEXT_BYTES - 1)
        snprintf(out->sentence + at, FR_PACE_TEXT_BYTES - at, ".");
}

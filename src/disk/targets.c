#include "disk/targets.h"

#include "disk/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct fr_disk_kinds kinds; /* first: parsers of kinds.h fill it */
    struct fr_disk_rule limits;
};

struct reader {
    struct fr_disk_targets *t;
    bool no_memory;
};

static void take_average(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into)
{
    (void)fr_member_positive(d, v, at, 1e6, &((struct entry *)into)->limits.average_ms);
}

static void take_max(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     void *into)
{
    (void)fr_member_positive(d, v, at, 1e6, &((struct entry *)into)->limits.max_ms);
}

static void take_ios(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     void *into)
{
    (void)fr_member_positive(d, v, at, 1e12, &((struct entry *)into)->limits.ios_per_s);
}

static void take_mb(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    void *into)
{
    (void)fr_member_positive(d, v, at, 1e12, &((struct entry *)into)->limits.mb_per_s);
}

static void take_within_ms(struct fr_document *d, json_t *v,
                           const struct fr_json_path *at, void *into)
{
    static const struct fr_member_range range = {1, 1, FR_DISK_BUCKETS - 1};

    (void)fr_member_whole(d, v, at, &range, &((struct entry *)into)->limits.within_ms);
}

static void take_within_percent(struct fr_document *d, json_t *v,
                                const struct fr_json_path *at, void *into)
{
    (void)fr_member_positive(d, v, at, 100,
                             &((struct entry *)into)->limits.within_percent);
}

static void take_within(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        void *into)
{
    static const struct fr_member members[] = {{"ms", true, take_within_ms},
                                               {"percent", true, take_within_percent}};
    static const struct fr_members table = {"\"within\"", members,
                                            sizeof members / sizeof members[0]};

    fr_members_take(d, v, at, &table, into);
}

static bool add_rule(struct fr_disk_target *t, const struct fr_disk_rule *rule)
{
    struct fr_disk_rule *grown = realloc(t->rules, (t->count + 1) * sizeof *grown);

    if (grown == NULL)
        return false;
    t->rules = grown;
    grown[t->count++] = *rule;
    return true;
}

static void take_rule(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                      void *into)
{
    static const struct fr_member members[] = {
        {"operation", true, fr_disk_take_operation},
        {"access", true, fr_disk_take_access},
        {"block", true, fr_disk_take_block},
        {"average-ms", false, take_average},
        {"max-ms", false, take_max},
        {"ios-per-s", false, take_ios},
        {"mb-per-s", false, take_mb},
        {"within", false, take_within},
        {"description", false, fr_member_remark},
    };
    static const struct fr_members table = {"a rule", members,
                                            sizeof members / sizeof members[0]};
    struct reader *r = into;
    struct fr_disk_target *target = &r->t->items[r->t->count - 1];
    struct entry e = {.kinds = {.block_count = 0}};
    struct fr_disk_rule rule;

    fr_members_take(d, v, at, &table, &e);
    rule = e.limits;
    if (json_is_object(v) && rule.average_ms <= 0 && rule.max_ms <= 0 &&
        rule.ios_per_s <= 0 && rule.mb_per_s <= 0 && rule.within_ms == 0)
        fr_document_blame(d, at,
                          "a rule needs a limit: \"average-ms\", \"max-ms\", "
                          "\"ios-per-s\", \"mb-per-s\" or \"within\"");
    for (size_t i = 0; fr_disk_kinds_at(&e.kinds, i, &rule.kind); i++) {
        if (target->count >= FR_DISK_MAX_RULES) {
            fr_document_blame(d, at, "these are more than %d rules", FR_DISK_MAX_RULES);
            return;
        }
        r->no_memory = r->no_memory || !add_rule(target, &rule);
    }
}

static void take_target(struct fr_document *d, const char *name, json_t *v,
                        const struct fr_json_path *at, struct reader *r)
{
    static const struct fr_member_list rules = {FR_DISK_MAX_RULES, take_rule};
    struct fr_disk_target *grown =
        realloc(r->t->items, (r->t->count + 1) * sizeof *grown);

    if (grown == NULL) {
        r->no_memory = true;
        return;
    }
    r->t->items = grown;
    grown[r->t->count++] = (struct fr_disk_target){.name = name};
    if (!json_is_array(v))
        fr_document_blame(d, at, "a target is a list of rules, not %s", fr_json_kind(v));
    else
        fr_member_each(d, v, at, &rules, r);
}

static void take_targets(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into)
{
    const char *name;
    json_t *rules;

    if (!json_is_object(v) || json_object_size(v) == 0 ||
        json_object_size(v) > FR_DISK_MAX_TARGETS) {
        fr_document_blame(d, at,
                          "\"targets\" takes an object of 1 to %d targets: \"data\": "
                          "[rules]",
                          FR_DISK_MAX_TARGETS);
        return;
    }
    json_object_foreach(v, name, rules)
    {
        struct fr_json_path inner = {.parent = at, .key = name};

        take_target(d, name, rules, &inner, into);
    }
}

fr_status fr_disk_targets_read(struct fr_document *d, struct fr_disk_targets *out,
                               struct fr_err *err)
{
    static const struct fr_member members[] = {
        {"targets", true, take_targets},
        {"description", false, fr_member_remark},
        {"$schema", false, fr_member_remark},
    };
    static const struct fr_members table = {"a file of targets", members,
                                            sizeof members / sizeof members[0]};
    struct reader r = {.t = out};

    *out = (struct fr_disk_targets){.count = 0};
    if (d->root == NULL)
        return FR_OK;
    fr_members_take(d, d->root, NULL, &table, &r);
    if (d->mistake_count > 0 || r.no_memory)
        fr_disk_targets_free(out);
    return r.no_memory ? fr_err_set(err, FR_ENOMEM, "no memory for the targets") : FR_OK;
}

void fr_disk_targets_free(struct fr_disk_targets *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->items[i].rules);
    free(t->items);
    t->items = NULL;
    t->count = 0;
}

/* -- which are asked for ------------------------------------------------------------- */

static bool is_same_kind(const struct fr_disk_kind *a, const struct fr_disk_kind *b)
{
    return a->is_write == b->is_write && a->is_random == b->is_random &&
           a->block_bytes == b->block_bytes;
}

static fr_status check_measured(const struct fr_disk_target *t,
                                const struct fr_disk_matrix *m, struct fr_err *err)
{
    char block[FR_DISK_BLOCK_TEXT_BYTES];

    for (size_t i = 0; i < t->count; i++) {
        const struct fr_disk_kind *k = &t->rules[i].kind;
        size_t run = 0;

        while (run < m->count && !is_same_kind(k, &m->runs[run].kind))
            run++;
        if (run == m->count)
            return fr_err_set(err, FR_EARG, "target %s: the matrix has no run %s %s %s",
                              t->name, fr_disk_operations[k->is_write],
                              fr_disk_accesses[k->is_random],
                              fr_disk_block_text(k->block_bytes, block));
    }
    return FR_OK;
}

static fr_status no_such_target(const struct fr_disk_targets *t, const char *name,
                                struct fr_err *err)
{
    char names[512] = "";
    size_t n = 0;

    for (size_t i = 0; i < t->count && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i == 0 ? "" : ", ",
                              t->items[i].name);
    return fr_err_set(err, FR_EARG, "there is no target %s (there are %s)", name, names);
}

fr_status fr_disk_targets_choose(struct fr_disk_targets *t, char *const *names,
                                 size_t name_count, const struct fr_disk_matrix *m,
                                 struct fr_err *err)
{
    fr_status st = FR_OK;
    size_t chosen = 0;

    for (size_t i = 0; st == FR_OK && i < name_count; i++) {
        size_t at = 0;

        while (at < t->count && strcmp(t->items[at].name, names[i]) != 0)
            at++;
        if (at == t->count) {
            st = no_such_target(t, names[i], err);
        } else if (at >= chosen) { /* else it was named before */
            struct fr_disk_target swapped = t->items[chosen];

            t->items[chosen] = t->items[at];
            t->items[at] = swapped;
            st = check_measured(&t->items[chosen++], m, err);
        }
    }
    for (size_t i = chosen; i < t->count; i++)
        free(t->items[i].rules);
    t->count = chosen;
    return st;
}

/* -- the verdict --------------------------------------------------------------------- */

static double average_of(const struct fr_disk_result *r, const struct fr_disk_rule *rule)
{
    (void)rule;
    return r->average_ms;
}

static double max_of(const struct fr_disk_result *r, const struct fr_disk_rule *rule)
{
    (void)rule;
    return r->max_ms;
}

static double ios_of(const struct fr_disk_result *r, const struct fr_disk_rule *rule)
{
    (void)rule;
    return r->ios_per_s;
}

static double mb_of(const struct fr_disk_result *r, const struct fr_disk_rule *rule)
{
    (void)rule;
    return r->mb_per_s;
}

static double within_of(const struct fr_disk_result *r, const struct fr_disk_rule *rule)
{
    return fr_disk_percent_within(r, (unsigned)rule->within_ms);
}

static const struct limit {
    const char *figure; /* %d: within_ms */
    size_t field;
    bool is_maximum;
    double (*get)(const struct fr_disk_result *r, const struct fr_disk_rule *rule);
} limits[] = {
    {"average_ms", offsetof(struct fr_disk_rule, average_ms), true, average_of},
    {"max_ms", offsetof(struct fr_disk_rule, max_ms), true, max_of},
    {"ios_per_s", offsetof(struct fr_disk_rule, ios_per_s), false, ios_of},
    {"mb_per_s", offsetof(struct fr_disk_rule, mb_per_s), false, mb_of},
    {"percent_within_%d_ms", offsetof(struct fr_disk_rule, within_percent), false,
     within_of},
};
enum { LIMITS = sizeof limits / sizeof limits[0] };

struct measured {
    const struct fr_disk_run *runs;
    const struct fr_disk_result *results;
    size_t count;
};

/* false: no run measured it. */
static bool worst_of(const struct measured *m, const struct fr_disk_rule *rule,
                     const struct limit *l, double *out)
{
    bool found = false;

    for (size_t i = 0; i < m->count; i++) {
        double got;

        if (!is_same_kind(&m->runs[i].kind, &rule->kind))
            continue;
        got = l->get(&m->results[i], rule);
        if (!found || (l->is_maximum ? got > *out : got < *out))
            *out = got;
        found = true;
    }
    return found;
}

static json_t *judge(const struct measured *m, const struct fr_disk_rule *rule,
                     const struct limit *l, const char **state)
{
    double wanted = *(const double *)(const void *)((const char *)rule + l->field);
    double got = 0;
    char figure[40];
    bool known = worst_of(m, rule, l, &got);

    if (!known)
        *state = "not measured";
    else
        *state = (l->is_maximum ? got <= wanted : got >= wanted) ? "met" : "missed";
    if (l->get == within_of)
        snprintf(figure, sizeof figure, "percent_within_%d_ms", (int)rule->within_ms);
    else
        snprintf(figure, sizeof figure, "%s", l->figure);
    return json_pack("{s:s, s:s, s:I, s:s, s:b, s:f, s:o, s:s}", "operation",
                     fr_disk_operations[rule->kind.is_write], "access",
                     fr_disk_accesses[rule->kind.is_random], "block_bytes",
                     (json_int_t)rule->kind.block_bytes, "figure", figure, "is_maximum",
                     l->is_maximum ? 1 : 0, "wanted", wanted, "got",
                     known ? json_real(got) : json_null(), "state", *state);
}

static json_t *judge_target(const struct fr_disk_target *t, const struct measured *m)
{
    json_t *rules = json_array();
    const char *state = "met", *one;

    for (size_t i = 0; rules != NULL && i < t->count; i++)
        for (size_t k = 0; k < LIMITS; k++) {
            const struct fr_disk_rule *rule = &t->rules[i];

            if (*(const double *)(const void *)((const char *)rule + limits[k].field) <=
                0)
                continue;
            if (json_array_append_new(rules, judge(m, rule, &limits[k], &one)) != 0) {
                json_decref(rules);
                return NULL;
            }
            if (strcmp(one, "missed") == 0 ||
                (strcmp(one, "met") != 0 && strcmp(state, "met") == 0))
                state = one;
        }
    return json_pack("{s:s, s:s, s:o}", "name", t->name, "state", state, "rules", rules);
}

json_t *fr_disk_verdict(const struct fr_disk_targets *t, const struct fr_disk_run *runs,
                        const struct fr_disk_result *results, size_t count)
{
    struct measured m = {.runs = runs, .results = results, .count = count};
    json_t *out = json_array();

    for (size_t i = 0; out != NULL && i < t->count; i++)
        if (json_array_append_new(out, judge_target(&t->items[i], &m)) != 0) {
            json_decref(out);
            out = NULL;
        }
    return out;
}

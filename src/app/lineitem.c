#include "app/lineitem.h"

#include <stdio.h>
#include <string.h>

enum {
    ROWS_PER_SCALE = 6000000,
    PARTS_PER_SCALE = 200000,
    SUPPLIERS_PER_SCALE = 10000,
    FIRST_ORDER_DATE = 8035, /* 1992-01-01 */
    LAST_ORDER_DATE = 10440, /* 1998-08-02: 151 days before the last date */
    CURRENT_DATE = 9298,     /* 1995-06-17 */
    MIN_COMMENT = 10,
    MAX_COMMENT = 43
};

static const char *const instructions[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE",
                                           "TAKE BACK RETURN"};
static const char *const modes[] = {"REG AIR", "AIR",  "RAIL", "SHIP",
                                    "TRUCK",   "MAIL", "FOB"};
static const char *const words[] = {
    "furiously",   "quickly",
    "carefully",   "blithely",
    "slyly",       "final",
    "pending",     "ironic",
    "express",     "regular",
    "special",     "bold",
    "silent",      "even",
    "unusual",     "deposits",
    "packages",    "requests",
    "accounts",    "foxes",
    "ideas",       "theodolites",
    "pinto beans", "instructions",
    "platelets",   "asymptotes",
    "sleep",       "wake",
    "nag",         "haggle",
    "cajole",      "detect",
    "integrate",   "boost",
    "about the",   "above the",
    "among the",   "according to the",
    "after the",   "across the",
};

/* splitmix64 */
static uint64_t next_random(struct lineitem_generator *g)
{
    uint64_t z = (g->random += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* low..high */
static uint64_t between(struct lineitem_generator *g, uint64_t low, uint64_t high)
{
    return low + next_random(g) % (high - low + 1);
}

static void begin_order(struct lineitem_generator *g)
{
    g->random = g->seed * UINT64_C(0xd1342543de82ef95) + g->order;
    g->lines = (unsigned)between(g, 1, 7);
    g->line = 0;
    g->order_date = (int32_t)between(g, FIRST_ORDER_DATE, LAST_ORDER_DATE);
}

void lineitem_init(struct lineitem_generator *g, uint64_t seed, uint64_t total_rows)
{
    memset(g, 0, sizeof *g);
    g->seed = seed;
    g->total_rows = total_rows;
    begin_order(g);
}

static uint64_t scaled(uint64_t per_scale, uint64_t total_rows)
{
    uint64_t n = per_scale * total_rows / ROWS_PER_SCALE;

    return n < 10 ? 10 : n;
}

static const char *date_text(int32_t days, char out[11])
{
    /* civil date from days since 1970-01-01, years 1992..1999 */
    int32_t z = days + 719468;
    int32_t era = z / 146097;
    int32_t doe = z - era * 146097;
    int32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int32_t mp = (5 * doy + 2) / 153;
    int32_t month = mp < 10 ? mp + 3 : mp - 9;
    unsigned year = (unsigned)(yoe + era * 400 + (month <= 2 ? 1 : 0)) % 10000;

    snprintf(out, 11, "%04u-%02u-%02u", year, (unsigned)month % 100,
             (unsigned)(doy - (153 * mp + 2) / 5 + 1) % 100);
    return out;
}

static const char *comment_text(struct lineitem_generator *g, char out[MAX_COMMENT + 1])
{
    size_t length = between(g, MIN_COMMENT, MAX_COMMENT), n = 0;

    while (n < length) {
        const char *word = words[next_random(g) % (sizeof words / sizeof words[0])];

        for (; *word != '\0' && n < length; word++)
            out[n++] = *word;
        if (n < length)
            out[n++] = ' ';
    }
    /* a blank at the end would be at the mercy of whoever trims */
    if (n > 0 && out[n - 1] == ' ')
        out[n - 1] = '.';
    out[n] = '\0';
    return out;
}

size_t lineitem_next(struct lineitem_generator *g, char out[LINEITEM_ROW_MAX_BYTES])
{
    uint64_t parts = scaled(PARTS_PER_SCALE, g->total_rows),
             suppliers = scaled(SUPPLIERS_PER_SCALE, g->total_rows);
    uint64_t part, supplier, quantity, price, order_key, discount, tax;
    int32_t ship, commit, receipt;
    char ship_text[11], commit_text[11], receipt_text[11], comment[MAX_COMMENT + 1];
    const char *flag, *instruct, *mode;
    int n;

    if (g->line == g->lines) {
        g->order++;
        begin_order(g);
    }
    g->line++;
    /* order keys are sparse: the first 8 of each 32 */
    order_key = (g->order / 8) * 32 + g->order % 8 + 1;
    part = between(g, 1, parts);
    supplier =
        (part + between(g, 0, 3) * (suppliers / 4 + (part - 1) / suppliers)) % suppliers +
        1;
    quantity = between(g, 1, 50);
    price = quantity * (90000 + (part / 10) % 20001 + 100 * (part % 1000)); /* cents */
    discount = between(g, 0, 10);
    tax = between(g, 0, 8);
    ship = g->order_date + (int32_t)between(g, 1, 121);
    commit = g->order_date + (int32_t)between(g, 30, 90);
    receipt = ship + (int32_t)between(g, 1, 30);
    flag = receipt > CURRENT_DATE ? "N" : between(g, 0, 1) == 0 ? "R" : "A";
    instruct = instructions[between(g, 0, 3)];
    mode = modes[between(g, 0, 6)];
    n = snprintf(
        out, LINEITEM_ROW_MAX_BYTES,
        "%llu|%llu|%llu|%u|%llu|%llu.%02llu|0.%02llu|0.%02llu|%s|%s|%s|%s|%s|%s|%s|%s\n",
        (unsigned long long)order_key, (unsigned long long)part,
        (unsigned long long)supplier, g->line, (unsigned long long)quantity,
        (unsigned long long)(price / 100), (unsigned long long)(price % 100),
        (unsigned long long)discount, (unsigned long long)tax, flag,
        ship > CURRENT_DATE ? "O" : "F", date_text(ship, ship_text),
        date_text(commit, commit_text), date_text(receipt, receipt_text), instruct, mode,
        comment_text(g, comment));
    return n < 0 ? 0 : (size_t)n;
}

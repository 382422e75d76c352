/* preflight_priv.h - the rules of a preflight, for load/preflight*.c only. */
#ifndef FR_LOAD_PREFLIGHT_PRIV_H
#define FR_LOAD_PREFLIGHT_PRIV_H

#include "load/preflight.h"

typedef const struct fr_preflight *preflight;

/* A finding's message or cure. */
void preflight_say(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline bool preflight_keeps_ledger(preflight p)
{
    return p->options->ledger_choice == 0;
}

static inline bool preflight_has_constraints(preflight p)
{
    return p->table->constraints_enabled > 0;
}

static inline bool preflight_has_triggers(preflight p)
{
    return p->table->triggers_enabled > 0;
}

/* Of rights, in preflight_rights.c: true where one is missing, or where what is to be
 * written is another table; what is unknown is not missing. */
bool preflight_find_no_insert(preflight p, struct fr_finding *f);
bool preflight_find_no_select(preflight p, struct fr_finding *f);
bool preflight_find_no_alter(preflight p, struct fr_finding *f);
bool preflight_find_no_bulk(preflight p, struct fr_finding *f);
bool preflight_find_no_ledger(preflight p, struct fr_finding *f);
bool preflight_find_no_stage(preflight p, struct fr_finding *f);
bool preflight_find_no_rejects(preflight p, struct fr_finding *f);
bool preflight_find_reject_shape(preflight p, struct fr_finding *f);

#endif

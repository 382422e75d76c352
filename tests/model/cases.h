/*
 * cases.h - who works side by side in the model, and which rules are taken out.
 */
#ifndef TESTS_MODEL_CASES_H
#define TESTS_MODEL_CASES_H

#include "model/actors.h"

enum { MODEL_ACTORS = 4 };

struct model_config {
    const char *name; /* NULL ends the list */
    enum actor_kind actors[MODEL_ACTORS];
    uint8_t claims, faults; /* at most */
};
extern const struct model_config model_configs[];

/*
 * Rules taken out; the first is "as it is".  is_harmful false: another rule stands in
 * front of it, and holds. rows_only: of what must hold, only what is in the tables is
 * looked at, not who put it there.
 */
struct model_mutation {
    const char *name; /* NULL ends the list */
    struct model_change change;
    struct actor_habits habits;
    struct control_habits control;
    bool is_harmful, rows_only;
};
extern const struct model_mutation model_mutations[];

/* False, and said: a procedure of the control database is not what model/actors.c follows
 * any more. */
bool model_follows_procedures(void);

#endif

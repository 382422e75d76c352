/*
 * wear.h - how long a device lasts, from what was written and what is written a day.
 *
 * Formulas only.  Unknown is -1.  TB are 10^12 bytes.
 */
#ifndef FR_DISK_WEAR_H
#define FR_DISK_WEAR_H

#include "disk/smart.h"

enum fr_wear_state {
    FR_WEAR_UNKNOWN, /* neither used percent nor rated bytes are known, or nothing is used
                        yet, or the rate is not known */
    FR_WEAR_LASTS,   /* days_left days */
    FR_WEAR_ENDLESS, /* nothing is written */
    FR_WEAR_OVER,    /* all that it is rated for was written */
    FR_WEAR_NONE     /* a disk that rotates: none is rated */
};

struct fr_wear_wish {
    double rate_bytes;  /* a day; -1: as the device's life was */
    double rated_bytes; /* of the data sheet; -1 = not told */
};

struct fr_wear {
    enum fr_wear_state state;
    double rate_bytes;      /* a day */
    double life_rate_bytes; /* of its life: written / days under power */
    bool is_life_rate;      /* rate_bytes is that one */
    double rated_bytes;     /* told, or reckoned from used percent (1 and more of it) */
    bool is_reckoned;
    double used_percent, left_percent; /* the larger of what the device says and of
                                          written / told rated bytes; left at least 0 */
    double left_bytes;
    double days_left;
};

void fr_wear_reckon(const struct fr_smart *s, const struct fr_wear_wish *w,
                    struct fr_wear *out);
/* "lasts", "over", ... */
const char *fr_wear_state_name(enum fr_wear_state state);

#endif

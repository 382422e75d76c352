#include "disk/wear.h"

static const double hours_a_day = 24;

const char *fr_wear_state_name(enum fr_wear_state state)
{
    static const char *const names[] = {[FR_WEAR_UNKNOWN] = "unknown",
                                        [FR_WEAR_LASTS] = "lasts",
                                        [FR_WEAR_ENDLESS] = "endless",
                                        [FR_WEAR_OVER] = "over",
                                        [FR_WEAR_NONE] = "none"};

    return names[state];
}

static void reckon_rate(const struct fr_smart *s, const struct fr_wear_wish *w,
                        struct fr_wear *out)
{
    if (s->written_bytes >= 0 && s->power_on_hours > 0)
        out->life_rate_bytes = s->written_bytes / (s->power_on_hours / hours_a_day);
    out->is_life_rate = w->rate_bytes < 0 && out->life_rate_bytes >= 0;
    out->rate_bytes = w->rate_bytes >= 0 ? w->rate_bytes : out->life_rate_bytes;
}

/* Of what the data sheet rates, or of what the device says, the one that ends earlier. */
static void reckon_endurance(const struct fr_smart *s, const struct fr_wear_wish *w,
                             struct fr_wear *out)
{
    double of_rated = -1;

    if (w->rated_bytes > 0 && s->written_bytes >= 0)
        of_rated = s->written_bytes / w->rated_bytes * 100;
    out->used_percent = of_rated > s->used_percent ? of_rated : s->used_percent;
    if (out->used_percent < 0)
        return;
    out->left_percent = out->used_percent < 100 ? 100 - out->used_percent : 0;
    if (of_rated >= s->used_percent) {
        out->rated_bytes = w->rated_bytes;
    } else if (s->used_percent >= 1 && s->written_bytes > 0) {
        /* a percent that is 0 may be anything under 1 */
        out->rated_bytes = s->written_bytes / (s->used_percent / 100);
        out->is_reckoned = true;
    } else {
        return;
    }
    out->left_bytes = out->rated_bytes * out->left_percent / 100;
}

void fr_wear_reckon(const struct fr_smart *s, const struct fr_wear_wish *w,
                    struct fr_wear *out)
{
    *out = (struct fr_wear){.rate_bytes = -1,
                            .life_rate_bytes = -1,
                            .rated_bytes = -1,
                            .used_percent = -1,
                            .left_percent = -1,
                            .left_bytes = -1,
                            .days_left = -1};
    reckon_rate(s, w, out);
    reckon_endurance(s, w, out);
    if (out->used_percent >= 100) {
        out->state = FR_WEAR_OVER;
        out->days_left = 0;
    } else if (out->used_percent < 0 && s->is_rotating) {
        out->state = FR_WEAR_NONE;
    } else if (out->rate_bytes >= 0 && out->rate_bytes <= 0 && out->used_percent >= 0) {
        out->state = FR_WEAR_ENDLESS;
    } else if (out->left_bytes >= 0 && out->rate_bytes > 0) {
        out->state = FR_WEAR_LASTS;
        out->days_left = out->left_bytes / out->rate_bytes;
    }
}

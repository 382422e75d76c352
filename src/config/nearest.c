#include "config/nearest.h"

#include <string.h>

/* Names are short; what is longer is not compared. */
enum { MAX_WORD_BYTES = 40, MAX_CANDIDATE_BYTES = 62, TOO_FAR = 3 };

/* Edit distance. */
static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[MAX_CANDIDATE_BYTES + 2], m = (unsigned)strlen(b);

    if (n > MAX_WORD_BYTES || m > MAX_CANDIDATE_BYTES)
        return TOO_FAR;
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned cost = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);

            diagonal = row[j];
            if (row[j] + 1 < cost)
                cost = row[j] + 1;
            if (row[j - 1] + 1 < cost)
                cost = row[j - 1] + 1;
            row[j] = cost;
        }
    }
    return row[m];
}

void fr_nearest_begin(struct fr_nearest *n, const char *word, size_t word_bytes)
{
    *n = (struct fr_nearest){.word = word, .word_bytes = word_bytes, .distance = TOO_FAR};
}

void fr_nearest_offer(struct fr_nearest *n, const char *candidate)
{
    unsigned d = distance(n->word, n->word_bytes, candidate);

    if (d < n->distance) {
        n->best = candidate;
        n->distance = d;
    }
}

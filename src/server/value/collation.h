/*
 * collation.h - the collations fullrackd knows, their code pages and their order.
 *
 * A collation is named by its row number (struct sqltype.collation); row 0 is the
 * server's default.  The table is constant; any thread.
 *
 * Order: binary collations compare code points (UTF-16 units for the old BIN); the others
 * compare letters by base letter first, then accent, then (CS only) case, which follows
 * the server's order for Latin, Greek and Cyrillic letters and is code point order
 * elsewhere. Trailing blanks never count.
 */
#ifndef FRD_VALUE_COLLATION_H
#define FRD_VALUE_COLLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLLATION_DEFAULT = 0, COLLATION_WIRE_BYTES = 5 };

enum collation_kind { COLLATE_CI, COLLATE_CI_AI, COLLATE_CS, COLLATE_BIN, COLLATE_BIN2 };

struct collation {
    const char *name;
    uint32_t lcid;
    uint8_t version; /* 0 = 80, 1 = 90, 2 = 100, 3 = 140 */
    uint8_t sort_id; /* of SQL_ collations, else 0 */
    uint16_t code_page;
    enum collation_kind kind;
    const char *description;
};

size_t collation_count(void);
const struct collation *
collation_get(uint32_t index); /* an index out of range: the default */
/* By name, any case; false when unknown. */
bool collation_find(const char *name, size_t n, uint32_t *index);
/* The five bytes of MS-TDS 2.2.5.1.2. */
void collation_wire(uint32_t index, unsigned char out[COLLATION_WIRE_BYTES]);
/* The row whose wire form this is; LCID alone decides when none is the same; default when
 * unknown. */
uint32_t collation_from_wire(const unsigned char wire[COLLATION_WIRE_BYTES]);
/* True when case does not count. */
bool collation_ignores_case(uint32_t index);

/* -1, 0, 1 over UTF-8 texts, trailing blanks ignored. */
int collation_compare(uint32_t index, const char *a, size_t an, const char *b, size_t bn);
/* As collation_compare with trailing blanks counting: for LIKE, CHARINDEX, REPLACE. */
bool collation_equal_chars(uint32_t index, uint32_t a, uint32_t b);

#endif

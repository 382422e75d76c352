/* find_ranges FILE FORMAT TERMINATOR SPLIT - only what --split does before a load: find the
 * borders, and say how many.  For bench_split.py, which measures this process. */
#include "load/ranges.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct fr_load_options o;
    struct fr_split_wish wish;
    struct fr_ranges found = {0};
    struct fr_err err = {0};
    fr_status st;

    if (argc != 5)
        return 2;
    fr_load_options_init(&o);
    o.format = strcmp(argv[2], "csv") == 0 ? FR_FORMAT_CSV : FR_FORMAT_DELIMITED;
    o.field_terminator = argv[3];
    st = fr_split_wish_parse(argv[4], &wish, &err);
    if (st == FR_OK)
        st = fr_ranges_find(argv[1], &o, &wish, &found, &err);
    printf("%zu\n", found.count);
    if (st != FR_OK || found.why[0] != '\0')
        fprintf(stderr, "%s%s\n", err.text, found.why);
    fr_ranges_free(&found);
    return st == FR_OK && found.why[0] == '\0' ? 0 : 1;
}

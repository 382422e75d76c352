#include "load/sniff.h"

#include "load/source.h"

#include <string.h>
#include <sys/stat.h>

fr_status fr_sniff_file(const char *path, const struct fr_load_options *o,
                        const struct fr_table *table, struct fr_sniffed *out,
                        struct fr_err *err)
{
    struct fr_source *source = NULL;
    struct fr_sample sample;
    struct stat info;
    fr_status st;

    memset(out, 0, sizeof *out);
    /* what a pipe gives would be lost for the load */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return FR_EMPTY;
    st = fr_source_open_sampled(path, o->encoding, NULL, &source, err);
    if (st == FR_OK) {
        fr_source_sample(source, &sample);
        st = fr_sniff(&sample, o, table, out, err);
    }
    fr_source_close(&source);
    return st;
}

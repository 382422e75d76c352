#include "base/shown.h"

void fr_put_shown(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        char c = *text;

        if (c == '\n' || c == '\r' || c == '\t')
            c = ' ';
        putc(fr_is_control((unsigned char)c) ? '?' : c, out);
    }
}

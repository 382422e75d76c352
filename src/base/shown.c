#include "base/shown.h"

void fr_put_shown(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        char c = *text;

        if (c == '\n' || c == '\r' || c == '\t')
            c = ' ';
        /* U+0080 to U+009F: some terminals obey them */
        if ((unsigned char)c == 0xC2 && (unsigned char)text[1] >= 0x80 &&
            (unsigned char)text[1] < 0xA0) {
            text++;
            c = '?';
        }
        putc(fr_is_control((unsigned char)c) ? '?' : c, out);
    }
}

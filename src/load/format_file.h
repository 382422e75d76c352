/*
 * format_file.h - bcp's format files, text (versions 7.0 to 17.0) and XML.
 *
 * Which of the two it is shows in the first character.  Reentrant; owns nothing.
 */
#ifndef FR_LOAD_FORMAT_FILE_H
#define FR_LOAD_FORMAT_FILE_H

#include "load/layout.h"

enum { FR_FORMAT_FILE_MAX_BYTES = 4 << 20 };

/*
 * Fill the fields of an empty layout.  FR_EARG: it is not a format file; file, line and
 * what was expected are in the text.  FR_EIO: it cannot be read.
 */
fr_status fr_format_file_read(const char *path, struct fr_layout *l, struct fr_err *err);
/* As above from memory; name: for messages. */
fr_status fr_format_file_parse(const char *name, const char *text, size_t n,
                               struct fr_layout *l, struct fr_err *err);

#endif

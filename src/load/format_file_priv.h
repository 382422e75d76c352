/* format_file_priv.h - what the two kinds of format files share, for load/ only. */
#ifndef FR_LOAD_FORMAT_FILE_PRIV_H
#define FR_LOAD_FORMAT_FILE_PRIV_H

#include "load/format_file.h"
#include "load/layout_priv.h"

/* A terminator as the file has it between its quotes, C escapes in it; is_last: of the
 * row.  One of UTF-16 text is made two bytes a character where it is written as text. */
fr_status format_file_terminator(const char *text, bool is_last,
                                 struct fr_layout_field *f, struct fr_err *err);
/* What tells where the field ends, at all?  FR_EARG: nothing, or not what fits. */
fr_status format_file_check_field(const struct fr_layout_field *f, struct fr_err *err);

/* format_file_xml.c */
fr_status format_file_parse_xml(const char *name, const char *text, size_t n,
                                struct fr_layout *l, struct fr_err *err);

#endif

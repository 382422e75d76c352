/*
 * text_file.h - a small file as one text.
 *
 * For what people write: run files, scripts.  Data are read as streams (load/source.h).
 */
#ifndef FR_BASE_TEXT_FILE_H
#define FR_BASE_TEXT_FILE_H

#include "base/err.h"

#include <stddef.h>

/*
 * All of the file as UTF-8 without a byte order mark, NUL-terminated, the caller's to
 * free; UTF-16 behind its mark is decoded.  FR_EARG, naming the path: it cannot be read,
 * is longer than max_bytes, is not UTF-8, or has a NUL character.
 */
fr_status fr_text_file_read(const char *path, size_t max_bytes, char **out,
                            struct fr_err *err);

#endif

/*
 * reader.h - reads ahead of the loader, into a bounded set of blocks.
 *
 * What has to be unpacked or transcoded, and a stream, is read by a thread of its own. Of
 * a plain file the system is asked to have the next bytes at hand, and the loader's
 * thread copies them itself: bytes that another processor has just written are dear to
 * read.
 *
 * The loader sees a window: contiguous bytes of the decoded stream.  It consumes rows at
 * its front and asks for more when a row does not end in it.  A tail that fits is copied
 * in front of the next block; a longer one is gathered in a buffer that grows up to the
 * given maximum. All functions are called from the loader's thread.
 */
#ifndef FR_LOAD_READER_H
#define FR_LOAD_READER_H

#include "load/source.h"

struct fr_reader; /* opaque */

/* So many bytes in front of a window and behind it can be read, whatever they are. */
enum { FR_WINDOW_SLACK_BYTES = 64 };

struct fr_window {
    const char *p;
    size_t n;
    bool at_end;         /* nothing comes behind */
    unsigned generation; /* changes where the window was made longer, or moved */
};

/* Takes the source over (closes it at the end).  max_row_bytes bounds the window. */
fr_status fr_reader_start(struct fr_source **source, size_t max_row_bytes,
                          struct fr_reader **out, struct fr_err *err);
/* Stops the thread, also one that waits for a pipe or FIFO; waits for a read of a file.
 */
void fr_reader_stop(struct fr_reader **rp);

struct fr_window *fr_reader_window(struct fr_reader *r);
/* Drop n bytes at the window's front. */
void fr_reader_consume(struct fr_reader *r, size_t n);
/* Make the window longer.  FR_OK (also when at_end became true); FR_EIO, FR_EDATA (row
 * too long). */
fr_status fr_reader_more(struct fr_reader *r, struct fr_err *err);

#endif

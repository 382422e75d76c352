/*
 * bulk.h - the bulk engine over our own TDS client ("wire").
 *
 * INSERT BULK with every hint, then one message of type 7: COLMETADATA, a ROW each, DONE
 * (MS-TDS 2.2.6.1).  Rows go from the cells straight into the message under way; nothing
 * is allocated per row.  Sessions are those of fr_wire_open().
 */
#ifndef FR_WIRE_BULK_H
#define FR_WIRE_BULK_H

#include "base/bulk.h"

extern const struct fr_bulk_engine fr_wire_engine;

#endif

/* errclass.c - see errclass.h. */
#include "server/tsql/errclass.h"

#include <stddef.h>

static const struct {
    int32_t number;
    enum err_class what;
} classes[] = {
    /* conversions of text, deadlock, nesting, arguments: the batch */
    {217, ERR_BATCH},
    {235, ERR_BATCH},
    {236, ERR_BATCH},
    {241, ERR_BATCH},
    {245, ERR_BATCH},
    {248, ERR_BATCH},
    {293, ERR_BATCH},
    {294, ERR_BATCH},
    {295, ERR_BATCH},
    {596, ERR_BATCH},
    {701, ERR_BATCH},
    {1105, ERR_BATCH},
    {1205, ERR_BATCH},
    {2762, ERR_BATCH},
    {8114, ERR_BATCH},
    {8146, ERR_BATCH},
    {8169, ERR_BATCH},
    {9002, ERR_BATCH},
    /* names and compilation: the scope */
    {102, ERR_SCOPE},
    {109, ERR_SCOPE},
    {110, ERR_SCOPE},
    {120, ERR_SCOPE},
    {121, ERR_SCOPE},
    {137, ERR_SCOPE},
    {156, ERR_SCOPE},
    {195, ERR_SCOPE},
    {205, ERR_SCOPE},
    {206, ERR_SCOPE},
    {207, ERR_SCOPE},
    {208, ERR_SCOPE},
    {209, ERR_SCOPE},
    {213, ERR_SCOPE},
    {264, ERR_SCOPE},
    {402, ERR_SCOPE},
    {1011, ERR_SCOPE},
    {1013, ERR_SCOPE},
    {1087, ERR_SCOPE},
    {4104, ERR_SCOPE},
    {8101, ERR_SCOPE},
    {8116, ERR_SCOPE},
    {8117, ERR_SCOPE},
    {8120, ERR_SCOPE},
    {8121, ERR_SCOPE},
    {8155, ERR_SCOPE},
    {8156, ERR_SCOPE},
    {40517, ERR_SCOPE},
};

enum err_class err_class(const struct sqlerr *e)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (classes[i].number == e->number)
            return classes[i].what;
    }
    return e->severity >= 20 ? ERR_BATCH : ERR_STATEMENT;
}

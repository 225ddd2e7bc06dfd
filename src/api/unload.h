/* unload: the one answer of every route that unloads: sent when release is proven, or after the
 * wait with what is true then. Loop thread. */
#ifndef HOTBUNK_API_UNLOAD_H
#define HOTBUNK_API_UNLOAD_H

#include "api/internal.h"

struct unload {
    const struct model *model; /* NULL = all */
    bool is_forced;
    uint64_t within_ms;
    bool shows_id; /* our own routes: "id" is part of the answer */
};

void unload_start(struct api *api, struct exchange *ex, const struct unload *unload);

/* Of a model that nobody knows: nothing of it is held. */
void unload_answer_unknown(struct exchange *ex);

#endif

#include "api/collection.h"

#include <errno.h>

#include "base/utf8.h"

#define COLLECTION_FORBIDDEN "/:*?\"<>|\\"

static struct slice collection_strip(struct slice name)
{
    static const char blanks[] = " \t\r\n\v\f";

    while (name.len && memchr(blanks, name.ptr[0], sizeof(blanks) - 1))
        name = slice_skip(name, 1);
    while (name.len && memchr(blanks, name.ptr[name.len - 1], sizeof(blanks) - 1))
        name.len--;
    return name;
}

bool collection_is_valid(struct slice name)
{
    if (!id_is_component(name) || name.len > ID_NAME_MAX || !utf8_is_valid(name))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f || strchr(COLLECTION_FORBIDDEN, c))
            return false;
    }
    return !strchr(" .", name.ptr[name.len - 1]) && name.ptr[0] != ' ';
}

/* An absolute path, or one with a ".." between slashes of either kind. */
static bool collection_climbs(struct slice name)
{
    size_t start = 0;

    if (name.len && strchr("/\\", name.ptr[0]))
        return true;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.ptr[i] != '/' && name.ptr[i] != '\\')
            continue;
        if (slice_eq_str(slice_of(name.ptr + start, i - start), ".."))
            return true;
        start = i + 1;
    }
    return false;
}

int collection_of_modly(struct slice name, char out[ID_NAME_MAX + 1], struct err *err)
{
    name = collection_strip(name);
    if (name.len && collection_climbs(name))
        return err_set(err, -EINVAL,
                       "the collection \"%.*s\" leaves the workspace: use a plain folder name",
                       (int)(name.len > ID_NAME_MAX ? ID_NAME_MAX : name.len), name.ptr);
    if (name.len > ID_NAME_MAX)
        return err_set(err, -EINVAL, "the collection's name is longer than %d bytes: shorten it",
                       ID_NAME_MAX);
    if (!collection_is_valid(name))
        name = slice_str(COLLECTION_DEFAULT);
    memcpy(out, name.ptr, name.len);
    out[name.len] = '\0';
    return 0;
}

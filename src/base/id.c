#include "base/id.h"

void id_uuid4(const uint8_t random[16], char out[ID_UUID_LEN + 1])
{
    static const char HEX[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < 16; i++) {
        uint8_t byte = random[i];
        if (i == 6)
            byte = (uint8_t)((byte & 0x0f) | 0x40);
        if (i == 8)
            byte = (uint8_t)((byte & 0x3f) | 0x80);
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = HEX[byte >> 4];
        out[at++] = HEX[byte & 15];
    }
    out[at] = '\0';
}

static bool id_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool id_is_uuid(struct slice text)
{
    if (text.len != ID_UUID_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text.ptr[i] != '-' : !id_is_hex(text.ptr[i]))
            return false;
    }
    return true;
}

static bool id_is_lower_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

bool id_is_extension(struct slice text)
{
    if (text.len == 0 || text.len > ID_NAME_MAX || !id_is_lower_alnum(text.ptr[0]))
        return false;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.ptr[i];
        if (!id_is_lower_alnum(c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool id_is_component(struct slice text)
{
    if (text.len == 0 || text.len > ID_NAME_MAX)
        return false;
    if (slice_eq_str(text, ".") || slice_eq_str(text, ".."))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7f || c == '/' || c == '\\')
            return false;
    }
    return true;
}

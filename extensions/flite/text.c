#include "text.h"

#include <stdint.h>
#include <string.h>

#define TEXT_LATIN_FIRST 0xC0
#define TEXT_LATIN_LAST  0xFF
#define TEXT_HEAVY_COST  5

/* U+00C0 to U+00FF without their accents. */
static const char text_latin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";

static const struct {
    uint32_t code;
    const char *ascii;
} text_marks[] = {
    {0x2018, "'"}, {0x2019, "'"}, {0x201A, "'"}, {0x201C, "\""}, {0x201D, "\""},  {0x201E, "\""},
    {0x2010, "-"}, {0x2011, "-"}, {0x2013, ","}, {0x2014, ","},  {0x2026, "..."},
};

/* Words whose full stop ends no sentence. */
static const char *const text_titles[] = {"mr", "mrs", "ms", "dr", "st", "prof", "vs"};

/* One code point of valid UTF-8, or 0 and one byte for anything else. */
static size_t text_decode(const unsigned char *at, size_t left, uint32_t *out_code)
{
    size_t need = *at < 0x80 ? 1 : *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : *at >= 0xC0 ? 2 : 0;
    uint32_t code = need == 1 ? *at : *at & (0x7Fu >> need);

    *out_code = 0;
    if (need == 0 || need > left)
        return 1;
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 1;
        code = code << 6 | (at[i] & 0x3F);
    }
    *out_code = code;
    return need;
}

static const char *text_ascii_of(uint32_t code, char one[2])
{
    one[1] = '\0';
    if (code >= TEXT_LATIN_FIRST && code <= TEXT_LATIN_LAST) {
        one[0] = text_latin[code - TEXT_LATIN_FIRST];
        return one;
    }
    for (size_t i = 0; i < sizeof(text_marks) / sizeof(text_marks[0]); i++)
        if (text_marks[i].code == code)
            return text_marks[i].ascii;
    one[0] = (code >= ' ' && code < 0x7F) || code == '\n' ? (char)code : ' ';
    return one;
}

size_t text_normalize(const char *text, size_t len, char *out)
{
    size_t used = 0;

    if (len > TEXT_BYTES_MAX)
        len = TEXT_BYTES_MAX;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        char one[2];
        i += text_decode((const unsigned char *)text + i, len - i, &code);
        for (const char *c = text_ascii_of(code, one); *c != '\0'; c++)
            out[used++] = *c;
    }
    out[used] = '\0';
    return used;
}

static bool text_is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool text_is_space(char c)
{
    return c == ' ' || c == '\n';
}

/* `stop` is at the full stop; does a title stand before it? */
static bool text_is_title(const char *start, const char *stop)
{
    const char *word = stop;

    while (word > start && text_is_alnum(word[-1]))
        word--;
    size_t len = (size_t)(stop - word);
    for (size_t i = 0; i < sizeof(text_titles) / sizeof(text_titles[0]); i++) {
        const char *title = text_titles[i];
        if (len == strlen(title) && (*word | 0x20) == *title &&
            memcmp(word + 1, title + 1, len - 1) == 0)
            return true;
    }
    return false;
}

static bool text_ends_sentence(const char *start, const char *at)
{
    if (at[0] == '\n' && at[1] == '\n')
        return true;
    if (strchr(".!?", at[0]) == NULL || !(at[1] == '\0' || text_is_space(at[1])))
        return false;
    return at[0] != '.' || !text_is_title(start, at);
}

/* Letters per sound are few, but "7" is a word and "%" too. */
static size_t text_cost(char c)
{
    bool is_light = text_is_space(c) || (c >= 'a' && c <= 'z');

    return is_light ? 1 : TEXT_HEAVY_COST;
}

/* The length of the piece at `start`, at least 1 unless the text ends there. */
static size_t text_piece_len(const char *start)
{
    size_t comma = 0;
    size_t space = 0;
    size_t cost = 0;
    size_t i = 0;

    for (; cost < TEXT_PIECE_MAX; i++) {
        if (start[i] == '\0')
            return i;
        if (text_ends_sentence(start, start + i))
            return i + 1;
        if (strchr(",;:", start[i]) != NULL && text_is_space(start[i + 1]))
            comma = i + 1;
        if (text_is_space(start[i]))
            space = i + 1;
        cost += text_cost(start[i]);
    }
    if (comma > i / 2)
        return comma;
    return space > 0 ? space : i;
}

bool text_next_piece(const char *text, size_t *position, char *out)
{
    for (;;) {
        const char *start = text + *position;
        size_t len = text_piece_len(start);
        bool is_speakable = false;

        if (len == 0)
            return false;
        *position += len;
        for (size_t i = 0; i < len; i++) {
            out[i] = text_is_space(start[i]) ? ' ' : start[i];
            is_speakable = is_speakable || text_is_alnum(start[i]);
        }
        out[len] = '\0';
        if (is_speakable)
            return true;
    }
}

size_t text_count_pieces(const char *text)
{
    char piece[TEXT_PIECE_MAX + 1];
    size_t position = 0;
    size_t count = 0;

    while (text_next_piece(text, &position, piece))
        count++;
    return count;
}

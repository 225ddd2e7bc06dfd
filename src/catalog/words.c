#include "catalog/words.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

size_t words_count(char *const *words)
{
    size_t count = 0;

    while (words && words[count])
        count++;
    return count;
}

void words_add_take(char ***words, char *word)
{
    size_t count = words_count(*words);

    *words = mem_resize(*words, (count + 2) * sizeof(**words));
    (*words)[count] = word;
    (*words)[count + 1] = NULL;
}

void words_free(char **words)
{
    for (char **at = words; at && *at; at++)
        mem_free(*at);
    mem_free(words);
}

/* ---- splitting ---- */

struct split {
    struct slice rest;
    struct buf word;
    bool has_word; /* also an empty one, from '' */
    char quote;    /* 0 outside */
};

static int split_end_word(struct split *split, char ***words, struct err *err)
{
    if (!split->has_word)
        return 0;
    if (words_count(*words) == WORDS_MAX)
        return err_set(err, -E2BIG, "a command of more than %d words", WORDS_MAX);
    words_add_take(words, mem_strdup(buf_str(&split->word)));
    buf_reset(&split->word);
    split->has_word = false;
    return 0;
}

static int split_keep(struct split *split, char c)
{
    split->has_word = true;
    return buf_add_char(&split->word, c);
}

static bool is_shell_work(struct slice rest)
{
    return strchr("|<>;&`", rest.ptr[0]) != NULL || slice_starts_with(rest, "$(");
}

/* One byte outside quotes, at rest.ptr[0]. */
static int split_plain(struct split *split, char ***words, struct err *err)
{
    char c = split->rest.ptr[0];

    if (c == '\0')
        return err_set(err, -EINVAL, "a NUL byte in a command");
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return split_end_word(split, words, err);
    if (is_shell_work(split->rest))
        return err_set(err, -EINVAL,
                       "no shell runs this command: put the %c between quotes, or write "
                       "[sh, -c, \"…\"]",
                       c);
    if (c == '\'' || c == '"') {
        split->quote = c;
        split->has_word = true;
        return 0;
    }
    if (c == '\\' && split->rest.len > 1) {
        split->rest = slice_skip(split->rest, 1);
        c = split->rest.ptr[0];
        return c == '\n' ? 0 : split_keep(split, c); /* a line that goes on */
    }
    return split_keep(split, c);
}

static int split_quoted(struct split *split)
{
    char c = split->rest.ptr[0];

    if (c == split->quote) {
        split->quote = 0;
        return 0;
    }
    if (c == '\\' && split->quote == '"' && split->rest.len > 1 &&
        strchr("\"\\$`", split->rest.ptr[1])) {
        split->rest = slice_skip(split->rest, 1);
        c = split->rest.ptr[0];
    }
    return split_keep(split, c);
}

int words_split(struct slice line, char ***out_words, struct err *err)
{
    struct split split = {.rest = line};
    char **words = NULL;
    int rc = 0;

    if (line.len > WORDS_TEXT_MAX || (line.len && memchr(line.ptr, '\0', line.len)))
        return err_set(err, -EINVAL, "a command over %d bytes or with a NUL byte", WORDS_TEXT_MAX);
    buf_init(&split.word, line.len + 1);
    for (; rc == 0 && split.rest.len; split.rest = slice_skip(split.rest, 1))
        rc = split.quote ? split_quoted(&split) : split_plain(&split, &words, err);
    if (rc == 0 && split.quote)
        rc = err_set(err, -EINVAL, "a %c without its other half", split.quote);
    if (rc == 0)
        rc = split_end_word(&split, &words, err);
    if (rc == 0 && !words)
        rc = err_set(err, -EINVAL, "an empty command");
    buf_fini(&split.word);
    if (rc != 0) {
        words_free(words);
        return rc;
    }
    *out_words = words;
    return 0;
}

int words_of_json(struct json_object *value, char ***out_words, struct err *err)
{
    char **words = NULL;
    size_t count;

    if (json_is(value, json_type_string))
        return words_split(slice_str(json_object_get_string(value)), out_words, err);
    count = json_is(value, json_type_array) ? json_object_array_length(value) : 0;
    if (count == 0 || count > WORDS_MAX)
        return err_set(err, -EINVAL, "a command must be a string or a list of 1 to %d strings",
                       WORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct json_object *item = json_object_array_get_idx(value, i);
        if (!json_is(item, json_type_string)) {
            words_free(words);
            return err_set(err, -EINVAL,
                           "word %zu of a command must be a string: put it between "
                           "quotes",
                           i + 1);
        }
        words_add_take(&words, mem_strdup(json_object_get_string(item)));
    }
    *out_words = words;
    return 0;
}

/* ---- placeholders ---- */

static const char *var_value(struct slice name, const struct words_var *vars, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq_str(name, vars[i].name))
            return vars[i].value;
    }
    return NULL;
}

static int expand_fail(struct slice name, const struct words_var *vars, size_t count,
                       struct err *err)
{
    struct buf known;
    int rc = 0;

    buf_init(&known, 256);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = buf_printf(&known, "%s${%s}", i ? ", " : "", vars[i].name);
    rc = err_set(err, -EINVAL, "unknown placeholder ${%.*s}; known are %s",
                 SLICE_ARG(slice_of(name.ptr, name.len < 64 ? name.len : 64)), buf_str(&known));
    buf_fini(&known);
    return rc;
}

static int expand_word(struct slice word, const struct words_var *vars, size_t var_count,
                       struct buf *out, struct err *err)
{
    while (word.len) {
        size_t at = slice_find(word, slice_str("${"));
        struct slice name = slice_skip(word, at + 2);
        size_t end = slice_index(name, '}');
        const char *value;
        int rc = buf_add(out, word.ptr, at);
        if (rc != 0 || at == word.len)
            return rc;
        if (end == name.len)
            return err_set(err, -EINVAL, "a ${ without its }");
        value = var_value(slice_of(name.ptr, end), vars, var_count);
        if (!value)
            return expand_fail(slice_of(name.ptr, end), vars, var_count, err);
        rc = buf_add_str(out, value);
        if (rc != 0)
            return rc;
        word = slice_skip(name, end + 1);
    }
    return 0;
}

int words_expand(char **words, const struct words_var *vars, size_t var_count, struct err *err)
{
    for (char **at = words; *at; at++) {
        struct buf out;
        int rc;
        buf_init(&out, WORDS_TEXT_MAX);
        rc = expand_word(slice_str(*at), vars, var_count, &out, err);
        if (rc == -EMSGSIZE)
            rc = err_set(err, rc, "a word of the command is over %d bytes", WORDS_TEXT_MAX);
        if (rc != 0) {
            buf_fini(&out);
            return rc;
        }
        mem_free(*at);
        *at = buf_take(&out);
        buf_fini(&out);
    }
    return 0;
}

/* ---- programs ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *search_path(const char *name)
{
    const char *path = getenv("PATH");
    struct slice rest = slice_str(path ? path : "/usr/local/bin:/usr/bin:/bin"), dir;

    while (slice_split(&rest, ':', &dir)) {
        char *full;
        if (dir.len == 0 || dir.ptr[0] != '/') /* a relative PATH entry would depend on the cwd */
            continue;
        full = mem_printf("%.*s/%s", SLICE_ARG(dir), name);
        if (is_program(full))
            return full;
        mem_free(full);
    }
    return NULL;
}

int words_find_program(const char *word, const char *dir, char **out_path, struct err *err)
{
    char *full;

    if (!strchr(word, '/')) {
        full = search_path(word);
        if (!full)
            return err_set(err, -ENOENT,
                           "the program %s is not on PATH: install it, or give its "
                           "whole path",
                           word);
        *out_path = full;
        return 0;
    }
    full = word[0] == '/' ? mem_strdup(word) : file_join(dir, word);
    if (!is_program(full)) {
        int rc = err_set(err, file_exists(full) ? -EACCES : -ENOENT, "the program %s %s", full,
                         file_exists(full) ? "is not executable: chmod +x it" : "does not exist");
        mem_free(full);
        return rc;
    }
    *out_path = full;
    return 0;
}

/* words: lists of strings (argv, env), a command line taken apart without a shell, ${PLACEHOLDERS},
 * and the program that a first word means. Lists end with NULL and are owned by the caller. */
#ifndef HOTBUNK_CATALOG_WORDS_H
#define HOTBUNK_CATALOG_WORDS_H

#include "base/err.h"
#include "base/json.h"

#define WORDS_MAX      256
#define WORDS_TEXT_MAX 65536 /* bytes of one command line */

/* Adds a string (taken); *words may be NULL. */
void words_add_take(char ***words, char *word);
void words_free(char **words);
size_t words_count(char *const *words);

/* Shell-like: spaces part words, '…' keeps all, "…" and \ as in a shell. Nothing is expanded or
 * run; what only a shell could do (| > < ; & ` and $( outside quotes) is refused. */
int words_split(struct slice line, char ***out_words, struct err *err) MUSTCHECK;

/* An array of strings, or a string for words_split. Not empty. */
int words_of_json(struct json_object *value, char ***out_words, struct err *err) MUSTCHECK;

struct words_var {
    const char *name; /* "DIR" for ${DIR} */
    const char *value;
};

/* Replaces ${NAME} in every word; an unknown name is an error that lists the known ones. */
int words_expand(char **words, const struct words_var *vars, size_t var_count,
                 struct err *err) MUSTCHECK;

/* The absolute path of an executable: with a slash relative to `dir`, else searched on PATH. */
int words_find_program(const char *word, const char *dir, char **out_path,
                       struct err *err) MUSTCHECK;

#endif

/* catalog: the registry of models: reads the extension directories, resolves ids and aliases,
 * keeps what is wrong with the extensions that could not be read.
 *
 * A reload builds a new catalog and swaps it in: nothing iterates over a changing table.
 * catalog_read blocks (directory scan) and may run on a pool thread; a finished catalog is
 * immutable. */
#ifndef HOTBUNK_CATALOG_CATALOG_H
#define HOTBUNK_CATALOG_CATALOG_H

#include "catalog/config.h"
#include "catalog/model.h"

struct catalog;

/* One extension that could not be taken; `where` is its directory or manifest. */
struct catalog_error {
    char *id; /* extension id, or the directory's name when there is none */
    char *where;
    char *text;
};

/* Scans config->extensions_dirs in order, each sorted by directory name. Broken extensions are
 * listed as errors, the others load. Fails only without memory or for an unreadable root. */
int catalog_read(const struct config *config, struct catalog **out_catalog,
                 struct err *err) MUSTCHECK;
void catalog_free(struct catalog *catalog);

size_t catalog_count(const struct catalog *catalog);
const struct model *catalog_at(const struct catalog *catalog, size_t index);

/* By id, alias, or a bare extension id (its only or first node). NULL when unknown. */
const struct model *catalog_find(const struct catalog *catalog, struct slice id);

size_t catalog_error_count(const struct catalog *catalog);
const struct catalog_error *catalog_error_at(const struct catalog *catalog, size_t index);

/* "a/b, c/d, …" of all ids for error texts, at most `max` bytes. Caller frees. */
char *catalog_known_ids(const struct catalog *catalog, size_t max) __attribute__((returns_nonnull));

#endif

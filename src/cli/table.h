/* table: rows of text under titles, aligned. Embedded: table_init / table_fini. Not shared. */
#ifndef HOTBUNK_CLI_TABLE_H
#define HOTBUNK_CLI_TABLE_H

#include "base/buf.h"

#define TABLE_COLUMNS_MAX  12
#define TABLE_CELLS_MAX    120000u
#define TABLE_CELL_MAX     4096 /* bytes */
#define TABLE_COLUMN_LEAST 8    /* a column that shrinks keeps at least this */

struct table_column {
    const char *title;
    bool is_right;   /* numbers */
    bool can_shrink; /* texts that may be cut when the terminal is narrow */
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    char **cells;
    size_t cell_count, cell_cap;
};

void table_init(struct table *table, const struct table_column *columns, size_t column_count);
void table_fini(struct table *table);

/* The next cell, row by row; NULL is empty. Control bytes are made harmless. Cells beyond
 * TABLE_CELLS_MAX are dropped. */
void table_add(struct table *table, const char *text);
void table_addf(struct table *table, const char *fmt, ...) PRINTF(2, 3);

size_t table_rows(const struct table *table);

/* `width` columns at most, 0 = any; what was cut ends in "…", or '~' without `has_blocks`. */
int table_render(const struct table *table, size_t width, bool has_blocks,
                 struct buf *out) MUSTCHECK;

#endif

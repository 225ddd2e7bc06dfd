#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>

#include "cli/text.h"

#define TABLE_GAP 2u

void table_init(struct table *table, const struct table_column *columns, size_t column_count)
{
    *table = (struct table){.columns = columns, .column_count = column_count};
}

void table_fini(struct table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        mem_free(table->cells[i]);
    mem_free(table->cells);
    *table = (struct table){0};
}

void table_add(struct table *table, const char *text)
{
    struct slice raw = slice_str(text ? text : "");
    struct buf clean;

    if (table->cell_count == TABLE_CELLS_MAX)
        return;
    if (table->cell_count == table->cell_cap) {
        table->cell_cap = table->cell_cap ? table->cell_cap * 2 : 64;
        table->cells = mem_resize(table->cells, table->cell_cap * sizeof(char *));
    }
    buf_init(&clean, TABLE_CELL_MAX);
    text_add_clean(&clean, raw, false);
    table->cells[table->cell_count++] = buf_take(&clean);
}

void table_addf(struct table *table, const char *fmt, ...)
{
    struct buf text;
    va_list args;
    int rc;

    buf_init(&text, TABLE_CELL_MAX);
    va_start(args, fmt);
    rc = buf_vprintf(&text, fmt, args);
    va_end(args);
    table_add(table, rc == 0 ? buf_str(&text) : "?"); /* no cell is that long */
    buf_fini(&text);
}

size_t table_rows(const struct table *table)
{
    return table->cell_count / table->column_count;
}

static const char *table_text(const struct table *table, size_t row, size_t column)
{
    /* Row 0 is the titles. */
    return row == 0 ? table->columns[column].title
                    : table->cells[(row - 1) * table->column_count + column];
}

static size_t table_measure(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    size_t total = 0;

    for (size_t c = 0; c < table->column_count; c++) {
        widths[c] = 0;
        for (size_t row = 0; row <= table_rows(table); row++) {
            size_t columns = text_columns(slice_str(table_text(table, row, c)));
            widths[c] = columns > widths[c] ? columns : widths[c];
        }
        total += widths[c] + (c ? TABLE_GAP : 0);
    }
    return total;
}

/* Takes columns from the widest that may shrink, one by one, until it fits. */
static void table_shrink(const struct table *table, size_t widths[TABLE_COLUMNS_MAX], size_t total,
                         size_t width)
{
    while (total > width) {
        size_t widest = table->column_count;
        for (size_t c = 0; c < table->column_count; c++) {
            bool may = table->columns[c].can_shrink && widths[c] > TABLE_COLUMN_LEAST;
            if (may && (widest == table->column_count || widths[c] > widths[widest]))
                widest = c;
        }
        if (widest == table->column_count)
            return;
        widths[widest]--;
        total--;
    }
}

static int add_spaces(struct buf *out, size_t count)
{
    int rc = 0;

    while (rc == 0 && count--)
        rc = buf_add_char(out, ' ');
    return rc;
}

static int add_cell(struct buf *out, struct slice text, size_t width, bool is_right,
                    const char *more)
{
    size_t columns = text_columns(text);
    int rc = is_right && columns < width ? add_spaces(out, width - columns) : 0;

    if (rc == 0 && columns > width) {
        rc = buf_add_slice(out, text_clip(text, width ? width - 1 : 0));
        return rc != 0 || width == 0 ? rc : buf_add_str(out, more);
    }
    if (rc == 0)
        rc = buf_add_slice(out, text);
    return rc == 0 && !is_right && columns < width ? add_spaces(out, width - columns) : rc;
}

static int add_row(const struct table *table, const size_t *widths, size_t row, const char *more,
                   struct buf *line)
{
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < table->column_count; c++) {
        rc = c ? add_spaces(line, TABLE_GAP) : 0;
        if (rc == 0)
            rc = add_cell(line, slice_str(table_text(table, row, c)), widths[c],
                          table->columns[c].is_right, more);
    }
    while (line->len && line->data[line->len - 1] == ' ')
        line->len--;
    return rc;
}

int table_render(const struct table *table, size_t width, bool has_blocks, struct buf *out)
{
    const char *more = has_blocks ? "\xE2\x80\xA6" : "~";
    size_t widths[TABLE_COLUMNS_MAX];
    size_t total = table_measure(table, widths);
    struct buf line;
    int rc = 0;

    if (width)
        table_shrink(table, widths, total, width);
    buf_init(&line, TABLE_COLUMNS_MAX * (TABLE_CELL_MAX + TABLE_GAP));
    for (size_t row = 0; rc == 0 && row <= table_rows(table); row++) {
        buf_reset(&line);
        rc = add_row(table, widths, row, more, &line);
        if (rc == 0)
            rc = buf_add_slice(out, width ? text_clip(buf_slice(&line), width) : buf_slice(&line));
        if (rc == 0)
            rc = buf_add_char(out, '\n');
    }
    buf_fini(&line);
    return rc;
}

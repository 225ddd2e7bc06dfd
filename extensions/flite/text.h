/* text: makes any UTF-8 text speakable and cuts it into sentences.
 *
 * The voices know ASCII only: typographic marks are mapped, accents dropped, anything else becomes
 * a space. A piece is a sentence, or a part of one that is longer than TEXT_PIECE_MAX. Pure. */
#ifndef HOTBUNK_FLITE_TEXT_H
#define HOTBUNK_FLITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_BYTES_MAX (64 * 1024)
#define TEXT_PIECE_MAX 240 /* a cancel waits for one piece: 0.2 s of work, 1 s if spoken slowly */

/* Writes at most TEXT_BYTES_MAX bytes and a NUL; returns the length. An ellipsis of three bytes
 * is the only thing that keeps its length, all else shrinks: `len` bytes of room are enough. */
size_t text_normalize(const char *text, size_t len, char *out);

/* Copies the next piece at *position to `out` (room for TEXT_PIECE_MAX + 1) and moves on.
 * False at the end. Pieces without a letter or digit are skipped. */
bool text_next_piece(const char *text, size_t *position, char *out);

size_t text_count_pieces(const char *text);

#endif

/* footprint: what is declared or can be guessed of a model's memory before it ever ran, and whether
 * its weights are there. Looks at the disk, bounded. */
#ifndef HOTBUNK_CATALOG_FOOTPRINT_H
#define HOTBUNK_CATALOG_FOOTPRINT_H

#include "catalog/manifest.h"

#define FOOTPRINT_SCAN_BYTES    262144 /* of generator.py */
#define FOOTPRINT_WALK_DEPTH    8
#define FOOTPRINT_WALK_ENTRIES  100000
#define FOOTPRINT_WEIGHT_FACTOR 1.2

/* Fills vram_gb, vram_bytes, ram_bytes and prior (design, section 3, Footprint). */
void footprint_fill(struct model *model, const struct manifest *manifest, size_t index);

/* Fills is_downloaded. -EINVAL: download_check leads out of <models_dir>/<ext>. */
int footprint_check_download(struct model *model, const struct manifest *manifest, size_t index,
                             const struct config *config, struct err *err) MUSTCHECK;

/* The n of the first line `VRAM_GB = n` of a generator's text that is over 0, else 0. Pure. */
double footprint_scan_generator(struct slice text);

/* Without "." and "..", purely of the text; NULL when it climbs above the root. Absolute only. */
char *footprint_clean_path(const char *path);

#endif

/* audio: an output file that appears under its name only when it is complete.
 *
 * Samples are 16-bit mono. Written as they come to a file without a name (where the file
 * system knows none: a hidden ".part"), so memory does not grow with the length of the speech and
 * a killed process leaves nothing behind. Owned by one job, one thread. */
#ifndef HOTBUNK_FLITE_AUDIO_H
#define HOTBUNK_FLITE_AUDIO_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct lame_global_struct;

enum audio_format {
    AUDIO_FORMAT_WAV = 0,
    AUDIO_FORMAT_PCM = 1,
    AUDIO_FORMAT_MP3 = 2,
};
#define AUDIO_FORMAT_COUNT 3

struct audio_file {
    enum audio_format format;
    int fd; /* -1: not open */
    uint32_t rate;
    uint64_t samples;
    struct lame_global_struct *lame;
    char path[PATH_MAX];
    char part_path[PATH_MAX]; /* empty while the file has no name */
};

#define AUDIO_FILE_EMPTY ((struct audio_file){.fd = -1})

/* A format by name ("wav", "pcm", "mp3"): 0 or -EINVAL. */
int audio_format_parse(const char *name, enum audio_format *out_format);
const char *audio_media_type(enum audio_format format);

/* All of them: 0 or negative errno. -EFBIG where a WAV file cannot say its own length. */
int audio_open(struct audio_file *file, const char *directory, enum audio_format format);
int audio_write(struct audio_file *file, const int16_t *samples, size_t count, uint32_t rate);
int audio_commit(struct audio_file *file);

/* Drops what was not committed. Any state, also empty. */
void audio_fini(struct audio_file *file);

double audio_seconds(const struct audio_file *file);

#endif

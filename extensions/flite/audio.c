#include "audio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lame/lame.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define AUDIO_CHUNK_SAMPLES    2048
#define AUDIO_MP3_CHUNK_BYTES  (AUDIO_CHUNK_SAMPLES * 5 / 4 + 7200) /* lame.h's worst case */
#define AUDIO_MP3_KBIT         64
#define AUDIO_MP3_QUALITY      5
#define AUDIO_WAV_HEADER_BYTES 44
#define AUDIO_SAMPLE_BYTES     2
#define AUDIO_WAV_BYTES_MAX    (UINT32_MAX - AUDIO_WAV_HEADER_BYTES)

static const struct {
    const char *name;
    const char *media_type;
} audio_formats[AUDIO_FORMAT_COUNT] = {
    [AUDIO_FORMAT_WAV] = {"wav", "audio/wav"},
    [AUDIO_FORMAT_PCM] = {"pcm", "audio/pcm"},
    [AUDIO_FORMAT_MP3] = {"mp3", "audio/mpeg"},
};

int audio_format_parse(const char *name, enum audio_format *out_format)
{
    for (int i = 0; i < AUDIO_FORMAT_COUNT; i++) {
        if (strcmp(name, audio_formats[i].name) != 0)
            continue;
        *out_format = (enum audio_format)i;
        return 0;
    }
    return -EINVAL;
}

const char *audio_media_type(enum audio_format format)
{
    return audio_formats[format].media_type;
}

static int audio_write_all(int fd, const void *data, size_t len)
{
    const unsigned char *at = data;

    while (len > 0) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        at += put;
        len -= (size_t)put;
    }
    return 0;
}

static void audio_put_le(unsigned char *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i) & 0xFF);
}

/* RIFF with one "fmt " (16 bytes, PCM) and one "data" chunk. */
static void audio_fill_wav_header(unsigned char header[AUDIO_WAV_HEADER_BYTES], uint32_t rate,
                                  uint32_t data_bytes)
{
    memcpy(header, "RIFF....WAVEfmt ", 16);
    audio_put_le(header + 4, data_bytes + AUDIO_WAV_HEADER_BYTES - 8, 4);
    audio_put_le(header + 16, 16, 4);
    audio_put_le(header + 20, 1, 2); /* PCM */
    audio_put_le(header + 22, 1, 2); /* one channel */
    audio_put_le(header + 24, rate, 4);
    audio_put_le(header + 28, rate * AUDIO_SAMPLE_BYTES, 4);
    audio_put_le(header + 32, AUDIO_SAMPLE_BYTES, 2);
    audio_put_le(header + 34, AUDIO_SAMPLE_BYTES * 8, 2);
    memcpy(header + 36, "data", 4);
    audio_put_le(header + 40, data_bytes, 4);
}

static int audio_name(struct audio_file *file, const char *directory)
{
    const char *suffix = audio_formats[file->format].name;
    uint64_t unique;

    if (getrandom(&unique, sizeof(unique), 0) != (ssize_t)sizeof(unique))
        return -errno;
    int len = snprintf(file->path, sizeof(file->path), "%s/say-%016" PRIx64 ".%s", directory,
                       unique, suffix);
    int part_len = snprintf(file->part_path, sizeof(file->part_path),
                            "%s/.say-%016" PRIx64 ".%s.part", directory, unique, suffix);
    if (len < 0 || part_len < 0 || (size_t)part_len >= sizeof(file->part_path))
        return -ENAMETOOLONG;
    return 0;
}

int audio_open(struct audio_file *file, const char *directory, enum audio_format format)
{
    *file = AUDIO_FILE_EMPTY;
    file->format = format;
    if (mkdir(directory, 0755) < 0 && errno != EEXIST)
        return -errno;
    int result = audio_name(file, directory);
    if (result < 0)
        return result;
    file->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (file->fd >= 0)
        file->part_path[0] = '\0';
    else
        file->fd = open(file->part_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file->fd < 0)
        return -errno;
    if (format != AUDIO_FORMAT_WAV)
        return 0;
    static const unsigned char room[AUDIO_WAV_HEADER_BYTES];
    return audio_write_all(file->fd, room, sizeof(room));
}

/* At the first samples, as only they tell the rate. */
static int audio_start(struct audio_file *file, uint32_t rate)
{
    file->rate = rate;
    if (file->format != AUDIO_FORMAT_MP3)
        return 0;
    file->lame = lame_init();
    if (file->lame == NULL)
        return -ENOMEM;
    (void)lame_set_in_samplerate(file->lame, (int)rate);
    (void)lame_set_num_channels(file->lame, 1);
    (void)lame_set_mode(file->lame, MONO);
    (void)lame_set_brate(file->lame, AUDIO_MP3_KBIT);
    (void)lame_set_quality(file->lame, AUDIO_MP3_QUALITY);
    (void)lame_set_bWriteVbrTag(file->lame, 0); /* the file begins with sound */
    return lame_init_params(file->lame) < 0 ? -EINVAL : 0;
}

static int audio_write_mp3(struct audio_file *file, const int16_t *samples, size_t count)
{
    unsigned char out[AUDIO_MP3_CHUNK_BYTES];

    int len = lame_encode_buffer(file->lame, samples, samples, (int)count, out, sizeof(out));
    return len < 0 ? -EIO : audio_write_all(file->fd, out, (size_t)len);
}

static int audio_write_raw(struct audio_file *file, const int16_t *samples, size_t count)
{
    unsigned char out[AUDIO_CHUNK_SAMPLES * AUDIO_SAMPLE_BYTES];

    for (size_t i = 0; i < count; i++)
        audio_put_le(out + i * AUDIO_SAMPLE_BYTES, (uint16_t)samples[i], AUDIO_SAMPLE_BYTES);
    return audio_write_all(file->fd, out, count * AUDIO_SAMPLE_BYTES);
}

int audio_write(struct audio_file *file, const int16_t *samples, size_t count, uint32_t rate)
{
    int result = file->rate == 0 ? audio_start(file, rate) : 0;

    if (file->format == AUDIO_FORMAT_WAV &&
        (file->samples + count) * AUDIO_SAMPLE_BYTES > AUDIO_WAV_BYTES_MAX)
        return -EFBIG;
    while (count > 0 && result == 0) {
        size_t part = count < AUDIO_CHUNK_SAMPLES ? count : AUDIO_CHUNK_SAMPLES;
        result = file->format == AUDIO_FORMAT_MP3 ? audio_write_mp3(file, samples, part)
                                                  : audio_write_raw(file, samples, part);
        file->samples += part;
        samples += part;
        count -= part;
    }
    return result;
}

static int audio_finish(struct audio_file *file)
{
    unsigned char header[AUDIO_WAV_HEADER_BYTES];
    unsigned char tail[AUDIO_MP3_CHUNK_BYTES];

    if (file->format == AUDIO_FORMAT_WAV) {
        audio_fill_wav_header(header, file->rate, (uint32_t)file->samples * AUDIO_SAMPLE_BYTES);
        return pwrite(file->fd, header, sizeof(header), 0) == (ssize_t)sizeof(header) ? 0 : -EIO;
    }
    if (file->lame == NULL)
        return 0;
    int len = lame_encode_flush(file->lame, tail, sizeof(tail));
    return len < 0 ? -EIO : audio_write_all(file->fd, tail, (size_t)len);
}

/* Gives the finished file its name. open(2) has the recipe for files without one. */
static int audio_publish(struct audio_file *file)
{
    char link[64];

    if (file->part_path[0] != '\0')
        return rename(file->part_path, file->path) < 0 ? -errno : 0;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int audio_commit(struct audio_file *file)
{
    int result = audio_finish(file);

    if (result == 0)
        result = audio_publish(file);
    if (result < 0)
        return result; /* audio_fini drops it */
    int fd = file->fd;
    file->fd = -1;
    return close(fd) < 0 ? -errno : 0;
}

void audio_fini(struct audio_file *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd);
        if (file->part_path[0] != '\0')
            (void)unlink(file->part_path);
        file->fd = -1;
    }
    if (file->lame != NULL)
        (void)lame_close(file->lame);
    file->lame = NULL;
}

double audio_seconds(const struct audio_file *file)
{
    return file->rate == 0 ? 0.0 : (double)file->samples / file->rate;
}

#include "job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "audio.h"
#include "memory.h"
#include "text.h"
#include "voice.h"
#include "wire.h"

#define JOB_MESSAGE_MAX 512
#define JOB_STEP_MAX    64
#define JOB_PCT_TEXT    1
#define JOB_PCT_SPOKEN  99

const char job_params_schema[] =
    "[{\"id\":\"voice\",\"label\":\"Voice\",\"type\":\"select\",\"default\":\"kal16\","
    "\"options\":[{\"value\":\"kal16\",\"label\":\"Kal (US, male, diphones: fastest)\"},"
    "{\"value\":\"awb\",\"label\":\"Awb (Scottish, male)\"},"
    "{\"value\":\"rms\",\"label\":\"Rms (US, male)\"},"
    "{\"value\":\"slt\",\"label\":\"Slt (US, female)\"}],"
    "\"tooltip\":\"alloy, echo, fable, onyx, nova and shimmer are accepted too\"},"
    "{\"id\":\"speed\",\"label\":\"Speed\",\"type\":\"float\",\"default\":1.0,"
    "\"min\":0.25,\"max\":4.0,\"step\":0.05},"
    "{\"id\":\"pitch\",\"label\":\"Pitch\",\"type\":\"float\",\"default\":1.0,"
    "\"min\":0.5,\"max\":2.0,\"step\":0.05,\"tooltip\":\"Factor on the mean frequency\"},"
    "{\"id\":\"response_format\",\"label\":\"Format\",\"type\":\"select\",\"default\":\"wav\","
    "\"options\":[{\"value\":\"wav\",\"label\":\"WAV\"},{\"value\":\"pcm\",\"label\":\"PCM, raw\"},"
    "{\"value\":\"mp3\",\"label\":\"MP3\"}]}]";

struct job {
    struct json_object *id;
    const char *outputs_dir;
    const struct voice *voice;
    double speed;
    double pitch;
    enum audio_format format;
    struct audio_file file;
    char message[JOB_MESSAGE_MAX];
};

/* One job at a time; static, as it is larger than a stack frame should be. */
static char job_text[TEXT_BYTES_MAX + 1];

__attribute__((format(printf, 3, 4))) static int job_fail(struct job *job, int result,
                                                          const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(job->message, sizeof(job->message), format, args);
    va_end(args);
    return result;
}

static struct json_object *job_get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    (void)json_object_object_get_ex(object, key, &value);
    return value;
}

/* A string member; `otherwise` when it is absent or null, NULL when it is no string. */
static const char *job_get_string(struct json_object *object, const char *key,
                                  const char *otherwise)
{
    struct json_object *value = job_get(object, key);

    if (value == NULL)
        return otherwise;
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static int job_read_factor(struct job *job, struct json_object *params, const char *key, double min,
                           double max, double *out_factor)
{
    struct json_object *value = job_get(params, key);
    double factor = 1.0;

    if (value != NULL) {
        if (!json_object_is_type(value, json_type_double) &&
            !json_object_is_type(value, json_type_int))
            return job_fail(job, -EINVAL, "%s must be a number from %g to %g", key, min, max);
        factor = json_object_get_double(value);
        if (!(factor >= min && factor <= max)) /* NaN as well */
            return job_fail(job, -EINVAL, "%s is %g: use %g to %g", key, factor, min, max);
    }
    *out_factor = factor;
    return 0;
}

static int job_read_params(struct job *job, struct json_object *params)
{
    if (params != NULL && !json_object_is_type(params, json_type_object))
        return job_fail(job, -EINVAL, "params must be a JSON object");
    const char *voice = job_get_string(params, "voice", VOICE_DEFAULT);
    job->voice = voice != NULL ? voice_find(voice) : NULL;
    if (job->voice == NULL)
        return job_fail(job, -EINVAL,
                        "unknown voice%s%.40s: use kal16, awb, rms or slt (or alloy, echo, fable, "
                        "onyx, nova, shimmer)",
                        voice != NULL ? " " : "", voice != NULL ? voice : "");
    const char *format = job_get_string(params, "response_format", "wav");
    if (format == NULL || audio_format_parse(format, &job->format) < 0)
        return job_fail(job, -EINVAL, "unknown response_format%s%.40s: use wav, pcm or mp3",
                        format != NULL ? " " : "", format != NULL ? format : "");
    int result = job_read_factor(job, params, "speed", VOICE_SPEED_MIN, VOICE_SPEED_MAX,
                                 &job->speed);
    if (result < 0)
        return result;
    return job_read_factor(job, params, "pitch", VOICE_PITCH_MIN, VOICE_PITCH_MAX, &job->pitch);
}

static int job_read_text(struct job *job, struct json_object *text)
{
    if (!json_object_is_type(text, json_type_string))
        return job_fail(job, -EINVAL, "text is missing or not a string");
    int len = json_object_get_string_len(text);
    if (len > TEXT_BYTES_MAX)
        return job_fail(job, -EINVAL, "the text has %d bytes, more than %d: split it", len,
                        TEXT_BYTES_MAX);
    (void)text_normalize(json_object_get_string(text), (size_t)len, job_text);
    if (text_count_pieces(job_text) == 0)
        return job_fail(job, -EINVAL, "the text is empty: it has no letter and no digit to speak");
    return 0;
}

static int job_read(struct job *job, struct json_object *request)
{
    int result = job_read_params(job, job_get(request, "params"));

    if (result < 0)
        return result;
    job->outputs_dir = job_get_string(request, "outputs_dir", NULL);
    if (job->outputs_dir == NULL || *job->outputs_dir == '\0')
        return job_fail(job, -EINVAL, "outputs_dir is missing or not a string");
    return job_read_text(job, job_get(request, "text"));
}

static int job_sink(void *user, const int16_t *samples, size_t count, uint32_t rate)
{
    struct job *job = user;

    return audio_write(&job->file, samples, count, rate);
}

static void job_send_progress(const struct job *job, int pct, const char *step)
{
    struct json_object *message = wire_new("progress", job->id);

    (void)json_object_object_add(message, "pct", json_object_new_int(pct));
    (void)json_object_object_add(message, "step", json_object_new_string(step));
    wire_send_take(message);
}

/* -ECANCELED when stopped. */
static int job_speak(struct job *job, bool (*should_stop)(void *user), void *user)
{
    char piece[TEXT_PIECE_MAX + 1];
    char step[JOB_STEP_MAX];
    size_t position = 0;
    size_t count = text_count_pieces(job_text);

    for (size_t i = 0; text_next_piece(job_text, &position, piece); i++) {
        if (should_stop(user))
            return -ECANCELED;
        size_t pct = JOB_PCT_TEXT + i * (JOB_PCT_SPOKEN - JOB_PCT_TEXT) / count;
        (void)snprintf(step, sizeof(step), "Speaking %zu of %zu", i + 1, count);
        job_send_progress(job, (int)pct, step);
        int result = voice_speak(job->voice, job->speed, job->pitch, piece, job_sink, job);
        if (result < 0)
            return job_fail(job, result, "cannot write to %.200s: %s", job->outputs_dir,
                            strerror(-result));
    }
    return should_stop(user) ? -ECANCELED : 0;
}

static int job_make(struct job *job, struct json_object *request, bool (*should_stop)(void *user),
                    void *user)
{
    int result = voice_load_all(job->message); /* usually done before, by `load` */
    if (result == 0)
        result = job_read(job, request);
    if (result < 0)
        return result;
    job_send_progress(job, 0, "Reading the text");
    result = audio_open(&job->file, job->outputs_dir, job->format);
    if (result < 0)
        return job_fail(job, result == -EINVAL ? -EIO : result, "cannot write to %.200s: %s",
                        job->outputs_dir, strerror(-result));
    result = job_speak(job, should_stop, user);
    if (result < 0)
        return result;
    if (job->file.samples == 0)
        return job_fail(job, -EINVAL, "the text is empty: it made no sound");
    result = audio_commit(&job->file);
    if (result < 0)
        return job_fail(job, -EIO, "cannot write %.200s: %s", job->file.path, strerror(-result));
    return 0;
}

static void job_send_done(const struct job *job)
{
    struct json_object *message = wire_new("done", job->id);

    (void)json_object_object_add(message, "output_path", json_object_new_string(job->file.path));
    (void)json_object_object_add(message, "media_type",
                                 json_object_new_string(audio_media_type(job->format)));
    (void)json_object_object_add(message, "seconds",
                                 json_object_new_double(audio_seconds(&job->file)));
    (void)json_object_object_add(message, "sample_rate", json_object_new_int((int)job->file.rate));
    (void)json_object_object_add(message, "rss_peak_bytes",
                                 json_object_new_int64(memory_peak_bytes()));
    (void)json_object_object_add(message, "voice", json_object_new_string(voice_name(job->voice)));
    wire_send_take(message);
}

void job_run(struct json_object *request, bool (*should_stop)(void *user), void *user)
{
    struct job job = {.id = job_get(request, "id"), .file = AUDIO_FILE_EMPTY};

    memory_reset_peak();
    int result = job_make(&job, request, should_stop, user);
    audio_fini(&job.file);
    if (result == 0)
        job_send_done(&job);
    else if (result == -ECANCELED)
        wire_send_take(wire_new("cancelled", job.id));
    else
        wire_send_error(job.id, result == -EINVAL ? "bad_input" : "error", job.message);
}

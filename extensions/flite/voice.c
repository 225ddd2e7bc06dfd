#include "voice.h"

#include <dlfcn.h>
#include <errno.h>
#include <flite/cst_cg.h>
#include <flite/flite.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOICE_SYMBOL_MAX 64
#define VOICE_NOISE_SEED 1

typedef cst_voice *(*voice_register_fn)(const char *directory);
typedef void (*voice_unregister_fn)(cst_voice *voice);

struct voice {
    const char *name;
    void *library;
    voice_unregister_fn unregister;
    cst_voice *flite;
    float stretch; /* the voice's own, at speed 1 */
    /* A voice with a "spam" intonation model ignores the pitch; its copy here does without. */
    const cst_cg_db *model;
    cst_cg_db plain_model;
};

static struct voice voices[] = {
    {.name = "kal16"},
    {.name = "awb"},
    {.name = "rms"},
    {.name = "slt"},
};
#define VOICE_COUNT (sizeof(voices) / sizeof(voices[0]))

static const struct {
    const char *alias;
    const char *name;
} voice_aliases[] = {
    {"alloy", "kal16"}, {"echo", "rms"}, {"fable", "awb"},
    {"onyx", "rms"},    {"nova", "slt"}, {"shimmer", "slt"},
};

static void voice_unload(struct voice *voice)
{
    if (voice->flite != NULL)
        voice->unregister(voice->flite);
    if (voice->library != NULL)
        (void)dlclose(voice->library);
    *voice = (struct voice){.name = voice->name};
}

static void *voice_symbol(const struct voice *voice, const char *verb)
{
    char symbol[VOICE_SYMBOL_MAX];

    (void)snprintf(symbol, sizeof(symbol), "%s_cmu_us_%s", verb, voice->name);
    return dlsym(voice->library, symbol);
}

static void voice_read_defaults(struct voice *voice)
{
    const cst_features *features = voice->flite->features;

    voice->stretch = get_param_float(features, "duration_stretch", 1.0f);
    if (!feat_present(features, "cg_db"))
        return;
    const cst_cg_db *model = val_cg_db(feat_val(features, "cg_db"));
    if (!model->spamf0)
        return;
    voice->model = model;
    voice->plain_model = *model;
    voice->plain_model.spamf0 = 0;
}

static int voice_load(struct voice *voice, char message[VOICE_MESSAGE_MAX])
{
    char file[VOICE_SYMBOL_MAX];

    if (voice->flite != NULL)
        return 0;
    (void)snprintf(file, sizeof(file), "libflite_cmu_us_%s.so.1", voice->name);
    voice->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (voice->library != NULL) {
        voice_register_fn reg = (voice_register_fn)voice_symbol(voice, "register");
        voice->unregister = (voice_unregister_fn)voice_symbol(voice, "unregister");
        if (reg != NULL && voice->unregister != NULL)
            voice->flite = reg(NULL);
    }
    if (voice->flite == NULL) {
        const char *why = dlerror();
        (void)snprintf(message, VOICE_MESSAGE_MAX,
                       "cannot load the voice %s (%s): install the package libflite1", voice->name,
                       why != NULL ? why : "it did not register");
        voice_unload(voice);
        return -ENOENT;
    }
    voice_read_defaults(voice);
    return 0;
}

int voice_load_all(char message[VOICE_MESSAGE_MAX])
{
    int result = flite_init() < 0 ? -EIO : 0; /* safe to call again */

    for (size_t i = 0; i < VOICE_COUNT && result == 0; i++)
        result = voice_load(&voices[i], message);
    if (result < 0)
        voice_unload_all();
    return result;
}

void voice_unload_all(void)
{
    for (size_t i = 0; i < VOICE_COUNT; i++)
        voice_unload(&voices[i]);
    (void)malloc_trim(0);
}

bool voice_is_loaded(void)
{
    return voices[VOICE_COUNT - 1].flite != NULL;
}

const struct voice *voice_find(const char *name)
{
    for (size_t i = 0; i < sizeof(voice_aliases) / sizeof(voice_aliases[0]); i++)
        if (strcmp(voice_aliases[i].alias, name) == 0)
            name = voice_aliases[i].name;
    for (size_t i = 0; i < VOICE_COUNT; i++)
        if (strcmp(voices[i].name, name) == 0)
            return &voices[i];
    return NULL;
}

const char *voice_name(const struct voice *voice)
{
    return voice->name;
}

static void voice_set_parameters(const struct voice *voice, double speed, double pitch)
{
    cst_features *features = voice->flite->features;

    feat_set_float(features, "duration_stretch", voice->stretch / (float)speed);
    feat_set_float(features, "f0_shift", (float)pitch);
    if (voice->model != NULL) {
        const cst_cg_db *model = pitch == 1.0 ? voice->model : &voice->plain_model;
        feat_set(features, "cg_db", cg_db_val(model));
    }
}

int voice_speak(const struct voice *voice, double speed, double pitch, const char *piece,
                voice_sink sink, void *user)
{
    srand(VOICE_NOISE_SEED); /* banned-ok: flite draws noise from it; same request, same sound */
    voice_set_parameters(voice, speed, pitch);
    cst_wave *wave = flite_text_to_wave(piece, voice->flite);
    if (wave == NULL)
        return -EIO;
    int result = 0;
    if (wave->num_samples > 0)
        result = sink(user, wave->samples, (size_t)wave->num_samples, (uint32_t)wave->sample_rate);
    delete_wave(wave);
    return result;
}

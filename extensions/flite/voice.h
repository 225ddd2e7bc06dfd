/* voice: the four flite voices: loading, releasing, speaking.
 *
 * Each voice is a shared library of its own, opened at load and closed at unload, so that its
 * pages are really given back. flite keeps global state: one thread only. */
#ifndef HOTBUNK_FLITE_VOICE_H
#define HOTBUNK_FLITE_VOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOICE_DEFAULT     "kal16"
#define VOICE_SPEED_MIN   0.25
#define VOICE_SPEED_MAX   4.0
#define VOICE_PITCH_MIN   0.5
#define VOICE_PITCH_MAX   2.0
#define VOICE_MESSAGE_MAX 256

struct voice;

/* Takes samples as they are made; a negative return ends the speaking with that value. */
typedef int (*voice_sink)(void *user, const int16_t *samples, size_t count, uint32_t rate);

/* Opens all voices. 0, or -ENOENT with a message that names the remedy. Loading twice is fine. */
int voice_load_all(char message[VOICE_MESSAGE_MAX]);
void voice_unload_all(void);
bool voice_is_loaded(void);

/* A voice by its own name or by the name OpenAI's clients use; NULL if there is none. */
const struct voice *voice_find(const char *name);
const char *voice_name(const struct voice *voice);

/* Speaks one piece. Speed and pitch (a factor on the mean frequency) are set anew each time, as
 * flite's parameters stick to the voice. 0, -EIO, or what the sink returned. */
int voice_speak(const struct voice *voice, double speed, double pitch, const char *piece,
                voice_sink sink, void *user);

#endif

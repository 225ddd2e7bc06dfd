/* hotbunk.h: the public C interface of libhotbunk. Includes no other library; C and C++.
 *
 * Functions that can fail return 0 (BUNK_OK) or a negative BUNK_E_ value. Any thread unless a
 * function says otherwise. */
#ifndef HOTBUNK_H
#define HOTBUNK_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BUNK_API __attribute__((visibility("default")))
#else
#define BUNK_API
#endif

/* The version this header belongs to. A library with the same major version is compatible when its
 * minor version is not smaller. */
#define BUNK_VERSION_MAJOR 0
#define BUNK_VERSION_MINOR 1
#define BUNK_VERSION_PATCH 0
#define BUNK_VERSION       "0.1.0"

/* The version of the library that is linked, as in BUNK_VERSION. */
BUNK_API const char *bunk_version(void);

/* Values are part of the interface: none is ever given another meaning. */
enum bunk_error {
    BUNK_OK = 0,
    BUNK_E_FAILED = -1,      /* the work itself failed: a load, a job */
    BUNK_E_INVALID = -2,     /* what was asked for is wrong; asking again will not help */
    BUNK_E_NO_DAEMON = -3,   /* no daemon answers, or it went away */
    BUNK_E_REFUSED = -4,     /* not now: the queue is full, the daemon stops, memory is taken */
    BUNK_E_TIMEOUT = -5,     /* the time that was allowed is over */
    BUNK_E_INTERRUPTED = -6, /* a signal ended the call */
    BUNK_E_DENIED = -7,      /* the key is missing or wrong */
    BUNK_E_PROTOCOL = -8,    /* what answered is no Hotbunk daemon, or one of another version */
};

/* One sentence for a person, never NULL; also for unknown values. */
BUNK_API const char *bunk_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif

/* fixture: a server on a free port, a raw client and a scratch directory, on one loop. */
#ifndef HOTBUNK_TESTS_UNIT_NET_FIXTURE_H
#define HOTBUNK_TESTS_UNIT_NET_FIXTURE_H

#include "cmocka_all.h"
#include "net/server.h"
#include "os/stream.h"

#define FIXTURE_LIMIT_MS 10000 /* a test that waits longer has failed */

struct fixture {
    struct loop *loop;
    struct server *server;
    struct timer *limit;
    struct stream *client;
    struct buf answer; /* everything the raw client got */
    bool is_closed;    /* the server closed it */
    char dir[64];
    unsigned serial;
    unsigned calls, gone, ended; /* free for the handlers of a test */
    int status;                  /* of the last body callback */
    struct exchange *held;
    char note[256];
};

/* Starts the server; options->data is set to the fixture. */
void fixture_open(struct fixture *fx, struct server_options *options);
void fixture_close(struct fixture *fx);

/* Opens the raw client, sends the bytes and returns. */
void fixture_send(struct fixture *fx, struct slice bytes);

/* Runs the loop until the server closed the raw client; gives everything it got. */
const char *fixture_read_all(struct fixture *fx);

/* Both of the above. */
const char *fixture_ask(struct fixture *fx, const char *text);

/* Runs the loop for a while. */
void fixture_run_ms(struct fixture *fx, uint64_t ms);

/* A path in the scratch directory (mem_free): a body_limits.make_path. */
char *fixture_path(void *fixture);

/* Number of files in the scratch directory. */
unsigned fixture_files(struct fixture *fx);

#endif

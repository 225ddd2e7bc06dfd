/* act: what the fake worker does when asked: load, generate, unload. Runs on its own thread, so
 * that the main one can read a cancel meanwhile; they share `act_queue` under one lock. */
#ifndef HOTBUNK_FAKEWORKER_ACT_H
#define HOTBUNK_FAKEWORKER_ACT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts the thread. 0 or negative errno. */
int act_init(void);

/* Queues a request; false if too many wait (it stays the caller's). */
bool act_add_take(struct json_object *message, uint64_t read_ns);

/* The job with this id, running or waiting, ends as cancelled; NULL: the running one. */
void act_cancel(struct json_object *id);

/* Does what --hang and --crash say for the stage; returns only if they say nothing. */
void act_misbehave(uint64_t stage);

/* True once a hang has begun: the whole process is to be deaf. */
bool act_is_hung(void);

#endif

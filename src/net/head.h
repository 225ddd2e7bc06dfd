/* head: a request head's bytes, already passed by guard_head_scan, through llhttp into a
 * struct http_head, with the framing rules on top (Host, Content-Length, Transfer-Encoding).
 * Pure. */
#ifndef HOTBUNK_NET_HEAD_H
#define HOTBUNK_NET_HEAD_H

#include "net/http.h"

/* 0, or the status to refuse with (400, 414, 417, 431) and *out_why as a fixed text. `bytes` is
 * the whole head with its empty line; it must live as long as `out_head`. */
int head_parse(struct slice bytes, struct http_head *out_head, const char **out_why) MUSTCHECK;

#endif

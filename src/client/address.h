/* address: which daemon a client talks to: --url, then HOTBUNK_URL, then the address file.
 *
 * address_parse is pure; address_find reads the environment and the file. Any thread. */
#ifndef HOTBUNK_CLIENT_ADDRESS_H
#define HOTBUNK_CLIENT_ADDRESS_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

#define ADDRESS_HOST_MAX 64 /* a numeric IPv6 address with its zone */
#define ADDRESS_URL_MAX  96

struct address {
    char host[ADDRESS_HOST_MAX]; /* numeric, no brackets */
    uint16_t port;
    char url[ADDRESS_URL_MAX]; /* "http://127.0.0.1:8000": for messages */
};

/* "http://HOST[:PORT][/]": HOST is numeric or `localhost`. 0 or -EINVAL (err: how to write it). */
int address_parse(struct slice url, struct address *out, struct err *err) MUSTCHECK;

/* `url` may be NULL. 0, -EINVAL (a bad URL; err says where it came from), -ECONNREFUSED (no
 * address file: no daemon runs here) or -EPERM. */
int address_find(const char *url, struct address *out, struct err *err) MUSTCHECK;

#endif

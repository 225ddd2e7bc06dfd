#include "client/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/num.h"
#include "os/dirs.h"
#include "os/file.h"

#define ADDRESS_SCHEME   "http://"
#define ADDRESS_PORT     80 /* RFC 9110 section 4.2.1: the port of an http URL without one */
#define ADDRESS_FILE_MAX 512

static int address_bad(struct slice url, const char *why, struct err *err)
{
    return err_set(err, -EINVAL, "`%.*s` %s; write it as http://127.0.0.1:8000", SLICE_ARG(url),
                   why);
}

/* Takes the host off *rest, into out->host; an IPv6 address stands in brackets. */
static int address_take_host(struct slice *rest, struct address *out)
{
    bool is_v6 = rest->len && rest->ptr[0] == '[';
    size_t end = slice_index(*rest, is_v6 ? ']' : ':');
    struct slice host = is_v6 ? slice_of(rest->ptr + 1, end - 1) : slice_of(rest->ptr, end);
    unsigned char bytes[sizeof(struct in6_addr)];

    if (is_v6 && end == rest->len)
        return -EINVAL;
    *rest = slice_skip(*rest, is_v6 ? end + 1 : end);
    if (slice_ieq_str(host, "localhost"))
        host = slice_str("127.0.0.1");
    if (host.len == 0 || host.len >= sizeof(out->host))
        return -EINVAL;
    memcpy(out->host, host.ptr, host.len);
    out->host[host.len] = '\0';
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, out->host, bytes) == 1 ? 0 : -EINVAL;
}

static int address_take_port(struct slice rest, uint16_t *out_port)
{
    uint64_t port = ADDRESS_PORT;

    if (rest.len && (rest.ptr[0] != ':' || num_parse_u64(slice_skip(rest, 1), UINT16_MAX, &port)))
        return -EINVAL;
    *out_port = (uint16_t)port;
    return port ? 0 : -EINVAL;
}

int address_parse(struct slice url, struct address *out, struct err *err)
{
    struct address found = {0};
    struct slice rest;
    bool is_v6;

    if (!slice_starts_with(url, ADDRESS_SCHEME))
        return address_bad(url, "is not an http:// address", err);
    rest = slice_skip(url, sizeof(ADDRESS_SCHEME) - 1);
    if (slice_ends_with(rest, "/"))
        rest.len--;
    if (slice_index(rest, '/') != rest.len || slice_index(rest, '?') != rest.len)
        return address_bad(url, "has a path, but only host and port are used", err);
    if (address_take_host(&rest, &found) != 0)
        return address_bad(url, "has no numeric host (nor localhost)", err);
    if (address_take_port(rest, &found.port) != 0)
        return address_bad(url, "has no port between 1 and 65535", err);
    is_v6 = strchr(found.host, ':') != NULL;
    (void)snprintf(found.url, sizeof(found.url), is_v6 ? "http://[%s]:%u" : "http://%s:%u",
                   found.host, found.port); /* host and port always fit */
    *out = found;
    return 0;
}

static int address_of(struct slice url, const char *source, struct address *out, struct err *err)
{
    struct err why = {0};

    if (address_parse(url, out, &why) == 0)
        return 0;
    return err_set(err, -EINVAL, "%s: %s", source, why.msg);
}

static int address_from_file(struct address *out, struct err *err)
{
    auto_free char *dir = dirs_runtime();
    auto_free char *path = file_join(dir, DIRS_ADDRESS_FILE);
    struct buf text;
    struct slice url;
    int rc;

    if (!file_exists(path))
        return err_set(err, -ECONNREFUSED,
                       "no daemon answers: there is no %s; start one with `hotbunk serve`, or name "
                       "it with --url",
                       path);
    rc = dirs_runtime_check(dir, err);
    if (rc != 0)
        return rc;
    buf_init(&text, ADDRESS_FILE_MAX);
    rc = file_read(path, &text, err);
    url = buf_slice(&text);
    while (url.len && (url.ptr[url.len - 1] == '\n' || url.ptr[url.len - 1] == '\r'))
        url.len--;
    if (rc == 0)
        rc = address_of(url, path, out, err);
    buf_fini(&text);
    return rc;
}

int address_find(const char *url, struct address *out, struct err *err)
{
    const char *named = getenv("HOTBUNK_URL");

    if (url)
        return address_of(slice_str(url), "--url", out, err);
    if (named && named[0])
        return address_of(slice_str(named), "HOTBUNK_URL", out, err);
    return address_from_file(out, err);
}

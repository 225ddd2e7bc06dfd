#include "net/access.h"

#include <arpa/inet.h>
#include <strings.h>

/* ---- names and addresses ---- */

/* Copies into a C string; false when it does not fit. */
static bool slice_copy(struct slice s, char *out, size_t cap)
{
    if (s.len >= cap)
        return false;
    memcpy(out, s.ptr, s.len);
    out[s.len] = '\0';
    return true;
}

/* A numeric address (no brackets) as 16 bytes, IPv4 mapped. */
static bool address_parse(struct slice host, struct in6_addr *out)
{
    char text[INET6_ADDRSTRLEN + 1];
    struct in_addr four;

    if (!slice_copy(host, text, sizeof(text)))
        return false;
    if (inet_pton(AF_INET, text, &four) == 1) {
        memset(out, 0, sizeof(*out));
        out->s6_addr[10] = out->s6_addr[11] = 0xff;
        memcpy(&out->s6_addr[12], &four, sizeof(four));
        return true;
    }
    return inet_pton(AF_INET6, text, out) == 1;
}

bool access_is_loopback(struct slice host)
{
    struct in6_addr addr;

    if (slice_eq_str(host, "127.0.0.1") || slice_ieq_str(host, "localhost") ||
        slice_eq_str(host, "unix"))
        return true;
    if (!address_parse(host, &addr))
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&addr))
        return addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&addr);
}

static bool is_port(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len > 0 && text.len <= 5;
}

/* The host of "host", "host:port", "[v6]" or "[v6]:port"; false when it is none of these. */
static bool authority_host(struct slice authority, struct slice *out_host)
{
    struct slice rest;

    if (authority.len && authority.ptr[0] == '[') {
        size_t end = slice_index(authority, ']');
        if (end == authority.len)
            return false;
        *out_host = slice_of(authority.ptr + 1, end - 1);
        rest = slice_skip(authority, end + 1);
    } else {
        size_t end = slice_index(authority, ':');
        *out_host = slice_of(authority.ptr, end);
        rest = slice_skip(authority, end);
    }
    if (rest.len && (rest.ptr[0] != ':' || !is_port(slice_skip(rest, 1))))
        return false;
    return out_host->len > 0;
}

/* ---- Host ---- */

static bool is_same_address(struct slice host, const char *listen_host)
{
    struct in6_addr ours, theirs;

    return listen_host && address_parse(slice_str(listen_host), &ours) &&
           address_parse(host, &theirs) && memcmp(&ours, &theirs, sizeof(ours)) == 0;
}

static bool host_is_allowed(const struct access_policy *policy, struct slice authority)
{
    struct in6_addr addr;
    struct slice host;

    if (!authority_host(authority, &host))
        return false;
    if ((access_is_loopback(host) && !slice_eq_str(host, "unix")) ||
        is_same_address(host, policy->listen_host))
        return true;
    for (size_t i = 0; i < policy->name_count; i++) {
        if (slice_ieq_str(host, policy->names[i]))
            return true;
    }
    /* A rebinding attack needs a name: a plain address is as good as the one we listen on. */
    return policy->allows_remote && address_parse(host, &addr);
}

/* ---- Origin ---- */

static bool take_prefix(struct slice *s, const char *prefix)
{
    size_t len = strlen(prefix);

    if (s->len < len || strncasecmp(s->ptr, prefix, len) != 0)
        return false;
    *s = slice_skip(*s, len);
    return true;
}

/* "name:80" of http and "name:443" of https are the same as "name". */
static struct slice without_port(struct slice authority, const char *port)
{
    if (slice_ends_with(authority, port))
        authority.len -= strlen(port);
    return authority;
}

static bool origin_is_host(struct slice origin, struct slice host)
{
    const char *port = ":80";

    if (take_prefix(&origin, "https://"))
        port = ":443"; /* a TLS proxy stands in front */
    else if (!take_prefix(&origin, "http://"))
        return false;
    origin = without_port(origin, port);
    host = without_port(host, port);
    return origin.len && host.ptr && origin.len == host.len &&
           strncasecmp(origin.ptr, host.ptr, host.len) == 0;
}

static bool origin_is_local(struct slice origin)
{
    struct slice rest = origin, host;

    if (take_prefix(&rest, "file:") || take_prefix(&rest, "app:"))
        return true;
    if (!take_prefix(&rest, "http://") && !take_prefix(&rest, "https://"))
        return false;
    return authority_host(rest, &host) && access_is_loopback(host) && !slice_eq_str(host, "unix");
}

/* ---- the key ---- */

static bool has_key(const struct access_policy *policy)
{
    return policy->key && policy->key[0];
}

/* Takes as long for a wrong key as for a right one of that length. */
static bool key_is(const struct access_policy *policy, struct slice given)
{
    size_t len = strlen(policy->key);
    unsigned char differ = given.len != len;

    for (size_t i = 0; i < given.len; i++)
        differ |= (unsigned char)(given.ptr[i] ^ policy->key[i % len]);
    return differ == 0;
}

static bool request_has_key(const struct access_policy *policy, const struct http_head *head)
{
    const struct slice *token = http_head_field(head, "x-modly-token");
    const struct slice *bearer = http_head_field(head, "authorization");
    struct slice given;

    if (!has_key(policy))
        return false;
    if (token && key_is(policy, *token))
        return true;
    if (!bearer)
        return false;
    given = *bearer;
    return take_prefix(&given, "Bearer ") && key_is(policy, slice_trim(given));
}

/* A preflight cannot carry the key; it can say that the request will. */
static bool preflight_names_key(const struct http_head *head)
{
    const struct slice *asked = http_head_field(head, "access-control-request-headers");

    return asked &&
           (http_list_has(*asked, "x-modly-token") || http_list_has(*asked, "authorization"));
}

/* ---- the verdict ---- */

static bool is_preflight(const struct http_head *head)
{
    return head->method == HTTP_METHOD_OPTIONS && http_head_field(head, "origin") &&
           http_head_field(head, "access-control-request-method");
}

static bool origin_is_allowed(const struct access_policy *policy, const struct http_head *head,
                              struct slice origin)
{
    if (origin_is_host(origin, head->host))
        return true;
    if (!policy->is_modly)
        return false;
    if (!slice_ieq_str(origin, "null"))
        return origin_is_local(origin);
    return is_preflight(head) ? has_key(policy) && preflight_names_key(head)
                              : request_has_key(policy, head);
}

static struct access_verdict verdict_of(enum access_result result, const char *detail)
{
    return (struct access_verdict){.result = result, .detail = detail};
}

static enum access_result check_key(const struct access_policy *policy,
                                    const struct http_head *head, bool is_local)
{
    if (head->method == HTTP_METHOD_OPTIONS || slice_eq_str(head->path, "/health"))
        return ACCESS_OK;
    if (!has_key(policy))
        return is_local ? ACCESS_OK : ACCESS_UNAUTHORIZED;
    return request_has_key(policy, head) ? ACCESS_OK : ACCESS_UNAUTHORIZED;
}

static bool has_two(const struct http_head *head, const char *name)
{
    unsigned count = 0;

    for (size_t i = 0; i < head->field_count; i++)
        count += slice_ieq_str(head->fields[i].name, name);
    return count > 1;
}

struct access_verdict access_check(const struct access_policy *policy, const struct http_head *head,
                                   const char *peer)
{
    struct access_verdict verdict = {.result = ACCESS_OK};
    const struct slice *origin = http_head_field(head, "origin");
    bool is_local = access_is_loopback(slice_str(peer));

    if (!is_local && !policy->allows_remote)
        return verdict_of(ACCESS_FORBIDDEN, "only requests from this machine are served");
    if (head->host.ptr && !host_is_allowed(policy, head->host))
        return verdict_of(ACCESS_FORBIDDEN,
                          "this Host is not served here; use localhost or the address it listens "
                          "on");
    if (origin && (has_two(head, "origin") || !origin_is_allowed(policy, head, *origin)))
        return verdict_of(ACCESS_FORBIDDEN, "requests from this Origin are not allowed");
    if (origin && policy->is_modly)
        verdict.cors_origin = *origin;
    if (policy->is_modly && is_preflight(head)) {
        const struct slice *asked = http_head_field(head, "access-control-request-headers");
        verdict.result = ACCESS_PREFLIGHT;
        verdict.cors_headers = asked ? *asked : slice_of(NULL, 0);
        return verdict;
    }
    verdict.result = check_key(policy, head, is_local);
    if (verdict.result == ACCESS_UNAUTHORIZED)
        verdict.detail = "Missing or invalid API token";
    return verdict;
}

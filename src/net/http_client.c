#include "net/http_client.h"

#include <errno.h>
#include <fcntl.h>
#include <llhttp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/stream.h"

#define CLIENT_HEAD_MAX_BYTES (64u << 10)
#define CLIENT_PIECE_BYTES    (64u << 10)
#define CLIENT_BOUNDARY_LEN   38

/* What goes out, in order: texts from memory and files. */
struct client_piece {
    char *text;
    size_t len;
    int fd; /* -1: it is text */
    uint64_t file_len;
};

struct http_client {
    struct loop *loop;
    struct stream *stream;
    const struct http_client_events *events;
    void *data;
    struct client_piece *pieces;
    size_t piece_count, piece_at;
    llhttp_t parser;
    struct buf head; /* names and values of the answer, one behind the other */
    struct http_client_answer answer;
    size_t name_at, value_at; /* of the field that arrives, in `head` */
    bool is_head_request;
    bool is_complete;
    bool is_cancelled, in_callback;
};

static void client_free(struct http_client *client)
{
    stream_free(client->stream);
    for (size_t i = 0; i < client->piece_count; i++) {
        mem_free(client->pieces[i].text);
        if (client->pieces[i].fd >= 0)
            (void)close(client->pieces[i].fd); /* it was only read */
    }
    mem_free(client->pieces);
    buf_fini(&client->head);
    mem_free(client);
}

static void client_end(struct http_client *client, int status)
{
    client->in_callback = true; /* a cancel from on_end does nothing */
    if (!client->is_cancelled)
        client->events->on_end(client->data, status);
    client_free(client);
}

void http_client_cancel(struct http_client *client)
{
    if (!client)
        return;
    client->is_cancelled = true;
    if (!client->in_callback)
        client_free(client);
}

/* ---- the answer ---- */

static int field_cb(llhttp_t *parser, const char *at, size_t len)
{
    struct http_client *client = parser->data;

    return buf_add(&client->head, at, len) == 0 ? 0 : -1;
}

static int field_name_end_cb(llhttp_t *parser)
{
    struct http_client *client = parser->data;

    client->value_at = client->head.len;
    return 0;
}

/* Offsets for now: the buffer may still move. */
static int field_value_end_cb(llhttp_t *parser)
{
    struct http_client *client = parser->data;
    struct http_client_answer *answer = &client->answer;
    struct http_field *field;

    if (answer->field_count == HTTP_FIELDS_MAX)
        return -1;
    field = &answer->fields[answer->field_count++];
    field->name.len = client->value_at - client->name_at;
    field->value.len = client->head.len - client->value_at;
    client->name_at = client->head.len;
    return 0;
}

static void client_announce(struct http_client *client)
{
    struct http_client_answer *answer = &client->answer;
    const char *at = client->head.data;

    for (size_t i = 0; i < answer->field_count; i++) {
        struct http_field *field = &answer->fields[i];
        field->name.ptr = at;
        at += field->name.len;
        field->value = slice_of(at, field->value.len);
        at += field->value.len;
        field->value = slice_trim(field->value);
    }
    if (client->events->on_head)
        client->events->on_head(client->data, answer);
}

static int head_end_cb(llhttp_t *parser)
{
    struct http_client *client = parser->data;

    if (parser->status_code / 100 == 1)
        return 0; /* an interim answer: the real one follows */
    client->answer.status = parser->status_code;
    client_announce(client);
    return client->is_head_request ? 1 : 0;
}

static int body_cb(llhttp_t *parser, const char *at, size_t len)
{
    struct http_client *client = parser->data;

    if (!client->is_cancelled)
        client->events->on_body(client->data, slice_of(at, len));
    return client->is_cancelled ? -1 : 0;
}

static int message_end_cb(llhttp_t *parser)
{
    struct http_client *client = parser->data;

    if (client->answer.status == 0) {
        buf_reset(&client->head);
        client->answer.field_count = 0;
        client->name_at = 0;
        return 0;
    }
    client->is_complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t client_settings = {
    .on_header_field = field_cb,
    .on_header_field_complete = field_name_end_cb,
    .on_header_value = field_cb,
    .on_header_value_complete = field_value_end_cb,
    .on_headers_complete = head_end_cb,
    .on_body = body_cb,
    .on_message_complete = message_end_cb,
};

static void data_cb(void *data, struct slice bytes)
{
    struct http_client *client = data;
    llhttp_errno_t rc;

    client->in_callback = true;
    rc = llhttp_execute(&client->parser, bytes.ptr, bytes.len);
    client->in_callback = false;
    if (client->is_cancelled)
        client_free(client);
    else if (client->is_complete)
        client_end(client, 0);
    else if (rc != HPE_OK)
        client_end(client, -EBADMSG);
}

static void end_cb(void *data, int status)
{
    struct http_client *client = data;

    if (status == 0) {
        client->in_callback = true;
        (void)llhttp_finish(&client->parser); /* is_complete tells */
        client->in_callback = false;
    }
    client_end(client, client->is_complete ? 0 : status ? status : -ECONNRESET);
}

/* ---- the request ---- */

/* 0 = go on, 1 = wait for the drain, negative = broken. */
static int client_send_file(struct http_client *client, struct client_piece *piece)
{
    char bytes[CLIENT_PIECE_BYTES];
    int rc = 0;

    while (rc == 0 && piece->file_len) {
        size_t want = piece->file_len < sizeof(bytes) ? (size_t)piece->file_len : sizeof(bytes);
        ssize_t got = read(piece->fd, bytes, want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO; /* it shrank */
        piece->file_len -= (size_t)got;
        rc = stream_write(client->stream, bytes, (size_t)got);
    }
    return rc;
}

static int client_send(struct http_client *client)
{
    int rc = 0;

    while (rc == 0 && client->piece_at < client->piece_count) {
        struct client_piece *piece = &client->pieces[client->piece_at];
        if (piece->fd < 0)
            rc = stream_write(client->stream, piece->text, piece->len);
        else
            rc = client_send_file(client, piece);
        if (rc >= 0 && (piece->fd < 0 || piece->file_len == 0))
            client->piece_at++;
    }
    return rc;
}

static void drain_cb(void *data)
{
    /* A failure to write may come because the answer is there already: reading decides. */
    (void)client_send(data);
}

static const struct stream_events client_stream_events = {data_cb, end_cb, drain_cb};

static void connect_cb(void *data, int status)
{
    struct http_client *client = data;

    if (status != 0) {
        client_end(client, status);
        return;
    }
    stream_listen(client->stream, &client_stream_events, client);
    (void)client_send(client); /* as in drain_cb */
    stream_read_start(client->stream);
}

static struct client_piece *piece_add(struct http_client *client)
{
    struct client_piece *piece;

    client->pieces = mem_resize(client->pieces,
                                (client->piece_count + 1) * sizeof(*client->pieces));
    piece = &client->pieces[client->piece_count++];
    *piece = (struct client_piece){.fd = -1};
    return piece;
}

/* Takes `text` (mem_free). */
static void piece_add_text(struct http_client *client, char *text, size_t len)
{
    struct client_piece *piece = piece_add(client);

    piece->text = text;
    piece->len = len;
}

static int piece_add_file(struct http_client *client, const char *path, struct err *err)
{
    struct client_piece *piece;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        rc = fd < 0 ? -errno : -EINVAL;
        if (fd >= 0)
            (void)close(fd); /* it was not even read */
        return err_set(err, rc, "cannot read %s: %s", path,
                       rc == -EINVAL ? "it is no regular file" : strerror(-rc));
    }
    piece = piece_add(client);
    piece->fd = fd;
    piece->file_len = (uint64_t)st.st_size;
    return 0;
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Quotes and line ends as browsers send them (HTML, multipart/form-data encoding algorithm). */
static char *quote_name(const char *name)
{
    struct buf out;
    int rc = 0;

    buf_init(&out, 4096);
    for (; *name && rc == 0; name++) {
        if (*name == '"' || *name == '\r' || *name == '\n')
            rc = buf_printf(&out, "%%%02X", (unsigned)*name);
        else
            rc = buf_add_char(&out, *name);
    }
    return buf_take(&out); /* cut at 4 KiB */
}

static int part_add(struct http_client *client, const struct http_client_part *part,
                    const char *boundary, struct err *err)
{
    auto_free char *name = quote_name(part->name);
    auto_free char *file = part->path ? quote_name(part->filename ? part->filename
                                                                  : last_component(part->path))
                                      : NULL;
    const char *type = part->content_type;
    char *text;

    if (!type && part->path)
        type = "application/octet-stream";
    text = mem_printf("--%s\r\nContent-Disposition: form-data; name=\"%s\"%s%s%s%s%s\r\n\r\n%s",
                      boundary, name, file ? "; filename=\"" : "", file ? file : "",
                      file ? "\"" : "", type ? "\r\nContent-Type: " : "", type ? type : "",
                      part->path ? "" : part->value);
    piece_add_text(client, text, strlen(text));
    if (part->path) {
        int rc = piece_add_file(client, part->path, err);
        if (rc != 0)
            return rc;
    }
    piece_add_text(client, mem_strdup("\r\n"), 2);
    return 0;
}

static int body_add(struct http_client *client, const struct http_client_request *request,
                    const char *boundary, struct err *err)
{
    char *text;
    int rc = 0;

    if (!request->part_count) {
        if (request->body.len)
            piece_add_text(client, slice_dup(request->body), request->body.len);
        return 0;
    }
    for (size_t i = 0; i < request->part_count && rc == 0; i++)
        rc = part_add(client, &request->parts[i], boundary, err);
    text = mem_printf("--%s--\r\n", boundary);
    piece_add_text(client, text, strlen(text));
    return rc;
}

static void boundary_make(char out[CLIENT_BOUNDARY_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t random[16];
    size_t at = 0;

    loop_random(random);
    memcpy(out, "------", 6);
    for (size_t i = 0; i < sizeof(random); i++) {
        out[6 + at++] = digits[random[i] >> 4];
        out[6 + at++] = digits[random[i] & 15];
    }
    out[CLIENT_BOUNDARY_LEN] = '\0';
}

/* The head goes into piece 0, which was kept free for it: it tells the length of the others. */
static int head_build(struct http_client *client, const struct http_client_request *request,
                      const char *authority, const char *boundary, struct err *err)
{
    uint64_t length = 0;
    struct buf head;
    int rc;

    for (size_t i = 1; i < client->piece_count; i++)
        length += client->pieces[i].fd < 0 ? client->pieces[i].len : client->pieces[i].file_len;
    buf_init(&head, CLIENT_HEAD_MAX_BYTES);
    rc = buf_printf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", request->method,
                    request->target, authority);
    for (size_t i = 0; rc == 0 && request->headers && request->headers[i]; i++)
        rc = buf_printf(&head, "%s\r\n", request->headers[i]);
    if (rc == 0 && request->part_count)
        rc = buf_printf(&head, "Content-Type: multipart/form-data; boundary=%s\r\n", boundary);
    else if (rc == 0 && request->content_type)
        rc = buf_printf(&head, "Content-Type: %s\r\n", request->content_type);
    if (rc == 0 && (length || strcmp(request->method, "GET") != 0))
        rc = buf_printf(&head, "Content-Length: %llu\r\n", (unsigned long long)length);
    if (rc == 0)
        rc = buf_add_str(&head, "\r\n");
    if (rc != 0)
        (void)err_set(err, rc, "the request's head is over %u bytes", CLIENT_HEAD_MAX_BYTES);
    client->pieces[0].len = head.len;
    client->pieces[0].text = buf_take(&head);
    return rc;
}

static int client_build(struct http_client *client, const char *host, uint16_t port,
                        const struct http_client_request *request, struct err *err)
{
    char boundary[CLIENT_BOUNDARY_LEN + 1];
    auto_free char *authority = strchr(host, ':') ? mem_printf("[%s]:%u", host, port)
                                                  : mem_printf("%s:%u", host, port);
    int rc;

    boundary_make(boundary);
    (void)piece_add(client); /* for the head */
    rc = body_add(client, request, boundary, err);
    return rc == 0 ? head_build(client, request, authority, boundary, err) : rc;
}

struct http_client *http_client_open(struct loop *loop, const char *host, uint16_t port,
                                     const struct http_client_request *request,
                                     const struct http_client_events *events, void *data,
                                     struct err *err)
{
    struct http_client *client = mem_new(1, sizeof(*client));

    client->loop = loop;
    client->events = events;
    client->data = data;
    client->is_head_request = strcmp(request->method, "HEAD") == 0;
    buf_init(&client->head, CLIENT_HEAD_MAX_BYTES);
    llhttp_init(&client->parser, HTTP_RESPONSE, &client_settings);
    client->parser.data = client;
    if (client_build(client, host, port, request, err) == 0) {
        client->stream = stream_connect_tcp(loop, host, port, connect_cb, client);
        if (client->stream)
            return client;
        (void)err_set(err, -EINVAL, "cannot connect to \"%s\" port %u; use a numeric address", host,
                      port);
    }
    client_free(client);
    return NULL;
}

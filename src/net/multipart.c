#include "net/multipart.h"

#include <errno.h>

#include "net/http.h"

#define DELIMITER_MAX (4 + MULTIPART_BOUNDARY_MAX)

enum multipart_state {
    MULTIPART_DATA = 0,     /* of a part; before the first boundary nothing is allowed */
    MULTIPART_BOUNDARY = 1, /* the delimiter was seen: "--" or CRLF follows */
    MULTIPART_BOUNDARY_LF = 2,
    MULTIPART_CLOSING = 3, /* the second '-' of the closing delimiter */
    MULTIPART_HEAD = 4,
    MULTIPART_END = 5, /* what follows is ignored (RFC 2046: epilogue) */
};

struct multipart {
    const struct multipart_events *events;
    void *data;
    enum multipart_state state;
    unsigned parts;
    bool in_part; /* on_part was called and on_part_end was not */
    bool wants_pause;
    char delimiter[DELIMITER_MAX + 1]; /* CRLF "--" boundary */
    size_t delimiter_len;
    size_t matched; /* bytes of the delimiter that the input ends with */
    struct buf head;
};

static int bad(struct err *err, const char *what)
{
    return err_set(err, -EBADMSG, "the multipart body is malformed: %s", what);
}

/* ---- one part's head ---- */

struct part_head {
    struct slice disposition, content_type;
};

static int head_line(struct part_head *out, struct slice line, struct err *err)
{
    size_t colon = slice_index(line, ':');
    struct slice name = slice_of(line.ptr, colon);
    struct slice value = slice_trim(slice_skip(line, colon + 1));

    if (colon == line.len || !http_is_token(name))
        return bad(err, "a part has a header line that is no \"Name: value\"");
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return bad(err, "a part's header holds a control byte");
    }
    if (slice_ieq_str(name, "content-disposition")) {
        if (out->disposition.ptr)
            return bad(err, "a part has two Content-Disposition lines");
        out->disposition = value;
    } else if (slice_ieq_str(name, "content-type")) {
        out->content_type = value;
    } else if (slice_ieq_str(name, "content-transfer-encoding") &&
               !slice_ieq_str(value, "binary") && !slice_ieq_str(value, "8bit") &&
               !slice_ieq_str(value, "7bit")) {
        return bad(err, "Content-Transfer-Encoding is not supported; send the bytes as they are");
    }
    return 0;
}

static int head_lines(struct part_head *out, struct slice text, struct err *err)
{
    static const char end[] = "\r\n";
    int rc = 0;

    while (rc == 0 && text.len > 2) {
        size_t len = slice_find(text, slice_of(end, 2));
        rc = head_line(out, slice_of(text.ptr, len), err);
        text = slice_skip(text, len + 2);
    }
    return rc;
}

static int part_announce(struct multipart *mp, const struct part_head *head, struct buf *name,
                         struct buf *filename, struct err *err)
{
    struct slice file;
    int name_rc = http_param_get(head->disposition, "name", name);
    int file_rc = http_param_get(head->disposition, "filename", filename);

    if (name_rc == -EMSGSIZE || file_rc == -EMSGSIZE)
        return err_set(err, -EMSGSIZE, "a part's name is over %d or its filename over %d bytes",
                       MULTIPART_NAME_MAX, MULTIPART_FILENAME_MAX);
    if (name_rc != 0 || (file_rc != 0 && file_rc != -ENOENT))
        return bad(err, "a part needs Content-Disposition: form-data; name=\"…\"");
    file = slice_of(buf_str(filename), filename->len);
    mp->in_part = true;
    return mp->events->on_part(mp->data, buf_slice(name), file_rc == 0 ? &file : NULL,
                               head->content_type);
}

static int part_begin(struct multipart *mp, struct err *err)
{
    struct part_head head = {.content_type = slice_str("")};
    struct buf name, filename;
    size_t type_len;
    int rc = head_lines(&head, buf_slice(&mp->head), err);

    if (rc != 0)
        return rc;
    type_len = slice_index(head.disposition, ';');
    if (!head.disposition.ptr ||
        !slice_ieq_str(slice_trim(slice_of(head.disposition.ptr, type_len)), "form-data"))
        return bad(err, "a part has no Content-Disposition: form-data");
    buf_init(&name, MULTIPART_NAME_MAX);
    buf_init(&filename, MULTIPART_FILENAME_MAX);
    rc = part_announce(mp, &head, &name, &filename, err);
    buf_fini(&name);
    buf_fini(&filename);
    return rc;
}

/* ---- bytes ---- */

static int emit(struct multipart *mp, const char *ptr, size_t len, struct err *err)
{
    int rc;

    if (len == 0)
        return 0;
    if (!mp->in_part)
        return bad(err, "it does not begin with the boundary that Content-Type names");
    rc = mp->events->on_data(mp->data, slice_of(ptr, len));
    if (rc == 1)
        mp->wants_pause = true;
    return rc < 0 ? rc : 0;
}

/* Takes data up to and including the next delimiter. */
static int feed_data(struct multipart *mp, struct slice *in, struct err *err)
{
    size_t at = 0, start = 0;
    int rc = 0;

    while (at < in->len && mp->matched < mp->delimiter_len) {
        if (mp->matched == 0) {
            at += slice_index(slice_skip(*in, at), '\r');
            if (at == in->len)
                break;
        }
        if (in->ptr[at] == mp->delimiter[mp->matched]) {
            mp->matched++;
            at++;
            continue;
        }
        /* CR is in the delimiter only once, so a new match can only begin at this byte. What was
         * matched before this piece of input is given from the delimiter itself. */
        if (mp->matched > at - start) {
            size_t old = mp->matched - (at - start);
            rc = emit(mp, mp->delimiter, old, err);
            if (rc != 0)
                return rc;
        }
        mp->matched = 0;
    }
    if (at - start > mp->matched)
        rc = emit(mp, in->ptr, at - mp->matched, err);
    if (mp->matched == mp->delimiter_len)
        mp->state = MULTIPART_BOUNDARY;
    *in = slice_skip(*in, at);
    return rc;
}

static int delimiter_seen(struct multipart *mp, char c, struct err *err)
{
    int rc = 0;

    if (c != '\r' && c != '-')
        return bad(err, "a boundary is followed by other bytes than CRLF or \"--\"");
    mp->matched = 0;
    mp->state = c == '\r' ? MULTIPART_BOUNDARY_LF : MULTIPART_CLOSING;
    if (mp->in_part)
        rc = mp->events->on_part_end(mp->data);
    mp->in_part = false;
    return rc;
}

static int head_begins(struct multipart *mp, char c, struct err *err)
{
    if (c != '\n')
        return bad(err, "a boundary line does not end in CRLF");
    if (mp->parts++ == MULTIPART_PARTS_MAX)
        return err_set(err, -EMSGSIZE, "the multipart body has over %d parts", MULTIPART_PARTS_MAX);
    buf_reset(&mp->head);
    mp->state = MULTIPART_HEAD;
    return 0;
}

static int head_byte(struct multipart *mp, char c, struct err *err)
{
    struct buf *head = &mp->head;

    if (buf_add_char(head, c) != 0)
        return err_set(err, -EMSGSIZE, "a part's header is over %d bytes",
                       MULTIPART_HEAD_MAX_BYTES);
    if (c != '\n')
        return 0;
    if (head->len < 2 || head->data[head->len - 2] != '\r')
        return bad(err, "a part's header line does not end in CRLF");
    if (head->len == 2 || slice_ends_with(buf_slice(head), "\r\n\r\n")) {
        mp->state = MULTIPART_DATA;
        return part_begin(mp, err);
    }
    return 0;
}

static int feed_byte(struct multipart *mp, char c, struct err *err)
{
    switch (mp->state) {
    case MULTIPART_BOUNDARY:
        return delimiter_seen(mp, c, err);
    case MULTIPART_BOUNDARY_LF:
        return head_begins(mp, c, err);
    case MULTIPART_CLOSING:
        mp->state = MULTIPART_END;
        return c == '-' ? 0 : bad(err, "the closing boundary does not end in \"--\"");
    case MULTIPART_HEAD:
        return head_byte(mp, c, err);
    case MULTIPART_DATA:
    case MULTIPART_END:
    default:
        return 0;
    }
}

int multipart_feed(struct multipart *mp, struct slice in, struct err *err)
{
    int rc = 0;

    mp->wants_pause = false;
    while (rc == 0 && in.len && mp->state != MULTIPART_END) {
        if (mp->state == MULTIPART_DATA) {
            rc = feed_data(mp, &in, err);
        } else {
            rc = feed_byte(mp, in.ptr[0], err);
            in = slice_skip(in, 1);
        }
    }
    if (rc != 0)
        return rc;
    return mp->wants_pause ? 1 : 0;
}

int multipart_finish(struct multipart *mp, struct err *err)
{
    return mp->state == MULTIPART_END ? 0 : bad(err, "the closing boundary is missing");
}

/* RFC 2046 section 5.1.1: bchars, no space at the end. */
static bool is_boundary(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_alnum && (c == '\0' || !strchr("'()+_,-./:=? ", c)))
            return false;
    }
    return text.len > 0 && text.len <= MULTIPART_BOUNDARY_MAX && text.ptr[text.len - 1] != ' ';
}

struct multipart *multipart_new(struct slice content_type, const struct multipart_events *events,
                                void *data, struct err *err)
{
    struct slice type = slice_of(content_type.ptr, slice_index(content_type, ';'));
    struct multipart *mp;
    struct buf boundary;

    buf_init(&boundary, MULTIPART_BOUNDARY_MAX);
    if (!slice_ieq_str(slice_trim(type), "multipart/form-data") ||
        http_param_get(content_type, "boundary", &boundary) != 0 ||
        !is_boundary(buf_slice(&boundary))) {
        (void)err_set(err, -EINVAL,
                      "Content-Type must be multipart/form-data with a boundary of 1 to %d bytes",
                      MULTIPART_BOUNDARY_MAX);
        buf_fini(&boundary);
        return NULL;
    }
    mp = mem_new(1, sizeof(*mp));
    mp->events = events;
    mp->data = data;
    mp->matched = 2; /* as if a CRLF stood before the first boundary */
    memcpy(mp->delimiter, "\r\n--", 4);
    memcpy(mp->delimiter + 4, boundary.data, boundary.len);
    mp->delimiter_len = 4 + boundary.len;
    buf_init(&mp->head, MULTIPART_HEAD_MAX_BYTES);
    buf_fini(&boundary);
    return mp;
}

void multipart_free(struct multipart *mp)
{
    if (!mp)
        return;
    buf_fini(&mp->head);
    mem_free(mp);
}

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "client/call.h"
#include "os/file.h"

struct download {
    struct call call;
    int fd;
    uint64_t bytes;
};

static int download_body_cb(void *data, struct slice bytes)
{
    struct download *load = data;

    while (bytes.len) {
        ssize_t put = write(load->fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_set(&load->call.err, -EIO, "cannot write the output: %s", strerror(errno));
        bytes = slice_skip(bytes, (size_t)put);
        load->bytes += (uint64_t)put;
    }
    return 0;
}

/* "model/gltf-binary; x=y" is told as "model/gltf-binary". */
static void download_set_type(const struct call *call, struct client_file *out)
{
    struct slice type = slice_str(call->media_type);

    type = slice_trim(slice_of(type.ptr, slice_index(type, ';')));
    memcpy(out->media_type, type.ptr, type.len);
    out->media_type[type.len] = '\0';
}

int client_download_fd(struct client *client, const struct client_source *source, int fd,
                       struct client_file *out_file, struct err *err)
{
    struct download load = {.fd = fd};
    struct call_options options = {
        .request = {.method = source->body ? "POST" : "GET", .target = source->target},
        .first_ms = source->first_ms,
        .idle_ms = source->idle_ms,
        .on_body = download_body_cb,
        .data = &load};
    int rc;

    if (source->body) {
        options.request.content_type = "application/json";
        options.request.body = slice_str(json_text(source->body));
    }
    call_open(&load.call, client, &options);
    rc = call_wait(&load.call, err);
    if (rc == 0) {
        out_file->bytes = load.bytes;
        download_set_type(&load.call, out_file);
    }
    call_close(&load.call);
    return rc;
}

int client_download(struct client *client, const struct client_source *source, const char *path,
                    struct client_file *out_file, struct err *err)
{
    auto_free char *tmp = mem_printf("%s.%ld.tmp", path, (long)getpid());
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct client_file file;
    int rc;

    if (fd < 0)
        return err_set(err, -EIO, "cannot create %s: %s", tmp, strerror(errno));
    rc = client_download_fd(client, source, fd, &file, err);
    if (close(fd) != 0 && rc == 0)
        rc = err_set(err, -EIO, "cannot write %s: %s", tmp, strerror(errno));
    if (rc == 0 && rename(tmp, path) != 0)
        rc = err_set(err, -EIO, "cannot write %s: %s", path, strerror(errno));
    if (rc != 0)
        (void)unlink(tmp); /* best effort: the error matters more */
    else
        *out_file = file;
    return rc;
}

#include "catalog/footprint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "os/file.h"

#define GIB 1073741824.0
#define MIB 1048576.0

/* ---- generator.py ---- */

/* "VRAM_GB = 6", "VRAM_GB: float = 6.5  # …"; 0 for any other line. */
static double scan_line(struct slice line)
{
    struct slice rest = slice_trim(line);
    size_t equals, digits = 0;
    double value;

    if (!slice_starts_with(rest, "VRAM_GB"))
        return 0;
    rest = slice_trim(slice_skip(rest, strlen("VRAM_GB")));
    equals = slice_index(rest, '=');
    if (equals == rest.len || (equals > 0 && rest.ptr[0] != ':'))
        return 0;
    rest = slice_trim(slice_skip(rest, equals + 1));
    while (digits < rest.len &&
           ((rest.ptr[digits] >= '0' && rest.ptr[digits] <= '9') || rest.ptr[digits] == '.'))
        digits++;
    if (num_parse_double(slice_of(rest.ptr, digits), &value) != 0)
        return 0;
    rest = slice_trim(slice_skip(rest, digits));
    return rest.len == 0 || rest.ptr[0] == '#' || rest.ptr[0] == '\r' ? value : 0;
}

double footprint_scan_generator(struct slice text)
{
    struct slice line;

    while (slice_split(&text, '\n', &line)) {
        double value = scan_line(line);
        if (value > 0)
            return value;
    }
    return 0;
}

static double read_generator(const char *dir)
{
    auto_free char *path = file_join(dir, "generator.py");
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* never wait for a FIFO */
    double value = 0;
    struct buf text;
    ssize_t got;

    if (fd < 0)
        return 0;
    buf_init(&text, FOOTPRINT_SCAN_BYTES);
    if (buf_reserve(&text, FOOTPRINT_SCAN_BYTES) == 0) {
        /* One read is enough for a regular file; what is behind the limit is not looked at. */
        got = read(fd, text.data, FOOTPRINT_SCAN_BYTES);
        text.len = got > 0 ? (size_t)got : 0;
        value = footprint_scan_generator(buf_slice(&text));
    }
    buf_fini(&text);
    (void)close(fd); /* it was only read */
    return value;
}

/* ---- weight files ---- */

struct walk {
    uint64_t bytes;
    size_t files;   /* complete ones */
    size_t entries; /* looked at */
};

static bool is_partial(const char *name)
{
    struct slice s = slice_str(name);

    return slice_ends_with(s, ".part") || slice_ends_with(s, ".incomplete");
}

static void walk_dir(int parent_fd, const char *name, unsigned depth, struct walk *walk);

static void walk_entry(int dir_fd, const char *name, unsigned depth, struct walk *walk)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        walk_dir(dir_fd, name, depth + 1, walk);
        return;
    }
    if (is_partial(name))
        return;
    walk->files += S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
    walk->bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static void walk_dir(int parent_fd, const char *name, unsigned depth, struct walk *walk)
{
    struct dirent *entry;
    DIR *dir;
    int fd;

    if (depth > FOOTPRINT_WALK_DEPTH)
        return;
    fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return;
    while (walk->entries < FOOTPRINT_WALK_ENTRIES && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        walk->entries++;
        walk_entry(fd, entry->d_name, depth, walk);
    }
    (void)closedir(dir); /* it was only read */
}

/* ---- declared needs ---- */

static double number_of(struct json_object *object, const char *key)
{
    return json_get_double(object, key, 0);
}

static double declared_gb(struct json_object *object)
{
    double lower = number_of(object, "vram_gb");

    return lower > 0 ? lower : number_of(object, "VRAM_GB");
}

static void set_vram(struct model *model, double gb, enum model_prior prior)
{
    model->vram_bytes = (uint64_t)(gb * GIB);
    model->prior = prior;
}

static void fill_vram(struct model *model, struct json_object *node, struct json_object *top)
{
    double gb;

    model->vram_gb = declared_gb(node) > 0 ? declared_gb(node) : declared_gb(top);
    if (declared_gb(node) > 0) {
        set_vram(model, model->vram_gb, MODEL_PRIOR_NODE);
    } else if (declared_gb(top) > 0) {
        set_vram(model, model->vram_gb, MODEL_PRIOR_TOP);
    } else if ((gb = read_generator(model->dir)) > 0) {
        model->vram_gb = gb;
        set_vram(model, gb, MODEL_PRIOR_GENERATOR);
    }
}

static void fill_weights(struct model *model)
{
    struct walk walk = {0};

    walk_dir(AT_FDCWD, model->model_dir, 0, &walk);
    if (walk.bytes == 0)
        return;
    model->vram_bytes = (uint64_t)((double)walk.bytes * FOOTPRINT_WEIGHT_FACTOR);
    model->prior = MODEL_PRIOR_WEIGHTS;
}

void footprint_fill(struct model *model, const struct manifest *manifest, size_t index)
{
    struct json_object *top = manifest->root;
    struct json_object *nodes = json_get(top, "nodes");
    struct json_object *node = nodes ? json_object_array_get_idx(nodes, index) : NULL;
    double node_mb = number_of(node, "ram_mb"), top_mb = number_of(top, "ram_mb");

    model->ram_bytes = (uint64_t)((node_mb > 0 ? node_mb : top_mb) * MIB);
    fill_vram(model, node, top);
    if (model->vram_bytes > 0)
        return;
    if (model->ram_bytes > 0)
        model->prior = node_mb > 0 ? MODEL_PRIOR_NODE : MODEL_PRIOR_TOP;
    else
        fill_weights(model);
}

/* ---- downloaded? ---- */

char *footprint_clean_path(const char *path)
{
    struct slice rest = slice_str(path), part;
    char *clean = mem_new(rest.len + 2, 1);
    size_t len = 0;

    while (slice_split(&rest, '/', &part)) {
        if (part.len == 0 || slice_eq_str(part, "."))
            continue;
        if (slice_eq_str(part, "..")) {
            if (len == 0) {
                mem_free(clean);
                return NULL;
            }
            while (clean[--len] != '/')
                continue;
            clean[len] = '\0';
            continue;
        }
        clean[len++] = '/';
        memcpy(clean + len, part.ptr, part.len);
        len += part.len;
        clean[len] = '\0';
    }
    if (len == 0)
        memcpy(clean, "/", 2);
    return clean;
}

static bool is_below(const char *path, const char *root)
{
    size_t len = strlen(root);

    return strncmp(path, root, len) == 0 && path[len] == '/';
}

static int check_file(struct model *model, const char *check, const struct config *config,
                      struct err *err)
{
    auto_free char *joined = file_join(model->model_dir, check);
    auto_free char *path = footprint_clean_path(joined);
    auto_free char *home = file_join(config->models_dir, model->ext_id);
    auto_free char *root = footprint_clean_path(home);

    if (!path || !root || !is_below(path, root))
        return err_set(err, -EINVAL, "download_check \"%.128s\" of %s leads out of %s", check,
                       model->id, home);
    model->is_downloaded = file_exists(path);
    return 0;
}

int footprint_check_download(struct model *model, const struct manifest *manifest, size_t index,
                             const struct config *config, struct err *err)
{
    const char *check = json_object_get_string(manifest_value(manifest, index, "download_check"));
    struct walk walk = {0};

    if (check && check[0])
        return check_file(model, check, config, err);
    if (!model->hf_repo[0]) {
        model->is_downloaded = true; /* it needs no weights, or brings them itself */
        return 0;
    }
    walk_dir(AT_FDCWD, model->model_dir, 0, &walk);
    model->is_downloaded = walk.files > 0;
    return 0;
}

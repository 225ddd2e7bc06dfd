#include "api/media.h"

#include "base/mem.h"

static const char *const media_types[][2] = {
    {".glb", "model/gltf-binary"},
    {".gltf", "model/gltf+json"},
    {".obj", "model/obj"},
    {".stl", "model/stl"},
    {".ply", "application/octet-stream"},
    {".usdz", "model/vnd.usdz+zip"},
    {".wav", "audio/wav"},
    {".mp3", "audio/mpeg"},
    {".pcm", "audio/pcm"},
    {".flac", "audio/flac"},
    {".ogg", "audio/ogg"},
    {".mp4", "video/mp4"},
    {".webm", "video/webm"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".webp", "image/webp"},
    {".gif", "image/gif"},
    {".bmp", "image/bmp"},
    {".json", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
    {".zip", "application/zip"},
};

const char *media_type_of(struct slice path)
{
    for (size_t i = 0; i < ARRAY_LEN(media_types); i++) {
        size_t len = strlen(media_types[i][0]);
        if (path.len > len && slice_ieq_str(slice_skip(path, path.len - len), media_types[i][0]))
            return media_types[i][1];
    }
    return "application/octet-stream";
}

#include "base/files.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, DEPTH = 8, ENTRIES = 5000 };

static bool fail(char *error, const char *path, const char *what)
{
    (void)text_format(error, FILES_ERROR, "%s: %s", path, what);
    return false;
}

static const char *reason(void)
{
    switch (errno) {
    case ENOENT:
        return "no such file or folder";
    case EACCES:
        return "permission denied";
    case ENOSPC:
        return "no space left on the disk";
    case EISDIR:
        return "is a folder";
    case ENOTDIR:
        return "a part of the path is not a folder";
    case EROFS:
        return "the file system is read-only";
    case ELOOP:
        return "is a symbolic link";
    default:
        return "cannot be opened, read or written";
    }
}

static bool read_fd(int fd, const char *path, struct buf *out, char *error)
{
    for (;;) {
        if (!buf_reserve(out, 1))
            return fail(error, path, "is too large");
        size_t room = out->room - out->size - 1;
        ssize_t n = read(fd, out->data + out->size, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(error, path, reason());
        out->size += (size_t)n;
        out->data[out->size] = '\0';
        if (n == 0)
            return true;
        if (out->size == out->cap) /* full: one more byte would be too large */
            return read(fd, (char[1]){0}, 1) == 0 || fail(error, path, "is too large");
    }
}

bool file_read(const char *path, struct buf *out, char error[static FILES_ERROR])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, path, reason());
    bool ok = read_fd(fd, path, out, error);
    (void)close(fd);
    return ok;
}

bool file_read_secret(const char *path, struct buf *out, char error[static FILES_ERROR])
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return fail(error, path, reason());
    bool ok = false;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        fail(error, path, "is not a regular file");
    else if (info.st_mode & 077)
        fail(error, path, "others may read it; run: chmod 600 on it");
    else if (info.st_uid != geteuid() && info.st_uid != 0)
        fail(error, path, "belongs to another user");
    else
        ok = read_fd(fd, path, out, error);
    (void)close(fd);
    return ok;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static bool sync_folder_of(const char *path)
{
    char folder[PATH];
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 0;
    if (!text_format(folder, sizeof(folder), "%.*s", (int)size, path))
        return false;
    int fd = open(!slash ? "."
                  : size ? folder
                         : "/",
                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0;
    (void)close(fd);
    return ok;
}

bool file_replace(const char *path, const void *bytes, size_t size, unsigned mode,
                  char error[static FILES_ERROR])
{
    char fresh[PATH];
    if (!text_format(fresh, sizeof(fresh), "%s.new", path))
        return fail(error, path, "the path is too long");
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return fail(error, fresh, reason());
    bool ok = fchmod(fd, mode) == 0 && write_all(fd, bytes, size) && fsync(fd) == 0;
    if (!ok)
        fail(error, fresh, reason());
    if (close(fd) != 0 && ok)
        ok = fail(error, fresh, reason());
    if (ok && (rename(fresh, path) != 0 || !sync_folder_of(path)))
        ok = fail(error, path, reason());
    if (!ok)
        (void)unlink(fresh);
    return ok;
}

bool folder_make(const char *path, unsigned mode, char error[static FILES_ERROR])
{
    char part[PATH];
    if (!text_copy(part, sizeof(part), path))
        return fail(error, path, "the path is too long");
    for (char *slash = part + 1;; slash++) {
        if (*slash && *slash != '/')
            continue;
        char kept = *slash;
        *slash = '\0';
        if (mkdir(part, kept ? 0755 : mode) != 0 && errno != EEXIST)
            return fail(error, part, reason());
        *slash = kept;
        if (!kept)
            return true;
    }
}

/* ---- walking ---- */

struct walk {
    const char *root, *suffix;
    char *error, *paths[ENTRIES];
    char real_root[PATH];
    size_t count;
};

static bool safe_entry(struct walk *walk, const char *full, struct stat *info)
{
    char real[PATH];
    if (!realpath(full, real) || stat(real, info) != 0)
        return fail(walk->error, full, reason());
    size_t root = strlen(walk->real_root);
    if (strncmp(real, walk->real_root, root) != 0 || (real[root] && real[root] != '/'))
        return fail(walk->error, full, "is a link that leads outside the folder");
    if (info->st_mode & 022 & ~(info->st_gid == getegid() ? 020U : 0U))
        return fail(walk->error, full, "others may write it; run: chmod go-w on it");
    return true;
}

static bool collect(struct walk *walk, const char *relative, int depth);

static bool visit(struct walk *walk, const char *relative, int depth)
{
    struct stat info;
    char full[PATH];
    if (!text_format(full, sizeof(full), "%s/%s", walk->root, relative))
        return fail(walk->error, relative, "the path is too long");
    if (!safe_entry(walk, full, &info))
        return false;
    if (S_ISDIR(info.st_mode))
        return collect(walk, relative, depth + 1);
    if (!S_ISREG(info.st_mode) || !text_ends(relative, walk->suffix))
        return true;
    if (walk->count == ENTRIES)
        return fail(walk->error, walk->root, "holds too many files");
    walk->paths[walk->count] = strdup(relative);
    return walk->paths[walk->count++] ? true : fail(walk->error, full, "out of memory");
}

/* The one true recursion of this file: a tree of folders. */
static bool collect(struct walk *walk, const char *relative, int depth)
{
    char full[PATH], below[PATH];
    if (depth > DEPTH)
        return fail(walk->error, relative, "folders are nested too deep");
    if (!text_format(full, sizeof(full), "%s/%s", walk->root, relative))
        return fail(walk->error, relative, "the path is too long");
    DIR *folder = opendir(full);
    if (!folder)
        return fail(walk->error, full, reason());
    bool ok = true;
    /* readdir is safe here: the stream is this function's own. */
    for (struct dirent *entry; ok && (entry = readdir(folder));) { // NOLINT
        if (entry->d_name[0] == '.')
            continue;
        ok = text_format(below, sizeof(below), "%s%s%s", relative, *relative ? "/" : "",
                         entry->d_name)
                 ? visit(walk, below, depth)
                 : fail(walk->error, relative, "the path is too long");
    }
    (void)closedir(folder);
    return ok;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool folder_walk(const char *path, const char *suffix,
                 bool (*each)(void *context, const char *relative, const char *full),
                 void *context, char error[static FILES_ERROR])
{
    char full[PATH];
    struct walk *walk = calloc(1, sizeof(*walk));
    if (!walk)
        return fail(error, path, "out of memory");
    *walk = (struct walk){.root = path, .suffix = suffix, .error = error};
    bool ok = realpath(path, walk->real_root) ? collect(walk, "", 0)
                                              : fail(error, path, reason());
    if (ok)
        qsort(walk->paths, walk->count, sizeof(walk->paths[0]), by_path);
    for (size_t i = 0; ok && i < walk->count; i++)
        ok = text_format(full, sizeof(full), "%s/%s", path, walk->paths[i])
             && each(context, walk->paths[i], full);
    for (size_t i = 0; i < walk->count; i++)
        free(walk->paths[i]);
    free(walk);
    return ok;
}

#include "store/lane/ballast.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BALLAST_BYTES = 8 << 20, SPARE_BYTES = 2 << 20, PATH = 1024 };

static bool path_of(const char *folder, char path[static PATH])
{
    return text_format(path, PATH, "%s/ballast", folder);
}

bool ballast_make(const char *folder)
{
    char path[PATH];
    struct stat info;
    if (!path_of(folder, path))
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool made = fstat(fd, &info) == 0 && info.st_size == BALLAST_BYTES;
    made = made || posix_fallocate(fd, 0, BALLAST_BYTES) == 0;
    (void)close(fd);
    if (!made)
        (void)unlink(path);
    return made;
}

bool ballast_spare(const char *folder)
{
    struct statvfs disk;
    return statvfs(folder, &disk) == 0
           && (uint64_t)disk.f_bavail * disk.f_frsize >= SPARE_BYTES;
}

void ballast_drop(const char *folder)
{
    char path[PATH];
    if (path_of(folder, path))
        (void)unlink(path);
}

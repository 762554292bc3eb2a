/* files: whole small files in and out, carefully.  Any thread; blocks.
 *
 * Errors are told as text that names the path and the reason, for a person. */
#ifndef BASE_FILES_H
#define BASE_FILES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { FILES_ERROR = 512 };

/* Appends the file to `out` (whose cap bounds it). */
bool file_read(const char *path, struct buf *out, char error[static FILES_ERROR]);

/* Refuses a file that others could read: for keys. */
bool file_read_secret(const char *path, struct buf *out,
                      char error[static FILES_ERROR]);

/* A new file beside it, synced and renamed over it: old or new, never half.
 * `mode` as for open. */
bool file_replace(const char *path, const void *bytes, size_t size, unsigned mode,
                  char error[static FILES_ERROR]);

/* Makes the folder and those above it. */
bool folder_make(const char *path, unsigned mode, char error[static FILES_ERROR]);

/* Calls `each` for every regular file below `path` whose name ends in `suffix`, sorted
 * by path relative to it; dot files are skipped.  Refuses entries that others may write
 * and links that lead outside.  Stops early when `each` returns false. */
bool folder_walk(const char *path, const char *suffix,
                 bool (*each)(void *context, const char *relative, const char *full),
                 void *context, char error[static FILES_ERROR]);

#endif

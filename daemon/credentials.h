/* credentials: the two keys that the daemon starts with.
 *
 * A systemd credential wins over the configured file; either holds 64 hex digits, is a
 * regular file that nobody else may read, and is never named in argv or environment. */
#ifndef CREDENTIALS_H
#define CREDENTIALS_H

#include <stdbool.h>

enum { CREDENTIAL = 32 };

/* `folder`: where systemd puts credentials, or NULL.  False: the log says what is wrong
 * and what to do. The caller wipes `key`. */
bool credential_read(const char *folder, const char *name, const char *file,
                     unsigned char key[static CREDENTIAL]);

#endif

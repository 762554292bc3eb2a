#include "credentials.h"

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"

#include <unistd.h>

bool credential_read(const char *folder, const char *name, const char *file,
                     unsigned char key[static CREDENTIAL])
{
    char path[4096], error[FILES_ERROR];
    own_buf text = BUF(256);
    (void)text_format(path, sizeof(path), "%s/%s", folder ? folder : "", name);
    if (!folder || access(path, R_OK) != 0)
        (void)text_copy(path, sizeof(path), file);
    bool ok = file_read_secret(path, &text, error);
    while (ok && text.size && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    if (ok && !text_unhex(text.data, key, 32)) {
        (void)text_format(error, sizeof(error), "%s: is not a key of 64 hex digits",
                          path);
        ok = false;
    }
    if (!ok)
        log_error("start", "%s; run: sandgate init", error);
    buf_wipe(&text);
    return ok;
}

#include "cli/export.h"

#include "base/buf.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAP = 1024, COPY = 64 << 10 };

int export_to(struct call *call, bool whole, FILE *file, const char **vkey)
{
    own_buf path = BUF(PATH_CAP);
    own_answer head = {.status = 0};
    int code = api_post(call, "/api/v1/audit/checkpoint", "{}", &head);
    if (code)
        return code;
    if (vkey)
        *vkey = words(call, "%s", path_text(head.root, "vkey"));
    buf_text(&path, "/api/v1/audit/export");
    query_add(&path, "first", whole ? NULL : flag_text(call, "first"));
    query_add(&path, "end", whole ? NULL : flag_text(call, "end"));
    return api_download(call, path.data, file);
}

static int copy_out(struct call *call, FILE *from)
{
    static char bytes[COPY];
    size_t size;
    rewind(from);
    while ((size = fread(bytes, 1, sizeof(bytes), from)) > 0)
        if (fwrite(bytes, 1, size, call->out) != size)
            return fail(call, FAILED, "stdout cannot be written");
    return ferror(from) ? fail(call, FAILED, "the export cannot be read back") : DONE;
}

/* Through a nameless file: what reaches stdout is a whole export or nothing. */
static int to_stdout(struct call *call)
{
    FILE *file = tmpfile();
    if (!file)
        return fail(call, FAILED, "no temporary file can be made");
    int code = export_to(call, false, file, NULL);
    if (!code)
        code = copy_out(call, file);
    (void)fclose(file);
    return code;
}

/* Beside its place first, so that an older export there is replaced whole. */
static int to_file(struct call *call, const char *path)
{
    const char *part = words(call, "%s.part", path);
    int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                  S_IRUSR | S_IWUSR);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file)
        return fail(call, FAILED, "%s: %s", part, strerrordesc_np(errno));
    int code = export_to(call, false, file, NULL);
    if (!code && fsync(fd) != 0)
        code = fail(call, FAILED, "%s: %s", part, strerrordesc_np(errno));
    if (fclose(file) != 0 && !code)
        code = fail(call, FAILED, "%s: %s", part, strerrordesc_np(errno));
    if (!code && rename(part, path) != 0)
        code = fail(call, FAILED, "%s: %s", path, strerrordesc_np(errno));
    if (code)
        (void)unlink(part);
    return code;
}

int audit_export(struct call *call)
{
    const char *path = flag_text(call, "output");
    if (!path)
        return to_stdout(call);
    int code = to_file(call, path);
    if (!code)
        say(call, "%s is written; verify it: sandgate audit verify %s --key KEY", path,
            path);
    return code;
}

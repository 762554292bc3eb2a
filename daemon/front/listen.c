/* Listening sockets, for main: made once, shared by the workers. */
#include "front/front.h"

#include "base/must.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, SOCKET_MODE = 0660, HOST = 64 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage room;
};

static bool parse_port(const char *text, in_port_t *port)
{
    int64_t number;
    if (!text_int(text, 0, 65535, &number))
        return false;
    *port = htons((uint16_t)number);
    return true;
}

/* The address's size, or 0. */
static socklen_t parse_v6(const char *text, union address *out)
{
    char host[HOST];
    const char *end = strstr(text, "]:");
    if (!end
        || !text_format(host, sizeof(host), "%.*s", (int)(end - text - 1), text + 1)
        || inet_pton(AF_INET6, host, &out->v6.sin6_addr) != 1
        || !parse_port(end + 2, &out->v6.sin6_port))
        return 0;
    out->v6.sin6_family = AF_INET6;
    return sizeof(out->v6);
}

static socklen_t parse_v4(const char *text, union address *out)
{
    char host[HOST];
    const char *end = strrchr(text, ':');
    if (!end || !text_format(host, sizeof(host), "%.*s", (int)(end - text), text)
        || inet_pton(AF_INET, host, &out->v4.sin_addr) != 1
        || !parse_port(end + 1, &out->v4.sin_port))
        return 0;
    out->v4.sin_family = AF_INET;
    return sizeof(out->v4);
}

static socklen_t parse_path(const char *text, union address *out)
{
    if (!text_copy(out->local.sun_path, sizeof(out->local.sun_path), text))
        return 0;
    out->local.sun_family = AF_UNIX;
    return sizeof(out->local);
}

static socklen_t parse(const char *text, union address *out)
{
    memset(out, 0, sizeof(*out));
    return text[0] == '/'   ? parse_path(text, out)
           : text[0] == '[' ? parse_v6(text, out)
                            : parse_v4(text, out);
}

/* A socket that nobody listens on any more is left from a crash. */
static void remove_stale(const union address *address)
{
    const char *path = address->local.sun_path;
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, &address->any, sizeof(address->local)) != 0
        && errno == ECONNREFUSED)
        (void)unlink(path);
    (void)close(fd);
}

/* False with errno. */
static bool bind_and_listen(int fd, const union address *address, socklen_t size)
{
    int yes = 1;
    bool local = address->any.sa_family == AF_UNIX;
    if (local) {
        remove_stale(address);
        (void)fchmod(fd, SOCKET_MODE); /* so that it is never more open than this */
    } else {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    }
    return bind(fd, &address->any, size) == 0
           && (!local || chmod(address->local.sun_path, SOCKET_MODE) == 0)
           && listen(fd, BACKLOG) == 0;
}

int front_listen(const char *address, char error[static FRONT_ERROR])
{
    union address parsed;
    socklen_t size = parse(address, &parsed);
    if (!size) {
        (void)text_format(error, FRONT_ERROR,
                          "%s: not an address (127.0.0.1:8080, [::1]:8080, /run/x)",
                          address);
        return -1;
    }
    int fd =
        socket(parsed.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind_and_listen(fd, &parsed, size))
        return fd;
    (void)text_format(error, FRONT_ERROR, "%s: %s", address, strerrordesc_np(errno));
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

void front_address(int fd, char out[static 128])
{
    union address address;
    char host[HOST] = "";
    socklen_t size = sizeof(address);
    memset(&address, 0, sizeof(address));
    out[0] = '\0';
    if (getsockname(fd, &address.any, &size) != 0)
        return;
    if (address.any.sa_family == AF_UNIX)
        (void)text_copy(out, 128, address.local.sun_path);
    else if (address.any.sa_family == AF_INET6
             && inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof(host)))
        (void)text_format(out, 128, "[%s]:%u", host, ntohs(address.v6.sin6_port));
    else if (inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host)))
        (void)text_format(out, 128, "%s:%u", host, ntohs(address.v4.sin_port));
}

#include "upstream/wire.h"

#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>

/* ---- what libcurl asks of the loop while it connects ---- */

static void settle(struct wire *wire, CURLcode code);

static void advance(struct wire *wire, curl_socket_t fd, int happened)
{
    int running, left;
    CURLMcode failed = curl_multi_socket_action(wire->multi, fd, happened, &running);
    const CURLMsg *message = curl_multi_info_read(wire->multi, &left);
    if (failed || (message && message->msg == CURLMSG_DONE))
        settle(wire, failed ? CURLE_FAILED_INIT : message->data.result);
}

static void socket_ready(struct watch *watch, uint32_t events)
{
    struct wire_socket *socket = container_of(watch, struct wire_socket, watch);
    struct wire *wire = socket->wire;
    if (wire->up) {
        wire->event(wire, WIRE_READY);
        return;
    }
    int happened = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0)
                   | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                   | (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    advance(wire, watch->fd, happened);
}

static void time_passed(struct timer *timer)
{
    struct wire *wire = container_of(timer, struct wire, timer);
    advance(wire, CURL_SOCKET_TIMEOUT, 0);
}

static struct wire_socket *socket_of(struct wire *wire, int fd)
{
    for (size_t i = 0; i < WIRE_SOCKETS; i++)
        if (wire->sockets[i].wire && wire->sockets[i].watch.fd == fd)
            return &wire->sockets[i];
    return NULL;
}

static bool watch_socket(struct wire *wire, int fd, uint32_t events)
{
    struct wire_socket *socket = socket_of(wire, fd);
    if (socket)
        return loop_rewatch(wire->dialer->loop, &socket->watch, events);
    socket = wire->sockets;
    while (socket < wire->sockets + WIRE_SOCKETS && socket->wire)
        socket++;
    if (socket == wire->sockets + WIRE_SOCKETS)
        return false;
    socket->watch = (struct watch){.ready = socket_ready, .fd = fd};
    if (!loop_watch(wire->dialer->loop, &socket->watch, events))
        return false;
    socket->wire = wire;
    return true;
}

static void unwatch_socket(struct wire *wire, struct wire_socket *socket)
{
    if (!socket || !socket->wire)
        return;
    loop_unwatch(wire->dialer->loop, &socket->watch);
    socket->wire = NULL;
}

static void unwatch_all(struct wire *wire)
{
    for (size_t i = 0; i < WIRE_SOCKETS; i++)
        unwatch_socket(wire, &wire->sockets[i]);
}

/* A descriptor leaves the loop before libcurl closes it.  Once the wire is up its
 * socket is ours to watch. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket)
{
    static const uint32_t events[] = {
        [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT,
        [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
    };
    struct wire *wire = user;
    (void)easy;
    (void)socket;
    if (wire->up)
        return 0;
    if (what == CURL_POLL_REMOVE)
        unwatch_socket(wire, socket_of(wire, fd));
    else if (!watch_socket(wire, fd, events[what]))
        return -1;
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *user)
{
    struct wire *wire = user;
    (void)multi;
    if (timeout_ms < 0 || wire->up)
        timer_clear(wire->dialer->loop, &wire->timer);
    else
        timer_set(wire->dialer->loop, &wire->timer, clock_mono_ms() + timeout_ms);
    return 0;
}

/* ---- connected, or not ---- */

static bool take_socket(struct wire *wire)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    CURLcode code = curl_easy_getinfo(wire->easy, CURLINFO_ACTIVESOCKET, &fd);
    return code == CURLE_OK && fd != CURL_SOCKET_BAD && watch_socket(wire, fd, EPOLLIN);
}

static void settle(struct wire *wire, CURLcode code)
{
    unwatch_all(wire);
    timer_clear(wire->dialer->loop, &wire->timer);
    if (code == CURLE_OK && take_socket(wire)) {
        wire->up = true;
        wire->event(wire, WIRE_UP);
        return;
    }
    wire->late = code == CURLE_OPERATION_TIMEDOUT;
    if (!wire->error[0])
        (void)text_copy(wire->error, sizeof(wire->error), curl_easy_strerror(code));
    wire->event(wire, WIRE_FAILED);
}

/* QUICK_EXIT: or giving up would wait, on the loop, for the system's resolver. */
static const struct {
    CURLoption option;
    long value;
} constants[] = {
    {CURLOPT_CONNECT_ONLY,   1                      },
    {CURLOPT_QUICK_EXIT,     1                      },
    {CURLOPT_NOSIGNAL,       1                      },
    {CURLOPT_HTTP_VERSION,   CURL_HTTP_VERSION_1_1  },
    {CURLOPT_SSLVERSION,     CURL_SSLVERSION_TLSv1_2},
    {CURLOPT_SSL_VERIFYPEER, 1                      },
    {CURLOPT_SSL_VERIFYHOST, 2                      },
    {CURLOPT_BUFFERSIZE,     WIRE_READ              }, /* the most that one read gives */
    {CURLOPT_TCP_KEEPALIVE,  1                      },
    {CURLOPT_TCP_KEEPIDLE,   30                     },
    {CURLOPT_TCP_KEEPINTVL,  10                     },
};

static bool set_text(CURL *easy, CURLoption option, const char *text)
{
    return curl_easy_setopt(easy, option, text) == CURLE_OK;
}

static bool configure_easy(struct wire *wire, const char *base_url)
{
    const struct dialer *dialer = wire->dialer;
    CURL *easy = wire->easy;
    for (size_t i = 0; i < COUNT(constants); i++)
        if (curl_easy_setopt(easy, constants[i].option, constants[i].value))
            return false;
    return set_text(easy, CURLOPT_URL, base_url) && set_text(easy, CURLOPT_PROXY, "")
           && set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
           && set_text(easy, CURLOPT_CAINFO, dialer->ca_file)
           && set_text(easy, CURLOPT_CAPATH, dialer->ca_folder)
           && !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                (long)dialer->connect_ms)
           && !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, wire->error)
           && !curl_easy_setopt(easy, CURLOPT_SHARE, dialer->share);
}

static bool configure_multi(struct wire *wire)
{
    CURLM *multi = wire->multi;
    return !curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket)
           && !curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, wire)
           && !curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer)
           && !curl_multi_setopt(multi, CURLMOPT_TIMERDATA, wire);
}

bool wire_open(struct wire *wire, struct dialer *dialer, const char *base_url,
               void (*event)(struct wire *wire, enum wire_event event))
{
    *wire = (struct wire){.event = event, .dialer = dialer};
    wire->timer.fire = time_passed;
    wire->easy = curl_easy_init();
    wire->multi = curl_multi_init();
    if (wire->easy && wire->multi && configure_easy(wire, base_url)
        && configure_multi(wire) && !curl_multi_add_handle(wire->multi, wire->easy))
        return true; /* adding it has set the timer */
    wire_close(wire);
    return false;
}

void wire_close(struct wire *wire)
{
    unwatch_all(wire);
    wire->up = false;
    if (wire->multi && wire->easy)
        (void)curl_multi_remove_handle(wire->multi, wire->easy);
    if (wire->easy)
        curl_easy_cleanup(wire->easy);
    if (wire->multi)
        (void)curl_multi_cleanup(wire->multi);
    wire->easy = NULL;
    wire->multi = NULL;
    unwatch_all(wire);
    timer_clear(wire->dialer->loop, &wire->timer);
}

/* ---- bytes ---- */

enum wire_result wire_send(struct wire *wire, const char *bytes, size_t size,
                           size_t *sent)
{
    CURLcode code = curl_easy_send(wire->easy, bytes, size, sent);
    if (code == CURLE_AGAIN)
        return WIRE_WAIT;
    return code == CURLE_OK ? WIRE_MOVED : WIRE_BROKEN;
}

enum wire_result wire_recv(struct wire *wire, char *bytes, size_t room, size_t *got)
{
    CURLcode code = curl_easy_recv(wire->easy, bytes, room, got);
    if (code == CURLE_AGAIN)
        return WIRE_WAIT;
    if (code != CURLE_OK)
        return WIRE_BROKEN;
    return *got ? WIRE_MOVED : WIRE_ENDED;
}

bool wire_want_write(struct wire *wire, bool want)
{
    if (want == wire->wants_write)
        return true;
    wire->wants_write = want;
    return loop_rewatch(wire->dialer->loop, &wire->sockets[0].watch,
                        want ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* ---- what they share ---- */

static int is_hash_link(const struct dirent *entry)
{
    return text_ends(entry->d_name, ".0");
}

/* The system's authorities as a hashed folder, if it has one: a bundle of them all
 * would be parsed anew for every connection, at 40 ms each. */
static const char *system_ca_folder(void)
{
    const char *folder = curl_version_info(CURLVERSION_NOW)->capath;
    struct dirent **links;
    int count = folder ? scandir(folder, &links, is_hash_link, NULL) : -1;
    for (int i = 0; i < count; i++)
        free(links[i]);
    if (count >= 0)
        free((void *)links);
    return count > 0 ? folder : NULL;
}

void dialer_open(struct dialer *dialer, struct loop *loop, int64_t connect_ms,
                 const char *ca_file)
{
    must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    *dialer = (struct dialer){.loop = loop, .connect_ms = connect_ms};
    dialer->ca_folder = ca_file ? NULL : system_ca_folder();
    dialer->ca_file = ca_file || dialer->ca_folder
                          ? ca_file
                          : curl_version_info(CURLVERSION_NOW)->cainfo;
    must((dialer->share = curl_share_init()));
    must(!curl_share_setopt(dialer->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS));
    must(
        !curl_share_setopt(dialer->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION));
}

void dialer_close(struct dialer *dialer)
{
    must(curl_share_cleanup(dialer->share) == CURLSHE_OK);
    curl_global_cleanup();
}

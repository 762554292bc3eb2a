/* Small libmicrohttpd daemons that live in the worker's loop.
 *
 * Each is run only by us: its own epoll thread of 0.9.75 can freeze, and a daemon that
 * is not run does nothing.  After every round of events each touched one gets a few
 * passes; what is still unfinished then waits for the next round, so that no daemon
 * can starve the others. */
#include "front/clients.h"

#include "base/log.h"
#include "base/must.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { PASSES = 3, LOG_TEXT = 256, LOG_SAFE = 2048 };

static size_t keep_escapes(void *unused, struct MHD_Connection *connection, char *text)
{
    (void)unused;
    (void)connection;
    return strlen(text);
}

/* Complaints about broken requests, which others control. */
__attribute__((format(printf, 2, 0))) static void
complain(void *unused, const char *format, va_list args)
{
    (void)unused;
    char text[LOG_TEXT];
    own_buf safe = BUF(LOG_SAFE);
    (void)vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    if (text_escape(&safe, text, strlen(text)))
        log_debug("http", "text=\"%s\"", safe.data);
}

static void ready(struct watch *watch, uint32_t events)
{
    (void)events;
    micro_touch(container_of(watch, struct micro, watch));
}

bool micro_start(struct micro *micro, struct gate *gate)
{
    struct front *front = gate->front;
    micro->gate = gate;
    micro->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG
            | MHD_ALLOW_SUSPEND_RESUME,
        0, NULL, NULL, request_step, front, MHD_OPTION_EXTERNAL_LOGGER, complain, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, request_line, front, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, request_over, front,
        MHD_OPTION_NOTIFY_CONNECTION, client_notify, front,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, front->config.memory,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)gate->listener.connections_max,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_END);
    if (!micro->daemon)
        return false;
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(micro->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    must(info);
    micro->watch = (struct watch){.ready = ready, .fd = info->epoll_fd};
    if (loop_watch(front->worker->loop, &micro->watch, EPOLLIN))
        return true;
    MHD_stop_daemon(micro->daemon);
    micro->daemon = NULL;
    return false;
}

void micro_stop(struct micro *micro)
{
    if (!micro->daemon)
        return;
    loop_unwatch(micro->gate->front->worker->loop, &micro->watch);
    MHD_stop_daemon(micro->daemon);
    micro->daemon = NULL;
}

void micro_touch(struct micro *micro)
{
    struct front *front = micro->gate->front;
    if (micro->due)
        return;
    micro->due = true;
    micro->next = NULL;
    *front->due_last = micro;
    front->due_last = &micro->next;
}

static bool unfinished(const struct micro *micro)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    return MHD_get_timeout(micro->daemon, &timeout) == MHD_YES && timeout == 0;
}

void micro_run(struct micro *micro)
{
    for (int pass = 0; pass < PASSES; pass++) {
        must(MHD_run(micro->daemon) == MHD_YES);
        if (!unfinished(micro))
            return;
    }
    micro_touch(micro);
}

/* sandgated: starts the lanes, stops them, and hears signals. */
#include "base/embedded.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "config.h"
#include "core/tlog.h"
#include "credentials.h"
#include "exchange/world.h"
#include "lanes.h"
#include "serve/policies.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_CONFIG = 65,
    EXIT_IO = 74,
    EXIT_LATE = 75,
    SPARE_FDS = 1000,
    WATCH_MS = 10000
};

static struct {
    struct config config;
    int signals;
} gateway;

/* ---- before anything else ---- */

/* Keys live in memory: nobody may look at it, alive or dead. */
static void harden(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)umask(077);
    (void)signal(SIGPIPE, SIG_IGN);
}

static bool raise_fd_limit(int64_t connections)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if ((int64_t)limit.rlim_cur >= connections + SPARE_FDS)
        return true;
    log_error("start",
              "limits.agent_connections=%lld needs %lld descriptors, %llu allowed; "
              "raise LimitNOFILE or lower the option",
              (long long)connections, (long long)connections + SPARE_FDS,
              (unsigned long long)limit.rlim_cur);
    return false;
}

static bool set_level(const char *name)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (text_same(names[i], name)) {
            log_level_set((enum log_level)i);
            return true;
        }
    log_error("start", "log.level is error, warn, info or debug");
    return false;
}

static int start_store(void)
{
    unsigned char master[MASTER_KEY], seed[TLOG_SEED];
    char error[STORE_ERROR] = "";
    int code = EXIT_CONFIG;
    const struct config *config = &gateway.config;
    const char *folder = secure_getenv("CREDENTIALS_DIRECTORY");
    bool ok = credential_read(folder, "master-key", config->master_key, master)
              && credential_read(folder, "audit-key", config->audit_key, seed);
    if (ok) {
        const struct store_config store = {.folder = config->data,
                                           .state_file = config->state_file,
                                           .origin = config->log_origin,
                                           .gateway = config->log_gateway,
                                           .master_key = master,
                                           .log_seed = seed,
                                           .checkpoint_ms = config->log_checkpoint_ms,
                                           .queue_max = (size_t)config->queue_max};
        keys_derive(master, "redact", world.hash_key);
        ok = store_start(&store, &code, error);
        if (!ok)
            log_error("store", "%s", error);
    }
    keys_wipe(master, sizeof(master));
    keys_wipe(seed, sizeof(seed));
    return ok ? 0 : code;
}

/* ---- policy ---- */

struct first_policy {
    struct job job;
    struct policy *policy;
    struct inbox done;
    struct link link;
};

static enum err record_first(struct job *job, struct db *db)
{
    struct first_policy *first = container_of(job, struct first_policy, job);
    return policies_record(db, first->policy, "", "start");
}

static void first_recorded(struct job *job)
{
    struct first_policy *first = container_of(job, struct first_policy, job);
    inbox_send(&first->done, &first->link);
}

/* A set that does not load is fatal at start: nobody knows which one was meant. */
static int start_policy(void)
{
    own_buf messages = BUF(65536);
    struct first_policy first = {
        .job = {.run = record_first, .done = first_recorded}
    };
    snapshot_init(&policy_snapshot);
    policies_folder(gateway.config.policy);
    first.policy = policies_read(gateway.config.policy, &messages);
    if (messages.size)
        (void)fprintf(stderr, "%s", messages.data);
    if (!first.policy)
        return EXIT_CONFIG;
    inbox_init(&first.done, false);
    store_write(&first.job);
    (void)inbox_wait(&first.done, -1);
    inbox_destroy(&first.done);
    if (first.job.err) {
        first.policy->shared.free(&first.policy->shared);
        return EXIT_IO;
    }
    policies_activate(first.policy);
    return 0;
}

/* ---- signals ---- */

static void signals_start(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    must(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    must((gateway.signals = signalfd(-1, &set, SFD_CLOEXEC)) >= 0);
}

static void serve_until_stopped(void)
{
    struct signalfd_siginfo got;
    struct pollfd signal = {.fd = gateway.signals, .events = POLLIN};
    for (;;) {
        if (poll(&signal, 1, WATCH_MS) == 0)
            lanes_watch();
        if (!(signal.revents & POLLIN))
            continue;
        ssize_t size = read(gateway.signals, &got, sizeof(got));
        if (size != (ssize_t)sizeof(got))
            continue;
        if (got.ssi_signo != SIGHUP)
            return;
        reload_policy("SIGHUP");
    }
}

static int run(void)
{
    int code = start_store();
    if (code)
        return code;
    code = start_policy();
    if (!code)
        code = lanes_start(&gateway.config);
    if (code) {
        store_stop();
        return code;
    }
    serve_until_stopped();
    if (!lanes_drain()) { /* what hangs cannot be freed; its outcome is unknown */
        store_stop();
        _exit(EXIT_LATE);
    }
    lanes_stop();
    store_stop();
    lanes_free();
    snapshot_destroy(&policy_snapshot);
    log_info("stop", "done");
    return 0;
}

static int usage(int code)
{
    (void)fprintf(
        code ? stderr : stdout,
        "usage: sandgated [--config FILE] [--check] [--version] [--help]\n"
        "\n"
        "The governance gateway for the E2B API. Set it up with: sandgate init\n"
        "  --config FILE   default /etc/sandgate/sandgate.json\n"
        "  --check         read configuration and policy, then exit\n"
        "SIGHUP reads the policy again; SIGTERM stops without losing a held call.\n"
        "\nOptions of FILE, their defaults and meaning:\n");
    if (!code)
        config_help();
    return code;
}

static int check(void)
{
    own_buf messages = BUF(65536);
    struct policy *policy = policies_read(gateway.config.policy, &messages);
    (void)fprintf(stderr, "%s", messages.data ? messages.data : "");
    if (!policy)
        return EXIT_CONFIG;
    (void)printf("configuration and policy are fine: %zu files, %zu rules, %s\n",
                 policy->files, policy->rules, policy->digest_text);
    policy->shared.free(&policy->shared);
    return 0;
}

int main(int argc, char **argv)
{
    const char *file = "/etc/sandgate/sandgate.json";
    char error[CONFIG_ERROR];
    bool only_check = false;
    for (int i = 1; i < argc; i++) {
        if (text_same(argv[i], "--config") && i + 1 < argc)
            file = argv[++i];
        else if (text_same(argv[i], "--check"))
            only_check = true;
        else if (text_same(argv[i], "--version"))
            return printf("sandgated %s (%s)\n", embedded_version, embedded_commit) < 0;
        else
            return usage(text_same(argv[i], "--help") ? 0 : 64);
    }
    harden();
    keys_start();
    tlog_start();
    if (!config_read(file, &gateway.config, error)) {
        (void)fprintf(stderr, "sandgated: %s\n", error);
        return EXIT_CONFIG;
    }
    if (!set_level(gateway.config.log_level)
        || !raise_fd_limit(gateway.config.agent_connections))
        return EXIT_CONFIG;
    if (only_check)
        return check();
    signals_start();
    return run();
}

/* How the gateway is: for people, for probes, for Prometheus. */
#include "serve/handlers.h"
#include "serve/policies.h"
#include "store/approvals.h"

static void write_policy(struct writer *w)
{
    struct policies_state policy;
    policies_state(&policy);
    write_open(w, "policy", '{');
    write_text(w, "digest", policy.digest);
    write_int(w, "files", (int64_t)policy.files);
    write_int(w, "rules", (int64_t)policy.rules);
    write_int(w, "since_ms", policy.since_ms);
    if (policy.refused_ms) /* what is on disk does not load; this set still rules */
        write_int(w, "refused_ms", policy.refused_ms);
    write_close(w, '}');
}

struct reply status_show(struct call *call, struct db *db)
{
    (void)call;
    struct buf body;
    struct writer w;
    struct store_counts counts;
    struct approval_counts approvals;
    enum err err = approvals_count(db, &approvals);
    if (err)
        return reply_error(err, NULL);
    store_counts(&counts);
    (void)reply_start(&w, &body);
    write_bool(&w, "ready", store_writable());
    write_policy(&w);
    write_open(&w, "approvals", '{');
    write_int(&w, "pending", approvals.pending);
    write_int(&w, "approved", approvals.approved);
    write_int(&w, "executing", approvals.executing);
    write_int(&w, "unknown", approvals.unknown);
    write_close(&w, '}');
    write_open(&w, "log", '{');
    write_int(&w, "size", (int64_t)counts.log_size);
    write_int(&w, "checkpoint", (int64_t)counts.checkpoint_size);
    write_bool(&w, "writable", store_writable());
    write_text(&w, "vkey", log_vkey());
    write_close(&w, '}');
    return reply_end(&w, &body);
}

struct reply live(struct call *call, struct db *db)
{
    (void)call, (void)db;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_bool(&w, "live", true);
    return reply_end(&w, &body);
}

struct reply ready(struct call *call, struct db *db)
{
    (void)call, (void)db;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_bool(&w, "ready", store_writable());
    write_policy(&w);
    struct reply reply = reply_end(&w, &body);
    reply.status = store_writable() ? 200 : 503;
    return reply;
}

struct reply metrics(struct call *call, struct db *db)
{
    (void)call;
    struct approval_counts approvals;
    struct store_counts counts;
    enum err err = approvals_count(db, &approvals);
    if (err)
        return reply_error(err, NULL);
    store_counts(&counts);
    const struct {
        const char *name, *kind, *help;
        int64_t value;
    } rows[] = {
        {"sandgate_log_records_total",   "counter", "Records in the log.",
         (int64_t)counts.log_size       },
        {"sandgate_log_checkpoint_size", "gauge",   "Records under a signed checkpoint.",
         (int64_t)counts.checkpoint_size},
        {"sandgate_log_writable",        "gauge",   "1 while the log can be written.",
         store_writable()               },
        {"sandgate_store_batches_total", "counter", "Group commits.",
         (int64_t)counts.batches        },
        {"sandgate_store_queued",        "gauge",   "Jobs that wait for the writer.",
         (int64_t)counts.queued         },
        {"sandgate_approvals_pending",   "gauge",   "Calls that wait for people.",
         approvals.pending              },
        {"sandgate_approvals_executing", "gauge",   "Approved calls on their way to E2B.",
         approvals.executing            },
        {"sandgate_approvals_unknown",   "gauge",   "Calls whose outcome is not known.",
         approvals.unknown              },
    };
    struct reply reply = {.type = "text/plain; version=0.0.4", .fd = -1};
    reply.body = BUF(REPLY_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        buf_printf(&reply.body, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", rows[i].name,
                   rows[i].help, rows[i].name, rows[i].kind, rows[i].name,
                   (long long)rows[i].value);
    return reply;
}

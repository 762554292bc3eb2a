#include "canon_kit.h"

#include "base/text.h"
#include "core/facts.h"
#include "test.h"

#include <string.h>

enum { ROOM = 1 << 20 };

/* The reference for policy files, kept beside the code: what every row must say. */
static const struct {
    const char *name, *effect, *target, *routes, *facts;
    enum treatment treatment;
    enum credentials credentials;
} expected[] = {
#define A TREAT_ALLOW
#define H TREAT_HOLD
#define D TREAT_DENY
#define N TREAT_NEVER
#define NONE CREDENTIALS_NONE
#define PASS CREDENTIALS_PASS
#define STRIP CREDENTIALS_STRIP
    {"health.check",          "read",        "none",     "v1",        "",                                    A, NONE },
    {"sandbox.create",        "write",       "none",     "v2,v1",
                                   "template template_tag timeout_s vcpu_s auto_pause auto_pause_memory auto_resume "
     "secure internet allow_out deny_out egress_proxy rule_hosts public_traffic "
     "env_names "
     "metadata mcp_servers iam_audiences volumes ",                                                                                        H, PASS },
    {"sandbox.list",          "read",        "none",     "v2,v1",     "",                                    A, NONE },
    {"sandbox.get",           "read",        "sandbox",  "v1",        "",                                    A, STRIP},
    {"sandbox.kill",          "destructive", "sandbox",  "v1",        "",                                    H, NONE },
    {"sandbox.metrics",       "read",        "sandbox",  "v1",        "",                                    A, NONE },
    {"sandbox.logs",          "read",        "sandbox",  "v2,v1",     "",                                    A, NONE },
    {"sandbox.events",        "read",        "sandbox",  "v1",        "",                                    A, NONE },
    {"sandbox.connect",       "write",       "sandbox",  "v2,v1",     "timeout_s vcpu_s memory ",            H,
                                   PASS                                                                                                            },
    {"sandbox.resume",        "write",       "sandbox",  "v1",        "timeout_s vcpu_s memory auto_pause ",
                                   H,                                                                                                         PASS },
    {"sandbox.pause",         "write",       "sandbox",  "v1",        "memory ",                             H, NONE },
    {"sandbox.timeout",       "write",       "sandbox",  "v1",        "timeout_s ",                          H, NONE },
    {"sandbox.refresh",       "write",       "sandbox",  "v1",        "timeout_s ",                          H, NONE },
    {"sandbox.snapshot",      "write",       "sandbox",  "v1",        "name ",                               H, NONE },
    {"sandbox.fork",          "write",       "sandbox",  "v1",        "timeout_s vcpu_s count ",             H, PASS },
    {"sandbox.network",       "write",       "sandbox",  "v1",
                                   "internet allow_out deny_out egress_proxy rule_hosts clears ",                                          H, NONE },
    {"fleet.metrics",         "read",        "none",     "v1",        "",                                    A, NONE },
    {"fleet.events",          "read",        "none",     "v1",        "",                                    A, NONE },
    {"snapshot.list",         "read",        "none",     "v1",        "",                                    A, NONE },
    {"template.create",       "write",       "none",     "v3,v2,v1!",
                                   "name tags cpu memory_mb min_free_disk_mb ",                                                            H, NONE },
    {"template.rebuild",      "write",       "template", "v1!",       "",                                    N, NONE },
    {"template.build",        "write",       "template", "v2,v1!",
                                   "template from_image from_template registry force step_types env_names ",                               H, NONE },
    {"template.list",         "read",        "none",     "v2,v1",     "",                                    A, NONE },
    {"template.get",          "read",        "template", "v1",        "template ",                           A, NONE },
    {"template.delete",       "destructive", "template", "v1",        "template ",                           H, NONE },
    {"template.update",       "write",       "template", "v2,v1",     "template public ",                    H, NONE },
    {"template.files",        "write",       "template", "v1",        "template ",                           H, PASS },
    {"template.build_status", "read",        "template", "v1",        "template ",                           A, NONE },
    {"template.build_logs",   "read",        "template", "v1",        "template ",                           A, NONE },
    {"template.alias",        "read",        "none",     "v1",        "template ",                           A, NONE },
    {"template.tags",         "read",        "template", "v1",        "template ",                           A, NONE },
    {"template.tag",          "write",       "template", "v1",        "template tags ",                      H, NONE },
    {"template.untag",        "destructive", "template", "v1",        "template tags ",                      H, NONE },
    {"team.list",             "write",       "none",     "v1!",       "",                                    N, NONE },
    {"team.metrics",          "read",        "none",     "v1",        "",                                    A, NONE },
    {"team.metrics_max",      "read",        "none",     "v1",        "",                                    A, NONE },
    {"volume.list",           "read",        "none",     "v1",        "",                                    A, NONE },
    {"volume.create",         "write",       "none",     "v1",        "name ",                               H, PASS },
    {"volume.get",            "read",        "volume",   "v1",        "",                                    A, STRIP},
    {"volume.delete",         "destructive", "volume",   "v1",        "",                                    H, NONE },
    {"volumefile.stat",       "read",        "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.update",     "write",       "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.delete",     "destructive", "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.list",       "read",        "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.mkdir",      "write",       "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.read",       "read",        "volume",   "v1!",       "",                                    N, NONE },
    {"volumefile.write",      "destructive", "volume",   "v1!",       "",                                    N, NONE },
    {"secret.list",           "read",        "none",     "v1",        "",                                    A, NONE },
    {"secret.create",         "write",       "none",     "v1",        "name metadata ",                      D, NONE },
    {"secret.get",            "read",        "secret",   "v1",        "",                                    A, NONE },
    {"secret.update",         "write",       "secret",   "v1",        "metadata ",                           D, NONE },
    {"secret.delete",         "destructive", "secret",   "v1",        "",                                    D, NONE },
    {"apikey.list",           "read",        "none",     "v1!",       "",                                    N, NONE },
    {"apikey.create",         "write",       "none",     "v1!",       "",                                    N, NONE },
    {"apikey.update",         "write",       "none",     "v1!",       "",                                    N, NONE },
    {"apikey.delete",         "destructive", "none",     "v1!",       "",                                    N, NONE },
    {"accesstoken.create",    "write",       "none",     "v1!",       "",                                    N, NONE },
    {"accesstoken.delete",    "destructive", "none",     "v1!",       "",                                    N, NONE },
    {"node.list",             "read",        "none",     "v1!",       "",                                    N, NONE },
    {"node.get",              "read",        "none",     "v1!",       "",                                    N, NONE },
    {"node.update",           "write",       "none",     "v1!",       "",                                    N, NONE },
    {"admin.kill_sandboxes",  "destructive", "none",     "v1!",       "",                                    N, NONE },
    {"admin.running_counts",  "read",        "none",     "v1!",       "",                                    N, NONE },
    {"admin.cancel_builds",   "destructive", "none",     "v1!",       "",                                    N, NONE },
    {"admin.create_apikey",   "write",       "none",     "v1!",       "",                                    N, NONE },
    {"admin.delete_apikey",   "destructive", "none",     "v1!",       "",                                    N, NONE },
    {"webhook.list",          "read",        "none",     "v1",        "",                                    A, STRIP},
    {"webhook.create",        "write",       "none",     "v1",        "name webhook_host events enabled ",   H,
                                   NONE                                                                                                            },
    {"webhook.get",           "read",        "webhook",  "v1",        "",                                    A, STRIP},
    {"webhook.update",        "write",       "webhook",  "v1",
                                   "name webhook_host events enabled rekeys ",                                                             H, STRIP},
    {"webhook.delete",        "destructive", "webhook",  "v1",        "",                                    H, NONE },
    {"webhook.deliveries",    "read",        "webhook",  "v1",        "",                                    A, STRIP},
    {"webhook.stats",         "read",        "webhook",  "v1",        "",                                    A, NONE },
};

static const char *versions(const struct operation *operation, struct arena *arena)
{
    const char *text = "";
    for (const struct route *route = operation->routes; route->method; route++)
        text = arena_printf(arena, "%s%s%s%s", text, *text ? "," : "", route->version,
                            route->forwarded ? "" : "!");
    return text;
}

static const char *names(const char *const *list, struct arena *arena)
{
    const char *text = "";
    for (; list && *list; list++)
        text = arena_printf(arena, "%s%s ", text, *list);
    return text;
}

TEST(catalogue_says_of_every_operation_what_policy_files_are_promised)
{
    EQ_INT(catalogue_size, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct arena *arena = arena_new(ROOM);
        const struct operation *operation = operation_named(expected[i].name);
        CASE("%s", expected[i].name);
        NOT_NULL(operation);
        EQ_TEXT(effect_name(operation->effect), expected[i].effect);
        EQ_TEXT(target_kind_name(operation->target), expected[i].target);
        EQ_TEXT(versions(operation, arena), expected[i].routes);
        EQ_TEXT(names(operation->facts, arena), expected[i].facts);
        EQ_INT(operation->treatment, expected[i].treatment);
        EQ_INT(operation->credentials, expected[i].credentials);
        EQ_INT(&catalogue[operation_index(operation)] == operation, true);
        arena_free(arena);
    }
}

TEST(catalogue_rows_are_whole)
{
    for (size_t i = 0; i < catalogue_size; i++) {
        const struct operation *operation = &catalogue[i];
        bool forwarded = false;
        CASE("%s", operation->name);
        NOT_NULL(operation->title);
        OK(operation->body_cap >= 1 << 20);
        OK(!operation->body_optional || operation->body);
        OK(!operation->creates == (operation->creates_kind == TARGET_NONE));
        OK(operation->credentials == CREDENTIALS_NONE || operation->credential_paths);
        for (const struct route *route = operation->routes; route->method; route++) {
            OK(*route->path == '/' && !text_ends(route->path, "/"));
            forwarded |= route->forwarded;
        }
        EQ_INT(forwarded, operation->treatment != TREAT_NEVER);
        OK(!operation->tool
           || !strpbrk(operation->tool, ". ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        if (operation->effect == EFFECT_DESTRUCTIVE && forwarded)
            NOT_NULL(operation->offers);
    }
}

TEST(catalogue_names_are_unique)
{
    for (size_t i = 0; i < catalogue_size; i++)
        for (size_t k = 0; k < i; k++) {
            NOT(text_same(catalogue[i].name, catalogue[k].name));
            NOT(catalogue[i].tool && text_same(catalogue[i].tool, catalogue[k].tool));
        }
    IS_NULL(operation_named("sandbox.kil"));
    IS_NULL(operation_named("unknown"));
    EQ_INT(operation_index(&operation_unknown), catalogue_size);
}

/* Every parent of a nested key is there, of a type that has children. */
TEST(catalogue_body_keys_form_trees)
{
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct body_field *row = catalogue[i].body; row && row->path;
             row++) {
            const char *dot = strrchr(row->path, '.');
            size_t size = dot ? (size_t)(dot - row->path) : 0;
            bool found = !dot;
            CASE("%s %s", catalogue[i].name, row->path);
            NOT(row->secret && row->clear);
            for (const struct body_field *up = catalogue[i].body; up->path; up++)
                if (dot && strlen(up->path) == size
                    && !strncmp(up->path, row->path, size))
                    found = up->type
                            == (dot[1] == '*' && up->type == BODY_LIST ? BODY_LIST
                                                                       : BODY_OBJECT);
            OK(found);
        }
}

TEST(every_route_leads_to_its_operation_and_back)
{
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct route *route = catalogue[i].routes; route->method; route++) {
            struct arena *arena = arena_new(ROOM);
            const char *line = kit_line(route, arena);
            const char *path = strchr(line, ' ') + 1;
            struct canon canon = {0};
            const struct raw_request raw = {
                .method = route->method, .target = path, .version = "HTTP/1.1"};
            CASE("%s", line);
            EQ_INT(canon_target(&raw, arena, &canon), ERR_OK);
            EQ_TEXT(canon.operation->name, catalogue[i].name);
            OK(canon.route == route);
            EQ_TEXT(canon.path, path);
            OK(!strchr(route->path, '{') == !canon.args[0]);
            arena_free(arena);
        }
}

TEST(every_row_has_facts_and_a_sentence)
{
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct route *route = catalogue[i].routes; route->method; route++) {
            struct arena *arena = arena_new(ROOM);
            struct canon canon;
            struct facts facts;
            const char *line = kit_line(route, arena);
            const char *body = kit_body(&catalogue[i], route, arena);
            CASE("%s", line);
            EQ_INT(kit_canon(line, body, arena, &canon), ERR_OK);
            OK(facts_of(&canon, arena, &facts));
            for (const char *const *name = catalogue[i].facts; name && *name; name++)
                NOT_NULL(fact_named(&facts, *name));
            EQ_TEXT(fact_named(&facts, "route")->text, route->version);
            OK(facts.effect >= catalogue[i].effect);
            const char *text = facts_summary(&canon, &facts, arena);
            NOT_NULL(text);
            OK(strlen(text) > 5 && strlen(text) <= 120 && !strpbrk(text, "{}"));
            canon_free(&canon);
            arena_free(arena);
        }
}

/* Agents, keys, environments, people: who may call and where calls go. */
#include "base/must.h"
#include "base/text.h"
#include "core/policy.h"
#include "serve/handlers.h"
#include "serve/policies.h"

#include <string.h>

enum {
    OVERLAP_DEFAULT_S = 86400,
    OVERLAP_MAX_S = 30 * 86400,
    VALID_MAX_S = 366 * 86400
};

enum err record_change(struct call *call, struct db *db, const char *event,
                       const char *detail)
{
    struct receipt receipt;
    struct record record = {
        .type = RECORD_SYS,
        .event = event,
        .actor = {.person = call->person.name, .via = "cli"},
        .detail = detail
    };
    return log_append(db, &record, &receipt);
}

/* Names go into records, file names and policy: one plain word. */
static bool name_ok(const char *name)
{
    size_t size = strlen(name);
    return size > 0 && size < NAME
           && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == size
           && strchr("-_.", name[0]) == NULL;
}

static const char name_rule[] =
    "a name is up to 63 of a-z 0-9 - _ . and starts with a letter or digit";

static struct reply refuse(enum err err, const char *detail)
{
    return reply_error(err, detail);
}

/* One member object of a list answer. */
static struct reply listed(struct buf *body, struct writer *w, enum err err)
{
    write_close(w, ']');
    if (!err)
        return reply_end(w, body);
    buf_free(body);
    return reply_error(err, NULL);
}

/* ---- agents ---- */

static bool write_agent(void *context, const struct agent *agent)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    write_text(w, "name", agent->name);
    write_text(w, "team", agent->team);
    write_text(w, "owner", agent->owner);
    write_bool(w, "disabled", agent->disabled);
    write_time(w, "created", agent->created_ms);
    write_close(w, '}');
    return true;
}

struct reply agents_index(struct call *call, struct db *db)
{
    (void)call;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_open(&w, "agents", '[');
    return listed(&body, &w, agent_list(db, write_agent, &w));
}

struct reply agents_add(struct call *call, struct db *db)
{
    const char *name = "", *team = "", *owner = "", *bad = "name";
    const struct field fields[] = {
        {"name",  FIELD_TEXT, &name,  true },
        {"team",  FIELD_TEXT, &team,  false},
        {"owner", FIELD_TEXT, &owner, false}
    };
    if (!call->body || fields_read(call->body, fields, COUNT(fields), &bad))
        return refuse(ERR_BAD_FIELD, bad);
    if (!name_ok(name) || (*team && !name_ok(team)) || (*owner && !name_ok(owner)))
        return refuse(ERR_BAD_FIELD, name_rule);
    struct agent agent = {.created_ms = call->now_ms};
    (void)text_copy(agent.name, sizeof(agent.name), name);
    (void)text_copy(agent.team, sizeof(agent.team), team);
    (void)text_copy(agent.owner, sizeof(agent.owner), owner);
    enum err err = agent_add(db, &agent);
    const char *detail =
        arena_printf(call->arena, "{\"agent\":\"%s\",\"team\":\"%s\",\"owner\":\"%s\"}",
                     name, team, *owner ? owner : "none");
    if (!err)
        err = record_change(call, db, "agent.add", detail);
    if (err)
        return refuse(err, err == ERR_CONFLICT ? name : NULL);
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_open(&w, "agent", '{');
    write_text(&w, "name", name);
    write_text(&w, "team", team);
    write_text(&w, "owner", owner);
    write_close(&w, '}');
    return reply_end(&w, &body);
}

struct reply agents_disable(struct call *call, struct db *db)
{
    struct agent agent;
    enum err err = agent_get(db, call->args[0], &agent);
    if (!err)
        err = agent_disable(db, call->args[0]);
    if (!err)
        err =
            record_change(call, db, "agent.disable",
                          arena_printf(call->arena, "{\"agent\":\"%s\"}", agent.name));
    if (err)
        return refuse(err, NULL);
    return agents_index(call, db);
}

/* ---- keys ---- */

static void write_key_members(struct writer *w, const struct agent_key *key)
{
    write_text(w, "id", key->id);
    write_text(w, "agent", key->agent);
    write_text(w, "environment", key->environment);
    write_text(w, "skills", key->skills);
    write_text(w, "minted_by", key->minted_by);
    write_time(w, "created", key->created_ms);
    write_time(w, "expires", key->expires_ms);
    write_time(w, "revoked", key->revoked_ms);
}

static bool write_agent_key(void *context, const struct agent_key *key)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    write_key_members(w, key);
    write_close(w, '}');
    return true;
}

struct reply keys_index(struct call *call, struct db *db)
{
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_open(&w, "keys", '[');
    return listed(&body, &w,
                  key_list(db, call_query(call, "agent"), write_agent_key, &w));
}

/* The fresh key leaves here, once, and is nowhere else in clear. */
static struct reply fresh_key(const struct agent_key *key, char text[static KEY_TEXT])
{
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_key_members(&w, key);
    write_text(&w, "key", text);
    keys_wipe(text, KEY_TEXT);
    return reply_end(&w, &body);
}

static const char *key_detail(const struct call *call, const struct agent_key *key,
                              const char *was)
{
    return arena_printf(
        call->arena, "{\"key\":\"%s\",\"agent\":\"%s\",\"environment\":\"%s\"%s%s%s}",
        key->id, key->agent, key->environment, was ? ",\"was\":\"" : "", was ? was : "",
        was ? "\"" : "");
}

struct reply keys_add(struct call *call, struct db *db)
{
    const char *agent = "", *environment = "", *skills = "", *bad = "agent";
    int64_t valid_s = 0;
    const struct field fields[] = {
        {"agent",       FIELD_TEXT, &agent,       true },
        {"environment", FIELD_TEXT, &environment, true },
        {"skills",      FIELD_TEXT, &skills,      false},
        {"valid_s",     FIELD_INT,  &valid_s,     false}
    };
    if (!call->body || fields_read(call->body, fields, COUNT(fields), &bad))
        return refuse(ERR_BAD_FIELD, bad);
    if (!name_ok(agent) || !name_ok(environment) || strlen(skills) >= LIST
        || strspn(skills, "abcdefghijklmnopqrstuvwxyz0123456789-_.,*")
               != strlen(skills))
        return refuse(ERR_BAD_FIELD, name_rule);
    if (valid_s < 0 || valid_s > VALID_MAX_S)
        return refuse(ERR_BAD_FIELD, "valid_s is at most a year");
    struct agent_key key = {.created_ms = call->now_ms,
                            .expires_ms = valid_s ? call->now_ms + valid_s * 1000 : 0};
    (void)text_copy(key.agent, sizeof(key.agent), agent);
    (void)text_copy(key.environment, sizeof(key.environment), environment);
    (void)text_copy(key.skills, sizeof(key.skills), skills);
    if (call->uid != 0) /* the machine itself owns nothing and votes on nothing */
        (void)text_copy(key.minted_by, sizeof(key.minted_by), call->person.name);
    char text[KEY_TEXT];
    enum err err = key_add(db, &key, text);
    if (!err)
        err = record_change(call, db, "key.add", key_detail(call, &key, NULL));
    if (err == ERR_NOT_FOUND)
        return refuse(err, "the agent or the environment is not there");
    return err ? refuse(err, NULL) : fresh_key(&key, text);
}

struct reply keys_rotate(struct call *call, struct db *db)
{
    const char *bad = NULL;
    int64_t overlap_s = OVERLAP_DEFAULT_S;
    const struct field fields[] = {
        {"overlap_s", FIELD_INT, &overlap_s, false}
    };
    if (call->body && fields_read(call->body, fields, COUNT(fields), &bad))
        return refuse(ERR_BAD_FIELD, bad);
    if (overlap_s < 0 || overlap_s > OVERLAP_MAX_S)
        return refuse(ERR_BAD_FIELD, "overlap_s is at most 30 days");
    struct agent_key fresh;
    char text[KEY_TEXT];
    enum err err = key_rotate(db, call->args[0], call->now_ms + overlap_s * 1000,
                              call->uid == 0 ? "" : call->person.name, &fresh, text);
    if (!err)
        err = record_change(call, db, "key.rotate",
                            key_detail(call, &fresh, call->args[0]));
    return err ? refuse(err, NULL) : fresh_key(&fresh, text);
}

struct reply keys_revoke(struct call *call, struct db *db)
{
    struct agent_key key;
    enum err err = key_revoke(db, call->args[0], call->now_ms);
    if (!err)
        err = key_get(db, call->args[0], &key);
    if (!err)
        err = record_change(call, db, "key.revoke", key_detail(call, &key, NULL));
    if (err)
        return refuse(err, NULL);
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_key_members(&w, &key);
    return reply_end(&w, &body);
}

/* ---- people ---- */

static void write_person_members(struct writer *w, const struct person *person)
{
    write_text(w, "name", person->name);
    write_text(w, "roles", person->roles);
    if (person->uid >= 0)
        write_int(w, "uid", person->uid);
    write_bool(w, "disabled", person->disabled);
}

static bool write_person(void *context, const struct person *person)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    write_person_members(w, person);
    write_close(w, '}');
    return true;
}

struct reply people_whoami(struct call *call, struct db *db)
{
    (void)db;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_person_members(&w, &call->person);
    return reply_end(&w, &body);
}

struct reply people_index(struct call *call, struct db *db)
{
    (void)call;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_open(&w, "people", '[');
    return listed(&body, &w, person_list(db, write_person, &w));
}

static bool roles_ok(const char *roles)
{
    static const char *const known[] = {"viewer", "approver", "auditor", "policy-admin",
                                        "admin"};
    for (const char *at = roles; *at;) {
        size_t size = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < COUNT(known); i++)
            found |= strlen(known[i]) == size && memcmp(known[i], at, size) == 0;
        if (!found)
            return false;
        at += size + (at[size] == ',');
    }
    return *roles != '\0';
}

struct reply people_put(struct call *call, struct db *db)
{
    const char *name = "", *roles = "", *bad = "name";
    struct person person = {.uid = -1};
    const struct field fields[] = {
        {"name",     FIELD_TEXT, &name,            true },
        {"roles",    FIELD_TEXT, &roles,           true },
        {"uid",      FIELD_INT,  &person.uid,      false},
        {"disabled", FIELD_BOOL, &person.disabled, false}
    };
    if (!call->body || fields_read(call->body, fields, COUNT(fields), &bad))
        return refuse(ERR_BAD_FIELD, bad);
    if (!name_ok(name) || text_same(name, "machine"))
        return refuse(ERR_BAD_FIELD, name_rule);
    if (!roles_ok(roles) || strlen(roles) >= LIST)
        return refuse(ERR_BAD_FIELD,
                      "roles are of viewer, approver, auditor, policy-admin, "
                      "admin, separated by commas");
    (void)text_copy(person.name, sizeof(person.name), name);
    (void)text_copy(person.roles, sizeof(person.roles), roles);
    enum err err = person_put(db, &person);
    const char *detail = arena_printf(
        call->arena,
        "{\"person\":\"%s\",\"roles\":\"%s\",\"uid\":%lld,\"disabled\":%s}", name,
        roles, (long long)person.uid, person.disabled ? "true" : "false");
    if (!err)
        err = record_change(call, db, "person.put", detail);
    return err ? refuse(err, NULL) : people_index(call, db);
}

/* ---- policy ---- */

struct reply policy_reload(struct call *call, struct db *db)
{
    own_buf messages = BUF(65536);
    struct policy *fresh = policies_read(policies_folder_path(), &messages);
    const char *text =
        arena_copy(call->arena, messages.data ? messages.data : "", messages.size);
    if (policies_record(db, fresh, text ? text : "", call->person.name)) {
        if (fresh)
            fresh->shared.free(&fresh->shared);
        return refuse(ERR_STORE, NULL);
    }
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_bool(&w, "active", fresh != NULL);
    write_text(&w, "digest", fresh ? fresh->digest_text : NULL);
    write_text(&w, "messages", text);
    struct reply reply = reply_end(&w, &body);
    if (fresh)
        call->activate = fresh;
    else
        policies_refused(call->now_ms);
    reply.status = fresh ? 200 : err_status(ERR_BAD_POLICY);
    return reply;
}

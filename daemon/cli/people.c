/* people: who may decide, read and administer. */
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"

enum { BODY_CAP = 4096 };

static const struct column columns[] = {
    {"name",     "name",     CELL_TEXT, false},
    {"uid",      "uid",      CELL_TEXT, false},
    {"roles",    "roles",    CELL_TEXT, false},
    {"disabled", "disabled", CELL_YES,  false}
};

int people_ls(struct call *call)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/people", &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "people"), columns,
                        COUNT(columns), "nobody; sandgate people add NAME");
    return code;
}

/* What is not said about somebody who is registered stays as it is. */
struct change {
    const char *roles;
    int64_t uid;
};

static int keep_unsaid(struct call *call, struct change *change)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/people", &answer);
    const struct node *list = code ? NULL : node_member(answer.root, "people");
    for (size_t i = 0; list && i < node_size(list); i++) {
        const struct node *row = node_at(list, i);
        if (!text_same(path_text(row, "name"), call->args[0]))
            continue;
        if (!change->roles)
            change->roles = words(call, "%s", path_text(row, "roles"));
        if (change->uid < 0)
            change->uid = member_int(row, "uid", -1);
    }
    if (!change->roles)
        change->roles = "viewer";
    return code;
}

static int put_person(struct call *call, const struct change *change,
                      struct answer *answer)
{
    own_buf body = BUF(BODY_CAP);
    struct writer w = WRITER(&body);
    write_open(&w, NULL, '{');
    write_text(&w, "name", call->args[0]);
    write_text(&w, "roles", change->roles);
    if (change->uid >= 0)
        write_int(&w, "uid", change->uid);
    write_bool(&w, "disabled", flag_on(call, "disabled"));
    write_close(&w, '}');
    return body.failed ? fail(call, USAGE, "that is too long")
                       : api_post(call, "/api/v1/people", body.data, answer);
}

int people_add(struct call *call)
{
    own_answer answer = {.status = 0};
    struct change change = {.roles = flag_text(call, "roles"), .uid = -1};
    const char *uid = flag_text(call, "uid");
    if (uid && !text_int(uid, 0, UINT32_MAX - 1, &change.uid))
        return fail(call, USAGE, "--uid %s: is not a user's number (see: id -u NAME)",
                    safe(call, uid));
    int code = keep_unsaid(call, &change);
    if (!code)
        code = put_person(call, &change, &answer);
    if (code)
        return code;
    if (flag_on(call, "json"))
        put_json(call, answer.root);
    else
        say(call, "%s is registered: %s", call->args[0], change.roles);
    return DONE;
}

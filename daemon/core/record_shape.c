/* What a record may hold.  A new member is a row here and a line in docs/AUDIT.md; the
 * order is part of the format, and old logs must stay valid: rows are only added. */
#include "core/record_shape.h"

#define AT(member) offsetof(struct leaf, record.member)
#define END         \
    {               \
        .key = NULL \
    }

#define TEXT(name, member, characters)                                               \
    {                                                                                \
        .key = (name), .kind = SHAPE_TEXT, .offset = AT(member), .cap = (characters) \
    }
#define TEXTS(name, member, characters)                                               \
    {                                                                                 \
        .key = (name), .kind = SHAPE_TEXTS, .offset = AT(member), .cap = (characters) \
    }
#define INT(name, member)                                      \
    {                                                          \
        .key = (name), .kind = SHAPE_INT, .offset = AT(member) \
    }
#define GROUP(name, rows)                                     \
    {                                                         \
        .key = (name), .kind = SHAPE_GROUP, .members = (rows) \
    }

/* ---- words ---- */

static const char *type_word(int value)
{
    static const char *const words[] = {[RECORD_CALL] = "call",
                                        [RECORD_VOTE] = "vote",
                                        [RECORD_DECISION] = "decision",
                                        [RECORD_SETTLED] = "settled",
                                        [RECORD_SYS] = "sys"};
    return value >= RECORD_CALL && value <= RECORD_SYS ? words[value] : NULL;
}

static const char *phase_word(int value)
{
    static const char *const words[] = {[PHASE_NONE] = NULL,
                                        [PHASE_INTENT] = "intent",
                                        [PHASE_OUTCOME] = "outcome",
                                        [PHASE_EVENT] = "event"};
    return value >= PHASE_NONE && value <= PHASE_EVENT ? words[value] : NULL;
}

static const char *effect_word(int value)
{
    bool known = value >= EFFECT_READ && value <= EFFECT_UNKNOWN;
    return known ? effect_name((enum effect)value) : NULL;
}

static const char *target_word(int value)
{
    bool known = value > TARGET_NONE && value <= TARGET_SECRET;
    return known ? target_kind_name((enum target_kind)value) : NULL;
}

/* ---- rows ---- */

static const struct shape actor[] = {
    TEXT("agent", actor.agent, 64),
    TEXT("key", actor.key, 16),
    TEXT("team", actor.team, 64),
    TEXT("env", actor.environment, 64),
    TEXT("skill", actor.skill, 64),
    {.key = "claimed", .kind = SHAPE_FLAG, .offset = AT(actor.claimed)},
    TEXT("ip", actor.ip, 64),
    TEXT("ua", actor.user_agent, 200),
    TEXT("via", actor.via, 16),
    TEXT("person", actor.person, 128),
    END,
};

static const struct shape target[] = {
    {.key = "kind",
     .kind = SHAPE_WORD,
     .offset = AT(call.target_kind),
     .word = target_word},
    TEXT("id", call.target_id, 128),
    END,
};

static const struct shape call[] = {
    TEXT("op", call.operation, 64),
    {.key = "effect",
                                .kind = SHAPE_EFFECT,
                                .offset = AT(call.effect),
                                .word = effect_word},
    TEXT("method", call.method, 16),
    TEXT("path", call.path, 256),
    GROUP("target", target),
    {.key = "in",               .kind = SHAPE_INPUT,                         .offset = AT(call.input)     },
    {.key = "hidden",               .kind = SHAPE_HIDDEN                    },
    INT("bytes", call.bytes),
    {.key = "digest", .kind = SHAPE_DIGEST, .offset = AT(call.digest)},
    TEXT("idem", call.idempotency_key, 256),
    TEXT("trace", call.trace, 64),
    END,
};

static const struct shape decision[] = {
    TEXT("verdict", decision.verdict, 16),
    TEXT("policy", decision.policy, 96),
    TEXTS("because", decision.because, 160),
    TEXT("why", decision.why, 512),
    END,
};

static const struct shape approval[] = {
    TEXT("id", approval.id, 64),     TEXT("state", approval.state, 16),
    TEXTS("by", approval.by, 128),   TEXT("choice", approval.choice, 64),
    TEXT("vote", approval.vote, 16), END,
};

static const struct shape created[] = {
    TEXT("kind", result.created_kind, 32),
    TEXT("id", result.created_id, 128),
    END,
};

static const struct shape result[] = {
    TEXT("outcome", result.outcome, 16),
    {.key = "status", .kind = SHAPE_STATUS, .offset = AT(result.status)},
    INT("bytes", result.bytes),
    INT("us", result.us),
    TEXT("body", result.body, 96),
    GROUP("new", created),
    TEXT("stripped", result.stripped, 512),
    TEXT("err", result.err, 64),
    END,
};

const struct shape record_rows[RECORD_ROWS + 1] = {
    [ROW_VERSION] = {.key = "v",           .kind = SHAPE_VERSION, .required = true},
    [ROW_TYPE] = {.key = "t",
                     .kind = SHAPE_WORD,
                     .offset = AT(type),
                     .required = true,
                     .word = type_word},
    [ROW_PHASE] = {.key = "ph",
                     .kind = SHAPE_WORD,
                     .offset = AT(phase),
                     .word = phase_word},
    [ROW_EVENT] = TEXT("ev", event, 64),
    [ROW_ID] = {.key = "id",
                     .kind = SHAPE_HEX,
                     .offset = AT(id),
                     .cap = RECORD_ID - 1,
                     .required = true},
    [ROW_REF] = TEXT("ref", ref, 64),
    [ROW_RUN] = TEXT("run", run, 64),
    [ROW_WALL] = {.key = "ts",
                     .kind = SHAPE_INT,
                     .offset = AT(wall_us),
                     .required = true},
    [ROW_MONO] = INT("mono", mono_us),
    [ROW_BOOT] = {.key = "boot",
                     .kind = SHAPE_HEX,
                     .offset = offsetof(struct leaf, boot),
                     .cap = BOOT_DIGITS,
                     .required = true},
    [ROW_GATEWAY] = {.key = "gw",
                     .kind = SHAPE_TEXT,
                     .offset = offsetof(struct leaf, gateway),
                     .cap = GATEWAY_MAX,
                     .required = true},
    [ROW_ACTOR] = GROUP("actor", actor),
    [ROW_CALL] = GROUP("call", call),
    [ROW_DECISION] = GROUP("dec", decision),
    [ROW_APPROVAL] = GROUP("appr", approval),
    [ROW_TICKET] = TEXT("ticket", ticket, 128),
    [ROW_REASON] = TEXT("reason", reason, 240),
    [ROW_RESULT] = GROUP("res", result),
    [ROW_DETAIL] = {.key = "detail",          .kind = SHAPE_RAW,                           .offset = AT(detail)},
    [ROW_CUT] = {.key = "cut",     .kind = SHAPE_CUT                         },
    END,
};

/* What a record may hold.  A new member is a row here and a line in docs/AUDIT.md; the
 * order is part of the format, and old logs must stay valid: rows are only added. */
#include "core/record_shape.h"

/* What stands between a row's braces. */
#define AT(member) offsetof(struct leaf, record.member)
#define ROW(name, what, member) \
    .key = (name), .kind = SHAPE_##what, .offset = AT(member)
#define TEXT(name, member, characters) ROW(name, TEXT, member), .cap = (characters)
#define TEXTS(name, member, characters) ROW(name, TEXTS, member), .cap = (characters)
#define WORD(name, what, member, by) ROW(name, what, member), .word = (by)
#define GROUP(name, rows) .key = (name), .kind = SHAPE_GROUP, .members = (rows)
#define PROCESS(name, what, of, size)                                         \
    .key = (name), .kind = SHAPE_##what, .offset = offsetof(struct leaf, of), \
    .cap = (size)
#define END .key = NULL
#define AS(...)     \
    {               \
        __VA_ARGS__ \
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
    {TEXT("agent", actor.agent, 64)},
    {TEXT("key", actor.key, 16)},
    {TEXT("team", actor.team, 64)},
    {TEXT("env", actor.environment, 64)},
    {TEXT("skill", actor.skill, 64)},
    {ROW("claimed", FLAG, actor.claimed)},
    {TEXT("ip", actor.ip, 64)},
    {TEXT("ua", actor.user_agent, 200)},
    {TEXT("via", actor.via, 16)},
    {TEXT("person", actor.person, 128)},
    {END},
};

static const struct shape target[] = {
    {WORD("kind", WORD, call.target_kind, target_word)},
    {TEXT("id", call.target_id, 128)},
    {END},
};

static const struct shape call[] = {
    {TEXT("op", call.operation, 64)},
    {WORD("effect", EFFECT, call.effect, effect_word)},
    {TEXT("method", call.method, 16)},
    {TEXT("path", call.path, 256)},
    {GROUP("target", target)},
    {ROW("in", INPUT, call.input)},
    {ROW("hidden", HIDDEN, call.input)},
    {ROW("bytes", INT, call.bytes)},
    {ROW("digest", DIGEST, call.digest)},
    {TEXT("idem", call.idempotency_key, 256)},
    {TEXT("trace", call.trace, 64)},
    {END},
};

static const struct shape decision[] = {
    {TEXT("verdict", decision.verdict, 16)},
    {TEXT("policy", decision.policy, 96)},
    {TEXTS("because", decision.because, 160)},
    {TEXT("why", decision.why, 512)},
    {END},
};

static const struct shape approval[] = {
    {TEXT("id", approval.id, 64)},     {TEXT("state", approval.state, 16)},
    {TEXTS("by", approval.by, 128)},   {TEXT("choice", approval.choice, 64)},
    {TEXT("vote", approval.vote, 16)}, {END},
};

static const struct shape created[] = {
    {TEXT("kind", result.created_kind, 32)},
    {TEXT("id", result.created_id, 128)},
    {END},
};

static const struct shape result[] = {
    {TEXT("outcome", result.outcome, 16)},
    {ROW("status", STATUS, result.status)},
    {ROW("bytes", INT, result.bytes)},
    {ROW("us", INT, result.us)},
    {TEXT("body", result.body, 96)},
    {GROUP("new", created)},
    {TEXT("stripped", result.stripped, 512)},
    {TEXT("err", result.err, 64)},
    {END},
};

const struct shape record_rows[RECORD_ROWS + 1] = {
    [ROW_VERSION] = AS(ROW("v", VERSION, type), .required = true),
    [ROW_TYPE] = AS(WORD("t", WORD, type, type_word), .required = true),
    [ROW_PHASE] = AS(WORD("ph", WORD, phase, phase_word)),
    [ROW_EVENT] = AS(TEXT("ev", event, 64)),
    [ROW_ID] = AS(ROW("id", HEX, id), .cap = RECORD_ID - 1, .required = true),
    [ROW_REF] = AS(TEXT("ref", ref, 64)),
    [ROW_RUN] = AS(TEXT("run", run, 64)),
    [ROW_WALL] = AS(ROW("ts", INT, wall_us), .required = true),
    [ROW_MONO] = AS(ROW("mono", INT, mono_us)),
    [ROW_BOOT] = AS(PROCESS("boot", HEX, boot, BOOT_DIGITS), .required = true),
    [ROW_GATEWAY] = AS(PROCESS("gw", TEXT, gateway, GATEWAY_MAX), .required = true),
    [ROW_ACTOR] = AS(GROUP("actor", actor)),
    [ROW_CALL] = AS(GROUP("call", call)),
    [ROW_DECISION] = AS(GROUP("dec", decision)),
    [ROW_APPROVAL] = AS(GROUP("appr", approval)),
    [ROW_TICKET] = AS(TEXT("ticket", ticket, 128)),
    [ROW_REASON] = AS(TEXT("reason", reason, 240)),
    [ROW_RESULT] = AS(GROUP("res", result)),
    [ROW_DETAIL] = AS(ROW("detail", RAW, detail)),
    [ROW_CUT] = AS(ROW("cut", CUT, type)),
    AS(END),
};

#include "core/doc.h"
#include "core/keys.h"
#include "core/record.h"
#include "core/record_view.h"

#include "base/text.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

static const char boot[17] = "0123456789abcdef";

static void start(void)
{
    keys_start();
    record_start("node-1", boot);
}

#define ID "00064f1a2b3c4d5e0123456789abcdef"
#define REF "00064f1a2b3c4d5d0123456789abcdef"
#define HEAD "\"id\":\"" ID "\","
#define PROCESS                                                                        \
    "\"ts\":1767225645678979,\"mono\":88,\"boot\":\"0123456789abcdef\",\"gw\":\"node-" \
    "1\""

static struct record plain(void)
{
    return (struct record){.id = ID, .wall_us = 1767225645678979, .mono_us = 88};
}

static const unsigned char digest[32] = {0xab, 0xcd, [31] = 0xef};

static struct record full(void)
{
    static const char *const because[] = {"production-strict/kill-needs-two", "b",
                                          NULL};
    static const char *const by[] = {"ines", "tomasz", NULL};
    struct record record = plain();
    record.phase = PHASE_OUTCOME;
    record.ref = REF;
    record.run = "run_1";
    record.actor.agent = "fleet-janitor";
    record.actor.key = "7f3c0a12";
    record.actor.team = "data";
    record.actor.environment = "production";
    record.actor.skill = "fleet-hygiene";
    record.actor.claimed = true;
    record.actor.ip = "10.20.30.40";
    record.actor.user_agent = "e2b-js-sdk/2.51.0";
    record.actor.via = "http";
    record.actor.person = "ines";
    record.call.operation = "sandbox.kill";
    record.call.effect = EFFECT_DESTRUCTIVE;
    record.call.known = true;
    record.call.method = "DELETE";
    record.call.path = "/sandboxes/{sandbox}";
    record.call.target_kind = TARGET_SANDBOX;
    record.call.target_id = "i0abc";
    record.call.input = "{\"timeout\":5},\"hidden\":[{\"name\":\"envVars\"}]";
    record.call.bytes = 1534;
    record.call.digest = digest;
    record.call.idempotency_key = "k";
    record.call.trace = "t";
    record.decision.verdict = "hold";
    record.decision.policy = "b2:0123456789abcdef";
    record.decision.because = because;
    record.decision.why = "too dear";
    record.approval.id = "apr_1";
    record.approval.state = "approved";
    record.approval.by = by;
    record.approval.choice = "as_sent";
    record.approval.vote = "approve";
    record.ticket = "CHG-20417";
    record.reason = "nobody uses it";
    record.result.outcome = "ok";
    record.result.status = 204;
    record.result.bytes = 3;
    record.result.us = 48211;
    record.result.body = "c1:x";
    record.result.created_kind = "snapshot";
    record.result.created_id = "s1";
    record.result.stripped = "/envdAccessToken";
    record.result.err = "e";
    record.detail = "{\"more\":[1,true,\"x\"]}";
    return record;
}

static void eq_record(struct record record, const char *want)
{
    own_buf out = BUF(RECORD_MAX);
    char why[RECORD_WHY] = "";
    OK(record_write(&record, &out));
    EQ_TEXT(out.data, want);
    bool good = record_check(out.data, out.size, why);
    EQ_TEXT(why, "");
    OK(good);
}

TEST(records_have_their_members_in_order)
{
    start();
    eq_record(plain(), "{\"v\":1,\"t\":\"call\"," HEAD PROCESS "}");
    eq_record(
        full(),
        "{\"v\":1,\"t\":\"call\",\"ph\":\"outcome\"," HEAD "\"ref\":\"" REF
        "\",\"run\":\"run_1\"," PROCESS ",\"actor\":{\"agent\":\"fleet-janitor\","
        "\"key\":\"7f3c0a12\",\"team\":\"data\",\"env\":\"production\",\"skill\":"
        "\"fleet-hygiene\",\"claimed\":true,\"ip\":\"10.20.30.40\",\"ua\":"
        "\"e2b-js-sdk/2.51.0\",\"via\":\"http\",\"person\":\"ines\"},\"call\":{\"op\":"
        "\"sandbox.kill\",\"effect\":\"destructive\",\"method\":\"DELETE\",\"path\":"
        "\"/sandboxes/{sandbox}\",\"target\":{\"kind\":\"sandbox\",\"id\":\"i0abc\"},"
        "\"in\":{\"timeout\":5},\"hidden\":[{\"name\":\"envVars\"}],\"bytes\":1534,"
        "\"digest\":\"b2:abcd0000000000000000000000000000000000000000000000000000000000"
        "ef\",\"idem\":\"k\",\"trace\":\"t\"},\"dec\":{\"verdict\":\"hold\",\"policy\":"
        "\"b2:0123456789abcdef\",\"because\":[\"production-strict/kill-needs-two\","
        "\"b\"],\"why\":\"too "
        "dear\"},\"appr\":{\"id\":\"apr_1\",\"state\":\"approved\","
        "\"by\":[\"ines\",\"tomasz\"],\"choice\":\"as_sent\",\"vote\":\"approve\"},"
        "\"ticket\":\"CHG-20417\",\"reason\":\"nobody uses it\",\"res\":{\"outcome\":"
        "\"ok\",\"status\":204,\"bytes\":3,\"us\":48211,\"body\":\"c1:x\",\"new\":{"
        "\"kind\":\"snapshot\",\"id\":\"s1\"},\"stripped\":\"/"
        "envdAccessToken\",\"err\":"
        "\"e\"},\"detail\":{\"more\":[1,true,\"x\"]}}");
}

TEST(records_of_the_system_have_an_event)
{
    start();
    struct record record = plain();
    record.type = RECORD_SYS;
    record.event = "start";
    record.detail = "{}";
    eq_record(record, "{\"v\":1,\"t\":\"sys\",\"ev\":\"start\"," HEAD PROCESS
                      ",\"detail\":{}}");
    own_buf out = BUF(RECORD_MAX);
    struct record mute = {.type = RECORD_SYS};
    DIES(record_write(&mute, &out));
}

TEST(what_is_empty_is_left_out)
{
    static const char *const none[] = {NULL};
    start();
    struct record record = plain();
    record.actor.agent = record.reason = record.call.target_id = "";
    record.decision.because = none;
    record.call.effect = EFFECT_WRITE; /* not known: not written */
    eq_record(record, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS "}");
    record.call.known = true;
    record.call.effect = EFFECT_READ;
    eq_record(record, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS
                      ",\"call\":{\"effect\":\"read\"}}");
}

/* Everything that an agent can put into a header or a body. */
TEST(hostile_text_stays_one_line_of_ascii)
{
    static const struct {
        const char *reason, *written;
    } cases[] = {
        {"a\"b\\c",                            "\"a\\\"b\\\\c\""                                              },
        {"a\nb\r\t\x1b[31m\x7f",               "\"a\\u000ab\\u000d\\u0009\\u001b[31m\\u007f\""                },
        {"\xe2\x80\xa8\xc2\x85\xe2\x80\xae",   "\"\\u2028\\u0085\\u202e\""                                    },
        {"\xf0\x9f\x98\x80",                   "\"\\ud83d\\ude00\""                                           },
        {"\xff\xfe",                           "{\"b64\":\"//4=\"}"                                           },
        {"a\xed\xa0\x80",                      "{\"b64\":\"Ye2ggA==\"}"                                       }, /* half a surrogate pair */
        {"a\xc0\xaf",                          "{\"b64\":\"YcCv\"}"                                           },
        {"\"},\"dec\":{\"verdict\":\"allow\"", "\"\\\"},\\\"dec\\\":{\\\"verdict\\\":"
                                               "\\\"allow\\\"\""},
    };
    start();
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf want = BUF(RECORD_MAX);
        struct record record = plain();
        CASE("%zu", i);
        record.reason = cases[i].reason;
        buf_printf(&want, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS ",\"reason\":%s}",
                   cases[i].written);
        eq_record(record, want.data);
    }
}

TEST(long_texts_are_cut_at_a_character_and_named)
{
    own_buf text = BUF(8000), want = BUF(RECORD_MAX);
    start();
    for (int i = 0; i < 241; i++)
        buf_text(&text, "\xc3\xa4"); /* a with two dots: two bytes */
    struct record record = plain();
    record.reason = text.data + 2; /* 240 of them: fits */
    record.actor.user_agent = "ok";
    buf_text(&want, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS
                    ",\"actor\":{\"ua\":\"ok\"},\"reason\":\"");
    for (int i = 0; i < 240; i++)
        buf_text(&want, "\\u00e4");
    buf_text(&want, "\"}");
    eq_record(record, want.data);
    record.reason = text.data;
    want.size--;
    buf_text(&want, ",\"cut\":[\"reason\"]}");
    eq_record(record, want.data);
}

TEST(cut_names_members_by_their_path)
{
    static const char *many[70];
    own_buf text = BUF(8000), out = BUF(RECORD_MAX);
    start();
    for (int i = 0; i < 1000; i++)
        buf_char(&text, 'x');
    for (size_t i = 0; i + 1 < COUNT(many); i++)
        many[i] = "m";
    struct record record = plain();
    record.actor.user_agent = record.call.target_id = record.result.created_id =
        text.data;
    record.approval.by = many;
    OK(record_write(&record, &out));
    HAS_TEXT(out.data, ",\"cut\":[\"actor.ua\",\"call.target.id\",\"appr.by\","
                       "\"res.new.id\"]}");
}

TEST(json_that_breaks_the_rules_is_left_out)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "{} ",
                                      "{\"a\": 1}",
                                      "{\"a\":1.5}",
                                      "{\"a\":\"\xc3\xa4\"}",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":1},\"other\":[]",
                                      "{\"a\":1},\"hidden\":{}",
                                      "{\"a\":1}}",
                                      "{",
                                      "{\"a\":9007199254740992}"};
    start();
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct record record = plain();
        CASE("%s", bad[i]);
        record.call.input = bad[i];
        eq_record(record,
                  "{\"v\":1,\"t\":\"call\"," HEAD PROCESS ",\"cut\":[\"call.in\"]}");
    }
    struct record record = plain();
    record.detail = "{},\"hidden\":[]"; /* only an input brings that along */
    eq_record(record, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS ",\"cut\":[\"detail\"]}");
    record.detail = NULL;
    record.call.input = "{\"a\":null,\"b\":{\"c\":[-1,false]}}";
    eq_record(record,
              "{\"v\":1,\"t\":\"call\"," HEAD PROCESS ",\"call\":{\"in\":{\"a\":"
              "null,\"b\":{\"c\":[-1,false]}}}}");
}

/* Every text as long and as dear as it can be. */
TEST(no_record_exceeds_the_limit)
{
    static const char *many[80];
    own_buf text = BUF(1 << 20), input = BUF(RECORD_MAX), out = BUF(2 * RECORD_MAX);
    start();
    for (int i = 0; i < 5000; i++)
        buf_text(&text, "\xf0\x9f\x98\x80"); /* becomes twelve bytes */
    for (size_t i = 0; i + 1 < COUNT(many); i++)
        many[i] = text.data;
    buf_text(&input, "{\"a\":\"");
    for (int i = 0; i < 48000; i++)
        buf_char(&input, 'x');
    buf_text(&input, "\"}");

    struct record record = full();
    record.call.input = input.data;
    OK(record_write(&record, &out));
    OK(out.size <= RECORD_MAX && strstr(out.data, "xxx"));

    record.reason = record.actor.user_agent = text.data;
    record.decision.why = record.result.stripped = text.data;
    buf_clear(&out);
    OK(record_write(&record, &out)); /* now the input has to go */
    OK(out.size <= RECORD_MAX);
    HAS_TEXT(out.data, "\"call.in\"");

    record.decision.because = record.approval.by = many;
    const char **texts[] = {&record.ref,
                            &record.run,
                            &record.event,
                            &record.actor.agent,
                            &record.actor.team,
                            &record.actor.environment,
                            &record.actor.person,
                            &record.call.operation,
                            &record.call.path,
                            &record.call.target_id,
                            &record.call.idempotency_key,
                            &record.ticket,
                            &record.result.body,
                            &record.result.err};
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = text.data;
    buf_clear(&out);
    char why[RECORD_WHY];
    OK(record_write(&record, &out));
    OK(out.size <= RECORD_MAX);
    OK(record_check(out.data, out.size, why));
    HAS_TEXT(out.data, "\"appr.by\"");
}

TEST(numbers_stay_within_what_every_reader_keeps)
{
    start();
    struct record record = plain();
    record.result.us = INT64_MAX;
    record.result.bytes = INT64_MIN;
    eq_record(record, "{\"v\":1,\"t\":\"call\"," HEAD PROCESS ",\"res\":{\"bytes\":"
                      "-9007199254740991,\"us\":9007199254740991}}");
}

TEST(id_and_times_are_filled)
{
    own_buf out = BUF(RECORD_MAX);
    char last[RECORD_ID] = "";
    start();
    for (int i = 0; i < 1000; i++) {
        struct record record = {.type = RECORD_CALL};
        buf_clear(&out);
        OK(record_write(&record, &out));
        EQ_INT(strspn(record.id, "0123456789abcdef"), 32);
        OK(strcmp(last, record.id) < 0); /* in the order in which they were made */
        OK(record.wall_us > 1700000000000000 && record.mono_us > 0);
        memcpy(last, record.id, sizeof(last));
        HAS_TEXT(out.data, record.id);
    }
}

enum { THREADS = 4, RECORDS = 300 };
static char ids[THREADS][RECORDS][RECORD_ID];

static void *write_many(void *context)
{
    char(*own)[RECORD_ID] = context;
    own_buf out = BUF(RECORD_MAX);
    for (size_t i = 0; i < RECORDS; i++) {
        struct record record = full();
        record.id[0] = '\0';
        buf_clear(&out);
        must(record_write(&record, &out));
        memcpy(own[i], record.id, RECORD_ID);
    }
    return NULL;
}

TEST(every_thread_may_write_records)
{
    pthread_t threads[THREADS];
    const char(*all)[RECORD_ID] = ids[0];
    start();
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, write_many, ids[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < (size_t)THREADS * RECORDS; i++)
        for (size_t k = 0; k < i; k++)
            OK(memcmp(all[i], all[k], 16) != 0); /* not even by the clock alone */
}

TEST(a_full_buffer_is_told)
{
    own_buf small = BUF(50);
    start();
    struct record record = full();
    NOT(record_write(&record, &small));
    OK(small.failed);
}

/* ---- reading ---- */

#define REST ",\"id\":\"" ID "\",\"ts\":1,\"boot\":\"0123456789abcdef\",\"gw\":\"n\"}"

TEST(leaves_have_one_spelling)
{
    static const struct {
        const char *leaf, *why; /* NULL: good */
    } cases[] = {
        {"{\"v\":1,\"t\":\"call\"" REST,                   NULL                                     },
        {"{\"v\":1,\"t\":\"call\",\"ph\":\"intent\"" REST, NULL                                     },
        {"{\"v\":1,\"t\":\"call\"" REST "\n",              "byte 100: something behind the record"  },
        {" {\"v\":1,\"t\":\"call\"" REST,                  "byte 0: '{' should be here"             },
        {"{\"v\": 1,\"t\":\"call\"" REST,                  "byte 5: a value should be here"         },
        {"{\"v\":1 ,\"t\":\"call\"" REST,                  "byte 6: \"t\" is missing"               },
        {"{\"t\":\"call\",\"v\":1" REST,                   "byte 4: \"v\" is missing"               },
        {"{\"v\":1,\"v\":1,\"t\":\"call\"" REST,           "byte 10: \"t\" is missing"              },
        {"{\"v\":2,\"t\":\"call\"" REST,                   "byte 6: a version that is not known"    },
        {"{\"v\":01,\"t\":\"call\"" REST,                  "byte 7: a number with a second spelling"},
        {"{\"v\":1.0,\"t\":\"call\"" REST,                 "byte 6: \"t\" is missing"               },
        {"{\"v\":\"1\",\"t\":\"call\"" REST,               "byte 5: a value should be here"         },
        {"{\"v\":1,\"t\":\"cali\"" REST,                   "byte 17: a word that is not known"      },
        {"{\"v\":1,\"t\":null" REST,                       "byte 11: '\"' should be here"           },
        {"{\"v\":1,\"t\":\"call\",\"ph\":\"\"" REST,
         "byte 25: a word that is not known"                                                        },
        {"{\"v\":1,\"t\":\"c\\u0061ll\"" REST,             "byte 19: an escape that is not needed"  },
        {"{\"v\":1,\"t\":\"call\",\"x\":1" REST,           "byte 21: \"id\" is missing"             },
        {"{\"v\":1,\"t\":\"call\"}",                       "byte 17: \"id\" is missing"             },
        {"{}",                                             "byte 1: '\"' should be here"            },
        {"",                                               "byte 0: '{' should be here"             },
        {"null",                                           "byte 0: '{' should be here"             },
    };
    char why[RECORD_WHY];
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].leaf);
        bool good = record_check(cases[i].leaf, strlen(cases[i].leaf), why);
        EQ_TEXT(good ? NULL : why, cases[i].why);
    }
}

/* The value of "reason", between a good head and a good end. */
TEST(values_have_one_spelling)
{
    static const struct {
        const char *value;
        bool good;
    } cases[] = {
        {"\"x\"",                      true },
        {"\"\"",                       true },
        {"\"\\\"\\\\\"",               true },
        {"\"\\u00e4\"",                true },
        {"\"\\u000a\"",                true },
        {"\"\\ud83d\\ude00\"",         true },
        {"{\"b64\":\"//4=\"}",         true },
        {"\"\\n\"",                    false},
        {"\"\\/\"",                    false},
        {"\"\\u00E4\"",                false},
        {"\"\\u00e\"",                 false},
        {"\"\\u0000\"",                false},
        {"\"\\u0041\"",                false},
        {"\"\\u007e\"",                false},
        {"\"\\u007f\"",                true },
        {"\"\\ud83d\"",                false},
        {"\"\\ud83d\\u0041\"",         false},
        {"\"\\ude00\\ud83d\"",         false},
        {"\"\xc3\xa4\"",               false},
        {"\"\x7f\"",                   false},
        {"\"\t\"",                     false},
        {"\"x",                        false},
        {"\"\\\"",                     false},
        {"{\"b64\":\"//5=\"}",         false},
        {"{\"b64\":\"//4\"}",          false},
        {"{\"b64\":\"//4=\",\"x\":1}", false},
        {"{\"b65\":\"//4=\"}",         false},
        {"1",                          false},
        {"true",                       false},
        {"[\"x\"]",                    false},
    };
    char why[RECORD_WHY];
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf leaf = BUF(RECORD_MAX);
        buf_printf(&leaf,
                   "{\"v\":1,\"t\":\"call\",\"id\":\"" ID "\",\"ts\":1,\"boot\":"
                   "\"0123456789abcdef\",\"gw\":\"n\",\"reason\":%s}",
                   cases[i].value);
        CASE("%s", cases[i].value);
        EQ_INT(record_check(leaf.data, leaf.size, why), cases[i].good);
    }
}

TEST(the_size_of_a_leaf_is_bounded)
{
    own_buf leaf = BUF(100000);
    char why[RECORD_WHY];
    buf_text(&leaf, "{\"v\":1,\"t\":\"call\",\"id\":\"" ID
                    "\",\"ts\":1,\"boot\":\"0123456789abcdef\",\"gw\":\"");
    while (leaf.size < RECORD_MAX - 2)
        buf_char(&leaf, 'x');
    buf_text(&leaf, "\"}");
    OK(record_check(leaf.data, leaf.size, why));
    leaf.size -= 2;
    buf_text(&leaf, "x\"}");
    NOT(record_check(leaf.data, leaf.size, why));
    EQ_TEXT(why, "60001 bytes, at most 60000");
}

TEST(free_objects_are_bounded_in_depth)
{
    char why[RECORD_WHY];
    start();
    for (int depth = 1; depth < 60; depth++) {
        own_buf detail = BUF(RECORD_MAX);
        buf_text(&detail, "{\"a\":");
        for (int i = 0; i < depth; i++)
            buf_char(&detail, '[');
        for (int i = 0; i < depth; i++)
            buf_char(&detail, ']');
        buf_char(&detail, '}');
        own_buf out = BUF(RECORD_MAX);
        struct record record = plain();
        record.detail = detail.data;
        OK(record_write(&record, &out));
        OK(record_check(out.data, out.size, why));
        CASE("%d deep", depth);
        EQ_INT(strstr(out.data, "[[[[[[") != NULL, depth >= 6 && depth <= 40);
    }
}

/* No bit of a leaf can change without the leaf being refused, or telling otherwise;
 * what is still a record is one that this file could have written. */
TEST(changed_leaves_are_refused_or_parse_as_json)
{
    own_buf out = BUF(RECORD_MAX);
    char why[RECORD_WHY];
    start();
    struct record record = full();
    OK(record_write(&record, &out));
    for (size_t bit = 0; bit < 8 * out.size; bit++) {
        struct doc_error error;
        out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
        if (record_check(out.data, out.size, why)) {
            own_doc *doc = doc_parse(out.data, out.size, 50, false, &error);
            CASE("bit %zu of byte %zu: %s", bit % 8, bit / 8, out.data);
            NOT_NULL(doc);
        }
        out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t size = 0; size < out.size; size++)
        NOT(record_check(out.data, size, why));
}

TEST(a_view_reads_what_was_written)
{
    own_buf out = BUF(RECORD_MAX);
    char why[RECORD_WHY];
    struct record_view view;
    start();
    struct record record = full();
    OK(record_write(&record, &out));
    OK(record_read(out.data, out.size, &view, why));
    EQ_INT(view.type, RECORD_CALL);
    EQ_INT(view.phase, PHASE_OUTCOME);
    EQ_TEXT(view.id, ID);
    EQ_TEXT(view.ref, REF);
    EQ_TEXT(view.event, "");
    EQ_TEXT(view.boot, boot);
    EQ_INT(view.wall_us, 1767225645678979);
    EQ_INT(view.mono_us, 88);
    EQ_INT(view.detail_size, strlen(record.detail));
    EQ_MEM(view.detail, record.detail, view.detail_size);

    struct record sys = plain();
    sys.type = RECORD_SYS;
    sys.event = "start";
    buf_clear(&out);
    OK(record_write(&sys, &out));
    OK(record_read(out.data, out.size, &view, why));
    EQ_INT(view.type, RECORD_SYS);
    EQ_INT(view.phase, PHASE_NONE);
    EQ_TEXT(view.event, "start");
    IS_NULL(view.detail);
}

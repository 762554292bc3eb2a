#include "base/text.h"
#include "core/doc.h"
#include "test.h"

#include <string.h>

enum { DEPTH = 32, BIG = 8 << 20 };

static struct doc *parse(const char *text, bool reals, struct doc_error *error)
{
    return doc_parse(text, strlen(text), DEPTH, reals, error);
}

TEST(doc_has_one_canonical_spelling)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"{}",                                      "{}"                             },
        {" [ ] ",                                   "[]"                             },
        {"{\"b\":1,\"a\":2}",                       "{\"a\":2,\"b\":1}"              },
        {"{\"a\":{\"z\":[1,{\"y\":2,\"x\":3}]}}",
         "{\"a\":{\"z\":[1,{\"x\":3,\"y\":2}]}}"                                     },
        {"{\"B\":1,\"a\":2,\"_\":3}",               "{\"B\":1,\"_\":3,\"a\":2}"      },
        {"\"\\u0041\\/\\n\\u0001\\u00e9\"",         "\"A/\\n\\u0001\xc3\xa9\""       },
        {"\"\\ud83d\\ude00\"",                      "\"\xf0\x9f\x98\x80\""           },
        {"\"\\\\ \\\" \\b\\f\\r\\t \\u007f\"",      "\"\\\\ \\\" \\b\\f\\r\\t \x7f\""},
        {"[true,false,null,-7,0,9007199254740991]",
         "[true,false,null,-7,0,9007199254740991]"                                   },
        {"[0.1,1.50,-2.5e3,1e-7,1E5,5e-324,1.0]",
         "[0.1,1.5,-2500.0,1e-07,100000.0,5e-324,1.0]"                               },
        {"[-0.0,12345678901234568.0]",              "[-0.0,12345678901234568.0]"     },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].in);
        struct doc_error error;
        own_buf once = BUF(1024), twice = BUF(1024);
        own_doc *doc = parse(cases[i].in, true, &error);
        NOT_NULL(doc);
        OK(node_canonical(doc_root(doc), &once));
        EQ_TEXT(once.data, cases[i].out);
        own_doc *again = doc_parse(once.data, once.size, DEPTH, true, &error);
        NOT_NULL(again);
        OK(node_canonical(doc_root(again), &twice));
        EQ_TEXT(twice.data, once.data);
    }
}

TEST(doc_refuses_what_two_readers_could_read_differently)
{
    static const struct {
        const char *text, *why;
        bool reals;
    } cases[] = {
        {"",                           "",                     false},
        {" ",                          "",                     false},
        {"{",                          "",                     false},
        {"{\"a\":1}x",                 "end of file expected", false},
        {"{} {}",                      "end of file expected", false},
        {"{}\x01",                     "",                     false},
        {"\xef\xbb\xbf{}",             "",                     false},
        {"{\"a\":1,\"a\":2}",          "duplicate",            false},
        {"{\"a\":1,\"\\u0061\":2}",    "duplicate",            false},
        {"{\"a\":1,}",                 "",                     false},
        {"[1,]",                       "",                     false},
        {"{a:1}",                      "",                     false},
        {"{'a':1}",                    "",                     false},
        {"[1 2]",                      "",                     false},
        {"/* */ {}",                   "",                     false},
        {"\"\\u0000\"",                "",                     false},
        {"{\"a\\u0000b\":1}",          "",                     false},
        {"\"\\ud800\"",                "",                     false},
        {"\"\\udc00\\ud800\"",         "",                     false},
        {"\"\xc0\x80\"",               "decode",               false},
        {"\"\xed\xa0\x80\"",           "decode",               false},
        {"\"\xff\"",                   "decode",               false},
        {"\"a\nb\"",                   "",                     false},
        {"\"\\x41\"",                  "",                     false},
        {"[1.0]",                      "plain integer",        false},
        {"[1e2]",                      "plain integer",        false},
        {"[-0]",                       "-0",                   false},
        {"[-0]",                       "-0",                   true },
        {"[01]",                       "",                     true },
        {"[+1]",                       "",                     true },
        {"[.5]",                       "",                     true },
        {"[1.]",                       "",                     true },
        {"[0x10]",                     "",                     true },
        {"[NaN]",                      "",                     true },
        {"[Infinity]",                 "",                     true },
        {"[9007199254740992]",         "2^53",                 false},
        {"[-9007199254740992]",        "2^53",                 true },
        {"[99999999999999999999]",     "2^53",                 true },
        {"[1e400]",                    "round trip",           true },
        {"[1e-400]",                   "round trip",           true },
        {"[0.1000000000000000055]",    "round trip",           true },
        {"[9007199254740993.0]",       "round trip",           true },
        {"[1e99999999999999999999]",   "round trip",           true },
        {"[0.1e-9223372036854775808]", "round trip",           true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].text);
        struct doc_error error;
        own_doc *doc = parse(cases[i].text, cases[i].reals, &error);
        IS_NULL(doc);
        HAS_TEXT(error.text, cases[i].why);
        OK(*error.text);
    }
}

TEST(doc_takes_depth_up_to_the_limit_and_not_one_more)
{
    static char text[BIG];
    struct doc_error error;
    for (int depth = DEPTH; depth <= DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        own_doc *doc = doc_parse(text, 2 * (size_t)depth, DEPTH, false, &error);
        EQ_INT(doc != NULL, depth == DEPTH);
    }
    HAS_TEXT(error.text, "deep");
    memset(text, '[', sizeof(text));
    IS_NULL(doc_parse(text, sizeof(text), DEPTH, false, &error));
    for (size_t i = 0; i + 5 < sizeof(text); i += 5)
        memcpy(text + i, "{\"a\":", 5);
    IS_NULL(doc_parse(text, sizeof(text), DEPTH, false, &error));
    memset(text, '"', sizeof(text));
    IS_NULL(doc_parse(text, sizeof(text), DEPTH, false, &error));
}

TEST(doc_bounds_digits_and_values)
{
    static char text[BIG];
    struct doc_error error;
    memset(text, '9', 10000);
    IS_NULL(doc_parse(text, 10000, DEPTH, true, &error));
    HAS_TEXT(error.text, "digits");
    text[0] = '[';
    for (size_t i = 1; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "1,", 2);
    IS_NULL(doc_parse(text, sizeof(text), DEPTH, true, &error));
    HAS_TEXT(error.text, "too many");
    own_buf many = BUF(BIG);
    for (int i = 0; i < 100000; i++)
        buf_printf(&many, "%c\"key%d\":%d", i ? ',' : '{', i, i);
    buf_char(&many, '}');
    own_doc *doc = doc_parse(many.data, many.size, DEPTH, false, &error);
    NOT_NULL(doc);
    EQ_INT(node_size(doc_root(doc)), 100000);
    EQ_INT(member_int(doc_root(doc), "key77777", 0), 77777);
}

TEST(doc_errors_name_the_place_and_never_quote_the_document)
{
    struct doc_error error;
    IS_NULL(parse("{\n \"a\": \"s3cret\" \"t0ken\"}", false, &error));
    EQ_INT(error.line, 2);
    OK(error.column > 0);
    IS_NULL(strstr(error.text, "t0ken"));
    IS_NULL(parse("{\"s3cret\":1,\"s3cret\":2}", false, &error));
    IS_NULL(strstr(error.text, "s3cret"));
    IS_NULL(parse("[1,\n\n  2.5]", false, &error));
    EQ_INT(error.line, 3);
    EQ_INT(error.column, 3);
}

TEST(doc_keeps_the_order_of_members)
{
    struct doc_error error;
    own_doc *doc = parse("{\"z\":1,\"a\":[true,\"x\"],\"m\":null}", false, &error);
    static const char *const keys[] = {"z", "a", "m"};
    const char *key;
    const struct node *value;
    bool truth = false;
    NOT_NULL(doc);
    const struct node *root = doc_root(doc);
    for (size_t i = 0; i < COUNT(keys); i++) {
        OK(node_each(root, i, &key, &value));
        EQ_TEXT(key, keys[i]);
    }
    NOT(node_each(root, COUNT(keys), &key, &value));
    EQ_INT(node_kind(node_member(root, "m")), NODE_NULL);
    OK(node_bool(node_at(node_member(root, "a"), 0), &truth));
    OK(truth);
    EQ_TEXT(node_text(node_at(node_member(root, "a"), 1)), "x");
    IS_NULL(node_at(node_member(root, "a"), 2));
    IS_NULL(node_member(root, "b"));
    IS_NULL(node_member(node_member(root, "z"), "b"));
    EQ_TEXT(member_text(root, "z", "otherwise"), "otherwise");
    EQ_INT(member_int(root, "z", 0), 1);
}

TEST(fields_are_read_by_table)
{
    static const struct {
        const char *json, *bad;
    } cases[] = {
        {"{\"name\":\"n\"}",                                      NULL   },
        {"{\"name\":\"n\",\"count\":3,\"on\":true,\"list\":[1]}", NULL   },
        {"{}",                                                    "name" },
        {"{\"name\":null}",                                       "name" },
        {"{\"name\":\"n\",\"count\":\"3\"}",                      "count"},
        {"{\"name\":\"n\",\"on\":1}",                             "on"   },
        {"{\"name\":\"n\",\"list\":{}}",                          "list" },
        {"{\"name\":\"n\",\"Name\":\"m\"}",                       "Name" },
        {"{\"name\":\"n\",\"more\":1}",                           "more" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].json);
        const char *name = "before", *bad = "unset";
        int64_t count = 7;
        bool on = false;
        const struct node *list = NULL;
        struct doc_error error;
        const struct field fields[] = {
            {"name",  FIELD_TEXT, &name,  true },
            {"count", FIELD_INT,  &count, false},
            {"on",    FIELD_BOOL, &on,    false},
            {"list",  FIELD_LIST, &list,  false}
        };
        own_doc *doc = parse(cases[i].json, false, &error);
        enum err err = fields_read(doc_root(doc), fields, COUNT(fields), &bad);
        EQ_INT(err, cases[i].bad ? ERR_BAD_FIELD : ERR_OK);
        EQ_TEXT(bad, cases[i].bad);
        if (i == 0) {
            EQ_TEXT(name, "n");
            EQ_INT(count, 7);
        }
    }
}

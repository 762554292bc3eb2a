#include "base/text.h"
#include "core/doc.h"
#include "core/writer.h"
#include "test.h"

#include <string.h>

TEST(writer_writes_one_line_of_printable_ascii)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"plain",                "\"plain\""                       },
        {"",                     "\"\""                            },
        {"a\"b\\c/",             "\"a\\\"b\\\\c/\""                },
        {"\n\t\x01\x7f",         "\"\\u000a\\u0009\\u0001\\u007f\""},
        {"\xc3\xa9",             "\"\\u00e9\""                     },
        {"\xe2\x80\xa8\xc2\x85", "\"\\u2028\\u0085\""              },
        {"\xf0\x9f\x98\x80",     "\"\\ud83d\\ude00\""              },
        {"\xe2\x80\xae",         "\"\\u202e\""                     },
        {"\xff\xfe",             "{\"b64\":\"//4=\"}"              },
        {"ok\xc3",               "{\"b64\":\"b2vD\"}"              },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("case %zu", i);
        own_buf out = BUF(1024);
        struct writer w = WRITER(&out);
        write_text(&w, NULL, cases[i].text);
        EQ_TEXT(out.data, cases[i].json);
    }
}

TEST(writer_sets_commas_and_leaves_absent_text_out)
{
    own_buf out = BUF(1024);
    struct writer w = WRITER(&out);
    write_open(&w, NULL, '{');
    write_text(&w, "gone", NULL);
    write_text(&w, "a", "x");
    write_raw(&w, "none", NULL);
    write_open(&w, "list", '[');
    write_int(&w, NULL, -5);
    write_bool(&w, NULL, true);
    write_null(&w, NULL);
    write_open(&w, NULL, '{');
    write_close(&w, '}');
    write_close(&w, ']');
    write_raw(&w, "raw", "{\"k\":1}");
    write_bytes(&w, "cut", "abcdef", 3);
    write_int(&w, "most", INT64_MAX);
    write_close(&w, '}');
    NOT(out.failed);
    EQ_TEXT(out.data, "{\"a\":\"x\",\"list\":[-5,true,null,{}],\"raw\":{\"k\":1},"
                      "\"cut\":\"abc\",\"most\":9223372036854775807}");
}

TEST(writer_says_what_a_strict_reader_reads_back)
{
    for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 997) {
        char text[8] = {0};
        if (code >= 0xd800 && code < 0xe000)
            continue;
        if (code < 0x80) {
            text[0] = (char)code;
        } else if (code < 0x800) {
            text[0] = (char)(0xc0 | code >> 6);
            text[1] = (char)(0x80 | (code & 63));
        } else if (code < 0x10000) {
            text[0] = (char)(0xe0 | code >> 12);
            text[1] = (char)(0x80 | (code >> 6 & 63));
            text[2] = (char)(0x80 | (code & 63));
        } else {
            text[0] = (char)(0xf0 | code >> 18);
            text[1] = (char)(0x80 | (code >> 12 & 63));
            text[2] = (char)(0x80 | (code >> 6 & 63));
            text[3] = (char)(0x80 | (code & 63));
        }
        CASE("U+%04X", (unsigned)code);
        own_buf out = BUF(256);
        struct writer w = WRITER(&out);
        struct doc_error error;
        write_open(&w, NULL, '{');
        write_text(&w, text, text);
        write_close(&w, '}');
        for (size_t i = 0; i < out.size; i++)
            OK(out.data[i] >= 0x20 && out.data[i] < 0x7f);
        own_doc *doc = doc_parse(out.data, out.size, 2, false, &error);
        NOT_NULL(doc);
        EQ_TEXT(member_text(doc_root(doc), text, NULL), text);
    }
}

TEST(writer_survives_a_key_that_is_not_utf8_and_a_full_buffer)
{
    own_buf out = BUF(64), tiny = BUF(4);
    struct writer w = WRITER(&out), small = WRITER(&tiny);
    write_int(&w, "\xff", 1);
    EQ_TEXT(out.data, "\"\\ufffd\":1");
    write_text(&small, NULL, "longer than four");
    OK(tiny.failed);
}

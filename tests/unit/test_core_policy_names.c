#include "core/policy_messages.h"
#include "core/policy_names.h"
#include "test.h"

#include <string.h>

TEST(globs_match_within_a_segment)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"*",                "",                                                  true },
        {"*",                "a/b",                                               true },
        {"web-*",            "web-",                                              true },
        {"web-*",            "web-1",                                             true },
        {"web-*",            "web",                                               false},
        {"web-*",            "web-1/2",                                           false},
        {"web-*",            "x/web-1",                                           false},
        {"*-web",            "-web",                                              true },
        {"*-web",            "my-web",                                            true },
        {"*-web",            "my-web2",                                           false},
        {"*-web",            "x/my-web",                                          false},
        {"*-web",            "web",                                               false},
        {"a*b",              "ab",                                                true },
        {"a*b",              "axxb",                                              true },
        {"a*b",              "a/b",                                               false},
        {"a*b*c",            "abbcbc",                                            true },
        {"a*b*c",            "abbcb",                                             false},
        {"*a*",              "bab",                                               true },
        {"*a*",              "bbb",                                               false},
        {"**",               "ab",                                                true },
        {"**",               "a/b",                                               false},
        {"*?",               "",                                                  false},
        {"*?",               "x",                                                 true },
        {"?",                "x",                                                 true },
        {"?",                "",                                                  false},
        {"?",                "/",                                                 false},
        {"?",                "\xc3\xa9",                                          true },
        {"??",               "\xc3\xa9",                                          false},
        {"a?c",              "abc",                                               true },
        {"a?c",              "ac",                                                false},
        {"a?c*",             "abcd",                                              true },
        {"*/b",              "a/b",                                               true },
        {"*/b",              "a/c/b",                                             false},
        {"*/*/b",            "a/c/b",                                             true },
        {"a*/b*",            "ax/by",                                             true },
        {"a*/b*",            "ax/cy",                                             false},
        {"*\xa9",            "\xc3\xa9",                                          true },
        {"A*",               "abc",                                               false},
        {"*.create",         "sandbox.create",                                    true },
        {"*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         false                                                                         },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct glob glob = glob_of(cases[i].pattern);
        CASE("%s on %s", cases[i].pattern, cases[i].text);
        OK(has_glob(cases[i].pattern));
        EQ_INT(glob_matches(&glob, cases[i].text), cases[i].matches);
    }
    NOT(has_glob("sandbox.create"));
}

TEST(one_comparison_is_enough_for_most_globs)
{
    static const struct {
        const char *pattern;
        enum glob_kind kind;
    } cases[] = {
        {"*",   GLOB_ANY    },
        {"a*",  GLOB_PREFIX },
        {"*a",  GLOB_SUFFIX },
        {"**",  GLOB_GENERAL},
        {"a*b", GLOB_GENERAL},
        {"a?",  GLOB_GENERAL},
        {"?",   GLOB_GENERAL},
        {"*a*", GLOB_GENERAL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].pattern);
        EQ_INT(glob_of(cases[i].pattern).kind, cases[i].kind);
    }
}

TEST(a_list_holds_names_patterns_and_sets)
{
    static const char *const mine[] = {"alpha", "beta", "gamma"};
    static const char *const theirs[] = {"delta"};
    const struct glob globs[] = {glob_of("web-*")}, more[] = {glob_of("*-db")};
    const struct names set = {
        .literals = theirs, .globs = more, .literal_count = 1, .glob_count = 1};
    const struct names *const sets[] = {&set};
    const struct names names = {.literals = mine,
                                .globs = globs,
                                .sets = sets,
                                .literal_count = 3,
                                .glob_count = 1,
                                .set_count = 1};
    static const struct {
        const char *text;
        bool listed, matched;
    } cases[] = {
        {"alpha", true,  true },
        {"beta",  true,  true },
        {"gamma", true,  true },
        {"delta", true,  true },
        {"web-1", false, true },
        {"my-db", false, true },
        {"alph",  false, false},
        {"zeta",  false, false},
        {"",      false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].text);
        EQ_INT(names_list(&names, cases[i].text), cases[i].listed);
        EQ_INT(names_match(&names, cases[i].text), cases[i].matched);
    }
}

TEST(a_guess_is_at_most_two_edits_away)
{
    static const char *const known[] = {"decide", "id", "match", "agents"};
    static const struct {
        const char *word, *best;
    } cases[] = {
        {"decid",                                                                    "decide"},
        {"deciced",                                                                  "decide"},
        {"dcide",                                                                    "decide"},
        {"deciding",                                                                 NULL    },
        {"decide",                                                                   NULL    },
        {"mathc",                                                                    "match" },
        {"agent",                                                                    "agents"},
        {"ir",                                                                       "id"    },
        {"xy",                                                                       NULL    },
        {"",                                                                         NULL    },
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         NULL                                                                                },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct guess guess = {.word = cases[i].word};
        CASE("%s", cases[i].word);
        for (size_t k = 0; k < COUNT(known); k++)
            guess_try(&guess, known[k]);
        EQ_TEXT(guess.best, cases[i].best);
    }
}

TEST(what_the_author_wrote_is_safe_to_print_and_short)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"sandbox.kil",   "\"sandbox.kil\""    },
        {"",              "\"\""               },
        {"a\nb\x1b[2J",   "\"a\\x0ab\\x1b[2J\""},
        {"\xe2\x80\xae"
         "evil", "\"\\u202eevil\""    },
    };
    char out[QUOTE], long_text[500];
    for (size_t i = 0; i < COUNT(cases); i++)
        EQ_TEXT(quote(out, cases[i].text), cases[i].shown);
    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    HAS_TEXT(quote(out, long_text), "xxx...\"");
    EQ_INT(strlen(out), QUOTE - 1);
}

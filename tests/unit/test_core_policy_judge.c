#include "base/arena.h"
#include "base/text.h"
#include "core/policy.h"
#include "policy_kit.h"
#include "test.h"

#include <string.h>

struct row {
    struct kit_call call;
    const char *want;
};

static void judge_all(struct policy *policy, const struct row *rows, size_t count)
{
    NOT_NULL(policy);
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct verdict verdict = kit_judge(policy, &rows[i].call, arena);
        CASE("row %zu: %s", i, rows[i].call.operation);
        EQ_TEXT(kit_tell(&verdict, arena), rows[i].want);
        NOT(verdict.failed);
        OK(strlen(verdict.why) >= 12);
        EQ_INT(verdict.terms.requirement_count > 0, verdict.decision == DECIDE_HOLD);
        arena_free(arena);
    }
    kit_free(policy);
}

#define JUDGE(head, rules, rows) \
    judge_all(kit_load_rules((head), (rules), COUNT(rules)), (rows), COUNT(rows))

TEST(without_files_the_built_in_defaults_decide)
{
    static const struct row rows[] = {
        {{"sandbox.list"},                         "allow builtin/read"      },
        {{"health.check"},                         "allow builtin/read"      },
        {{"secret.list"},                          "allow builtin/read"      },
        {{"sandbox.create"},                       "hold builtin/write"      },
        {{"sandbox.kill"},                         "hold builtin/destructive"},
        {{"sandbox.timeout", .destructive = true}, "hold builtin/destructive"},
        {{"template.untag"},                       "hold builtin/destructive"},
        {{"webhook.create", .guarded = true},      "hold builtin/write"      },
        {{"secret.create"},                        "deny builtin/guarded"    },
        {{"secret.update"},                        "deny builtin/guarded"    },
        {{"secret.delete"},                        "deny builtin/guarded"    },
        {{"apikey.create"},                        "deny builtin/never"      },
        {{"apikey.list"},                          "deny builtin/never"      },
        {{"team.list"},                            "deny builtin/never"      },
        {{"admin.kill_sandboxes"},                 "deny builtin/never"      },
        {{"unknown"},                              "deny builtin/unknown"    },
        {{"unknown", .unrecognised = true},        "deny builtin/unknown"    },
        {{"sandbox.list", .unrecognised = true},   "hold builtin/read"       },
        {{"sandbox.list", .guarded = true},        "hold builtin/read"       },
        {{"sandbox.create", .unrecognised = true}, "hold builtin/write"      },
        {{"template.create", .route = "v3"},       "hold builtin/write"      },
        {{"template.create", .route = "v1"},       "deny builtin/never"      },
        {{"template.build", .route = "v2"},        "hold builtin/write"      },
        {{"template.build", .route = "v1"},        "deny builtin/never"      },
    };
    judge_all(kit_load_one(NULL), rows, COUNT(rows));
}

TEST(the_strictest_matching_rule_wins_and_all_that_agree_are_named)
{
    static const struct kit_rule rules[] = {
        {"z-create", "allow", "'operations': ['sandbox.create', 'sandbox.fork']",  NULL},
        {"h-two",    "hold",  "'operations': ['sandbox.fork', 'sandbox.refresh']", NULL},
        {"h-one",    "hold",  "'operations': ['sandbox.f*', 'sandbox.pause']",     NULL},
        {"m-deny",   "deny",  "'operations': ['sandbox.pause']",                   NULL},
        {"all",      "allow",
         "'operations': ['sandbox.*'], 'effects': ['write'], 'agents': ['boss']",  NULL},
        {"d-two",    "deny",  "'operations': ['*.pause']",                         NULL},
    };
    static const struct row rows[] = {
        {{"sandbox.create"},                   "allow a/z-create"        },
        {{"sandbox.fork"},                     "hold a/h-one a/h-two"    },
        {{"sandbox.pause"},                    "deny a/d-two a/m-deny"   },
        {{"sandbox.refresh"},                  "hold a/h-two"            },
        {{"sandbox.connect", .agent = "boss"}, "allow a/all"             },
        {{"sandbox.create", .agent = "boss"},  "allow a/all a/z-create"  },
        {{"sandbox.pause", .agent = "boss"},   "deny a/d-two a/m-deny"   },
        {{"sandbox.list"},                     "allow builtin/read"      },
        {{"sandbox.kill"},                     "hold builtin/destructive"},
    };
    JUDGE("", rules, rows);
}

TEST(every_dimension_named_must_match_by_one_entry)
{
    static const struct kit_rule rules[] = {
        {"both", "allow",
         "'agents': ['@bots'], 'skills': ['pr-*'], 'teams': ['web', 'data'], "
         "'environments': ['staging', 'staging?'], 'operations': ['sandbox.create']", NULL},
    };
    static const struct row rows[] = {
        {{"sandbox.create", .skill = "pr-tests"},                          "allow a/both"            },
        {{"sandbox.create", .skill = "pr-7"},                              "allow a/both"            },
        {{"sandbox.create", .skill = "pr-"},                               "allow a/both"            },
        {{"sandbox.create", .skill = "pr"},                                "hold a/defaults.write"   },
        {{"sandbox.create"},                                               "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "x/pr-tests"},                        "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "pr-x/y"},                            "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "pr-1", .agent = "b"},                "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "pr-1", .agent = "Bot"},              "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "pr-1", .agent = "ci-web"},           "allow a/both"            },
        {{"sandbox.create", .skill = "pr-1", .agent = "ci-/1"},
         "hold a/defaults.write"                                                                     },
        {{"sandbox.create", .skill = "pr-1", .team = "data"},              "allow a/both"            },
        {{"sandbox.create", .skill = "pr-1", .team = ""},                  "hold a/defaults.write"   },
        {{"sandbox.create", .skill = "pr-1", .environment = "staging2"},
         "allow a/both"                                                                              },
        {{"sandbox.create", .skill = "pr-1", .environment = "staging22"},
         "hold a/defaults.write"                                                                     },
        {{"sandbox.create", .skill = "pr-1", .environment = "production"},
         "hold a/defaults.write"                                                                     },
        {{"sandbox.fork", .skill = "pr-1"},                                "hold a/defaults.write"   },
        {{"sandbox.list", .skill = "pr-1"},                                "allow builtin/read"      },
        {{"sandbox.pause", .destructive = true},                           "hold builtin/destructive"},
    };
    JUDGE("'sets': {'bots': ['bot', 'ci-*']}, 'defaults': {'write': 'hold'}", rules,
          rows);
}

TEST(a_file_says_nothing_outside_of_its_scope)
{
    static const struct kit_rule rules[] = {
        {"no-create", "deny", "'operations': ['sandbox.create']", NULL},
    };
    static const struct row rows[] = {
        {{"sandbox.create"},                               "deny a/no-create"      },
        {{"sandbox.create", .team = "data"},               "hold builtin/write"    },
        {{"sandbox.create", .environment = "development"}, "hold builtin/write"    },
        {{"sandbox.fork"},                                 "allow a/defaults.write"},
        {{"sandbox.fork", .team = "data"},                 "hold builtin/write"    },
        {{"sandbox.list"},                                 "allow builtin/read"    },
    };
    JUDGE("'scope': {'teams': ['web'], 'environments': ['stag*']}, "
          "'defaults': {'write': 'allow'}",
          rules, rows);
}

TEST(permission_to_destroy_is_explicit)
{
    static const struct kit_rule rules[] = {
        {"everything", "allow", NULL,                                                NULL},
        {"writes",     "allow", "'operations': ['*'], 'effects': ['write']",         NULL},
        {"cleaner",    "allow", "'agents': ['cleaner'], 'effects': ['destructive']", NULL},
        {"killer",     "allow",
         "'agents': ['killer'], 'operations': ['sandbox.kill'], "
         "'effects': ['destructive']",                                               NULL},
    };
    static const struct row rows[] = {
        {{"sandbox.kill"},                                           "hold builtin/destructive"   },
        {{"sandbox.timeout"},                                        "allow a/everything a/writes"},
        {{"sandbox.timeout", .destructive = true},                   "hold builtin/destructive"   },
        {{"sandbox.pause", .destructive = true},                     "hold builtin/destructive"   },
        {{"sandbox.kill", .agent = "cleaner"},                       "allow a/cleaner"            },
        {{"sandbox.pause", .destructive = true, .agent = "cleaner"}, "allow a/cleaner"            },
        {{"sandbox.pause", .agent = "cleaner"},                      "allow a/everything a/writes"},
        {{"sandbox.kill", .agent = "killer"},                        "allow a/killer"             },
        {{"sandbox.kill", .agent = "killer", .guarded = true},       "allow a/killer"             },
        {{"sandbox.kill", .agent = "cleaner", .guarded = true},
         "hold builtin/destructive"                                                               },
        {{"template.delete", .agent = "killer"},                     "hold builtin/destructive"   },
        {{"sandbox.list"},                                           "allow a/everything"         },
    };
    JUDGE("", rules, rows);
}

TEST(what_is_guarded_runs_only_where_it_is_named_in_full)
{
    static const struct kit_rule rules[] = {
        {"by-glob", "allow",
         "'agents': ['bot'], 'operations': ['webhook.*'], 'effects': ['write']",      NULL},
        {"by-name", "allow", "'agents': ['hooks'], 'operations': ['webhook.create']",
         NULL                                                                             },
        {"by-set",  "allow", "'agents': ['hooks'], 'operations': ['@hooks']",         NULL},
        {"vault",   "allow",
         "'agents': ['vault'], 'operations': ['secret.create', 'secret.update']",     NULL},
        {"ask",     "hold",  "'agents': ['vault'], 'operations': ['secret.update']",  NULL},
        {"by-all",  "hold",  "'agents': ['vault'], 'effects': ['destructive']",       NULL},
        {"wiper",   "allow",
         "'agents': ['wiper'], 'operations': ['secret.delete'], "
         "'effects': ['destructive']",                                                NULL},
    };
    static const struct row rows[] = {
        {{"webhook.create", .guarded = true},                    "hold builtin/write"  },
        {{"webhook.create"},                                     "allow a/by-glob"     },
        {{"webhook.create", .guarded = true, .agent = "hooks"},  "allow a/by-name"     },
        {{"webhook.update", .guarded = true, .agent = "hooks"},  "allow a/by-set"      },
        {{"webhook.update", .guarded = true},                    "hold builtin/write"  },
        {{"template.update", .guarded = true, .agent = "hooks"}, "hold builtin/write"  },
        {{"secret.create"},                                      "deny builtin/guarded"},
        {{"secret.create", .agent = "vault"},                    "allow a/vault"       },
        {{"secret.update", .agent = "vault"},                    "hold a/ask"          },
        {{"secret.update"},                                      "deny builtin/guarded"},
        {{"secret.delete", .agent = "vault"},                    "deny builtin/guarded"},
        {{"secret.delete", .agent = "wiper"},                    "allow a/wiper"       },
    };
    JUDGE("'sets': {'hooks': ['webhook.update', 'template.u*']}", rules, rows);
}

TEST(nothing_loosens_what_is_built_in)
{
    static const struct kit_rule rules[] = {
        {"all",     "allow", NULL,                                                  NULL},
        {"every",   "hold",  "'operations': ['admin.*']",                           NULL},
        {"no-bots", "deny",
         "'agents': ['bot'], 'operations': ['*'], 'skills': ['*'], 'teams': ['*']", NULL},
        {"no-keys", "deny",  "'operations': ['apikey.*']",                          NULL},
    };
    static const struct row rows[] = {
        {{"apikey.create"},                                 "deny a/no-bots a/no-keys builtin/never"},
        {{"apikey.delete"},                                 "deny a/no-bots a/no-keys builtin/never"},
        {{"node.list"},                                     "deny a/no-bots builtin/never"          },
        {{"node.list", .agent = "me"},                      "deny builtin/never"                    },
        {{"unknown"},                                       "deny a/no-bots builtin/unknown"        },
        {{"unknown", .agent = "me"},                        "deny builtin/unknown"                  },
        {{"template.create", .route = "v1", .agent = "me"}, "deny builtin/never"                    },
        {{"template.create", .route = "v2", .agent = "me"}, "allow a/all"                           },
        {{"secret.create", .agent = "me"},                  "deny builtin/guarded"                  },
    };
    JUDGE("'defaults': {'read': 'allow', 'write': 'allow', 'destructive': 'allow'}",
          rules, rows);
}

TEST(fields_that_nobody_understood_only_make_it_stricter)
{
    static const struct kit_rule rules[] = {
        {"creates", "allow", "'operations': ['sandbox.create']", NULL},
        {"forks",   "hold",  "'operations': ['sandbox.fork']",   NULL},
        {"secrets", "hold",  "'operations': ['secret.update']",  NULL},
        {"volumes", "hold",  "'operations': ['volume.delete']",  NULL},
        {"pauses",  "deny",  "'operations': ['sandbox.pause']",  NULL},
    };
    static const struct row rows[] = {
        {{"sandbox.create"},                       "allow a/creates"              },
        {{"sandbox.create", .unrecognised = true}, "hold a/defaults.write"        },
        {{"sandbox.fork"},                         "hold a/forks"                 },
        {{"sandbox.fork", .unrecognised = true},   "hold a/defaults.write a/forks"},
        {{"sandbox.pause"},                        "deny a/pauses"                },
        {{"sandbox.pause", .unrecognised = true},  "deny a/pauses"                },
        {{"sandbox.list"},                         "allow a/defaults.read"        },
        {{"sandbox.list", .unrecognised = true},   "hold a/defaults.read"         },
        {{"sandbox.kill", .unrecognised = true},   "deny a/defaults.destructive"  },
        {{"volume.delete", .unrecognised = true},  "deny a/defaults.destructive"  },
        {{"volume.delete"},                        "hold a/volumes"               },
        {{"secret.update", .unrecognised = true},  "deny builtin/guarded"         },
        {{"secret.update"},                        "hold a/secrets"               },
    };
    JUDGE("'defaults': {'read': 'allow', 'write': 'hold', 'destructive': 'deny'}",
          rules, rows);
}

TEST(the_strictest_default_of_the_files_in_scope_decides)
{
    static const char *const files[] = {
        "b.json",
        "{'version': 1, 'name': 'b', 'scope': {'teams': ['web']}, "
        "'defaults': {'read': 'allow', 'write': 'hold', 'destructive': 'deny'}}",
        "a.json",
        "{'version': 1, 'name': 'a', 'defaults': {'write': 'hold', "
        "'destructive': 'hold'}}",
        "c.json",
        "{'version': 1, 'name': 'c', 'scope': {'teams': ['ops', 'web'], "
        "'agents': ['*'], 'skills': ['*']}, 'rules': [{'id': 'forks', 'why': "
        "'A sentence for a person.', 'decide': 'allow', 'match': {'operations': "
        "['sandbox.fork']}}]}",
        "d.json",
        "{'version': 1, 'name': 'd', 'scope': {'teams': ['sec']}, 'defaults': "
        "{'read': 'deny', 'write': 'deny', 'destructive': 'deny'}}",
        NULL,
    };
    static const struct row rows[] = {
        {{"sandbox.list"},                       "allow b/defaults.read"                 },
        {{"sandbox.create"},                     "hold a/defaults.write b/defaults.write"},
        {{"sandbox.kill"},                       "deny b/defaults.destructive"           },
        {{"sandbox.create", .team = "data"},     "hold a/defaults.write"                 },
        {{"sandbox.kill", .team = "data"},       "hold a/defaults.destructive"           },
        {{"sandbox.list", .team = "data"},       "allow builtin/read"                    },
        {{"sandbox.list", .team = "sec"},        "deny d/defaults.read"                  },
        {{"sandbox.fork"},                       "allow c/forks"                         },
        {{"sandbox.fork", .unrecognised = true},
         "hold a/defaults.write b/defaults.write"                                        },
        {{"sandbox.list", .guarded = true},      "hold b/defaults.read"                  },
    };
    judge_all(kit_load(files, NULL), rows, COUNT(rows));
}

TEST(the_terms_of_all_holds_are_merged_and_none_is_lost)
{
    static const char head[] =
        "'approvers': {'ops': {'users': ['ann', 'bob', 'cy']}, "
        "'sre': {'idp_groups': ['sre']}, 'lead': {'users': ['dee']}}, "
        "'defaults': {'destructive': 'hold', 'approval': {'from': ['ops'], 'need': 2, "
        "'expires': '2h', 'wait': '30s', 'wait_max': '1m', 'collect': '5m'}}";
    static const struct kit_rule rules[] = {
        {"one",   "hold", "'operations': ['sandbox.fork']",                         "'wait': '0s'"},
        {"two",   "hold", "'operations': ['sandbox.pause', 'sandbox.refresh']",
         "'from': ['sre', 'lead'], 'need': 1, 'expires': '3h', 'wait': '45s', "
         "'wait_max': '10m', 'collect': '1d'"                                                     },
        {"three", "hold", "'operations': ['sandbox.pause']",
         "'need': 3, 'expires': '1m', 'wait': '5s', 'wait_max': '30s', 'collect': "
         "'1d'"                                                                                   },
        {"four",  "hold", "'operations': ['sandbox.refresh']",
         "'from': ['lead', 'sre'], 'need': 2"                                                     },
        {"five",  "hold",
         "'operations': ['sandbox.connect', 'sandbox.refresh'], 'agents': ['bot']", NULL          },
    };
    static const struct {
        struct kit_call call;
        const char *want, *terms;
    } rows[] = {
        {{"sandbox.create"},
         "hold builtin/write",          "approvers:1 expires 3600 wait 45 max 600 collect 900"    },
        {{"sandbox.fork"},
         "hold a/one",                  "ops:2 expires 7200 wait 0 max 60 collect 300"            },
        {{"sandbox.pause"},
         "hold a/three a/two",          "ops:3 lead|sre:1 expires 60 wait 5 max 30 collect 86400" },
        {{"sandbox.refresh"},
         "hold a/five a/four a/two",    "ops:2 lead|sre:2 expires 7200 wait 30 max 60 collect 300"},
        {{"sandbox.connect"},
         "hold a/five",                 "ops:2 expires 7200 wait 30 max 60 collect 300"           },
        {{"sandbox.kill"},
         "hold a/defaults.destructive", "ops:2 expires 7200 wait 30 max 60 collect 300"           },
        {{"template.delete", .team = "ops"},
         "hold a/defaults.destructive", "ops:2 expires 7200 wait 30 max 60 collect 300"           },
    };
    struct policy *policy = kit_load_rules(head, rules, COUNT(rules));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_new(1 << 20);
        struct verdict verdict = kit_judge(policy, &rows[i].call, arena);
        CASE("row %zu: %s", i, rows[i].call.operation);
        EQ_TEXT(kit_tell(&verdict, arena), rows[i].want);
        EQ_TEXT(kit_terms(&verdict.terms, arena), rows[i].terms);
        arena_free(arena);
    }
    kit_free(policy);
}

TEST(more_requirements_than_fit_are_a_deny)
{
    enum { HOLDS = POLICY_REQUIREMENTS + 1 };
    static char ids[HOLDS][8], approvals[HOLDS][24];
    struct kit_rule rules[HOLDS];
    own_buf head = BUF(1 << 12);
    (void)buf_text(&head, "'approvers': {");
    for (int i = 0; i < HOLDS; i++) {
        (void)buf_printf(&head, "%s'g%d': {'users': ['u']}", i ? ", " : "", i);
        (void)text_format(ids[i], sizeof(ids[i]), "r%d", i);
        (void)text_format(approvals[i], sizeof(approvals[i]), "'from': ['g%d']", i);
        rules[i] = (struct kit_rule){ids[i], "hold", "'agents': ['*']", approvals[i]};
    }
    (void)buf_char(&head, '}');
    rules[HOLDS - 1].match = "'agents': ['*t']";
    struct policy *policy = kit_load_rules(head.data, rules, HOLDS);
    struct arena *arena = arena_new(1 << 20);
    const struct kit_call call = {"sandbox.list"},
                          other = {"sandbox.list", .agent = "x"};
    struct verdict fits = kit_judge(policy, &other, arena);
    struct verdict overflows = kit_judge(policy, &call, arena);
    EQ_INT(fits.terms.requirement_count, POLICY_REQUIREMENTS);
    EQ_INT(fits.decision, DECIDE_HOLD);
    EQ_TEXT(kit_tell(&overflows, arena), "deny builtin/error");
    OK(overflows.failed);
    arena_free(arena);
    kit_free(policy);
}

TEST(the_first_reason_gives_the_sentence_and_the_catalogue_the_credentials)
{
    static const char json[] =
        "{'version': 1, 'name': 'a', 'rules': ["
        "{'id': 'b', 'why': 'The second by its name.', 'decide': 'deny'}, "
        "{'id': 'a', 'why': 'The first by its name.', 'decide': 'deny'}]}";
    struct policy *policy = kit_load_one(json);
    struct arena *arena = arena_new(1 << 20);
    struct verdict verdict =
        kit_judge(policy, &(struct kit_call){"sandbox.get"}, arena);
    EQ_TEXT(kit_tell(&verdict, arena), "deny a/a a/b");
    EQ_TEXT(verdict.why, "The first by its name.");
    EQ_INT(verdict.credentials, CREDENTIALS_STRIP);
    verdict = kit_judge(policy, &(struct kit_call){"sandbox.create"}, arena);
    EQ_INT(verdict.credentials, CREDENTIALS_PASS);
    arena_free(arena);
    kit_free(policy);
}

TEST(what_cannot_be_judged_is_denied)
{
    static const struct caller caller = {"bot", "", "web", "staging"};
    static const struct kit_rule rules[] = {
        {"a", "allow", "'effects': ['read', 'write', 'destructive']", NULL},
    };
    struct policy *policy = kit_load_rules("", rules, COUNT(rules));
    struct arena *arena = arena_new(1 << 20);
    static struct facts facts;
    struct fact route;
    struct {
        const char *what;
        const struct policy *policy;
        struct caller caller;
        enum effect effect;
        bool nothing;
    } cases[] = {
        {"no policy",                   NULL,   caller,             EFFECT_DESTRUCTIVE, false},
        {"no agent",                    policy, {NULL, "", "", ""}, EFFECT_DESTRUCTIVE, false},
        {"no skill",                    policy, {"", NULL, "", ""}, EFFECT_DESTRUCTIVE, false},
        {"no team",                     policy, {"", "", NULL, ""}, EFFECT_DESTRUCTIVE, false},
        {"no environment",              policy, {"", "", "", NULL}, EFFECT_DESTRUCTIVE, false},
        {"an effect that was lowered",  policy, caller,             EFFECT_READ,        false},
        {"an effect that nobody knows", policy, caller,             EFFECT_UNKNOWN,     false},
        {"an effect that is none",      policy, caller,             (enum effect)7,     false},
        {"no operation",                policy, caller,             EFFECT_DESTRUCTIVE, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct verdict verdict;
        CASE("%s", cases[i].what);
        kit_facts(&(struct kit_call){"sandbox.kill"}, &facts, &route);
        facts.effect = cases[i].effect;
        facts.operation = cases[i].nothing ? NULL : facts.operation;
        policy_judge(cases[i].policy, &cases[i].caller, &facts, arena, &verdict);
        EQ_TEXT(kit_tell(&verdict, arena), "deny builtin/error");
        OK(verdict.failed);
        OK(strlen(verdict.why) > 12);
    }
    arena_free(arena);
    kit_free(policy);
}

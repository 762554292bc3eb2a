/* Facts for people: as JSON for cards and records, and as one sentence. */
#include "base/text.h"
#include "core/facts.h"
#include "core/writer.h"

#include <string.h>

enum { SHOWN_ITEMS = 64, SHOWN_TEXT = 160, SENTENCE = 120 };

/* ---- JSON ---- */

/* Cut where a character starts. */
static void write_cut(struct writer *w, const char *key, const char *text)
{
    size_t size = strlen(text);
    if (size > SHOWN_TEXT) {
        size = SHOWN_TEXT;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
            size--;
    }
    write_bytes(w, key, text, size);
}

/* Of a map only the keys: its values are the customer's own. */
static void write_items(struct writer *w, const struct fact *fact)
{
    size_t step = fact->type == FACT_MAP ? 2 : 1, shown = 0;
    write_open(w, fact->name, '[');
    for (const char *const *at = fact->list; *at; at += step)
        if (shown++ < SHOWN_ITEMS)
            write_cut(w, NULL, *at);
    if (shown > SHOWN_ITEMS) {
        char more[40];
        (void)text_format(more, sizeof(more), "%zu more", shown - SHOWN_ITEMS);
        write_text(w, NULL, more);
    }
    write_close(w, ']');
}

static void write_fact(struct writer *w, const struct fact *fact)
{
    switch (fact->type) {
    case FACT_TEXT:
        if (*fact->text)
            write_cut(w, fact->name, fact->text);
        return;
    case FACT_INT:
        write_int(w, fact->name, fact->number);
        return;
    case FACT_BOOL:
        write_bool(w, fact->name, fact->number);
        return;
    case FACT_NAMES:
        if (*fact->list && !fact->list[1]) {
            write_cut(w, fact->name, *fact->list);
            return;
        }
        write_items(w, fact);
        return;
    case FACT_LIST:
    case FACT_MAP:
        if (*fact->list)
            write_items(w, fact);
        return;
    }
}

void facts_write(const struct facts *facts, struct writer *w, const char *key)
{
    write_open(w, key, '{');
    for (size_t i = 0; i < facts->count; i++)
        if (facts->all[i].state == FACT_VALUE)
            write_fact(w, &facts->all[i]);
    write_close(w, '}');
}

/* ---- one sentence ---- */

static void say(struct buf *out, const char *text)
{
    (void)text_escape(out, text, strnlen(text, SENTENCE));
}

static void say_fact(struct buf *out, const struct fact *fact)
{
    if (fact->state != FACT_VALUE)
        buf_text(out, fact->state == FACT_ABSENT ? "unchanged" : "(not certain)");
    else if (fact->type == FACT_TEXT)
        say(out, *fact->text ? fact->text : "(none)");
    else if (fact->type == FACT_INT)
        buf_printf(out, "%lld", (long long)fact->number);
    else if (fact->type == FACT_BOOL)
        buf_text(out, fact->number ? "true" : "false");
    else if (!*fact->list)
        buf_text(out, "(none)");
    else
        for (const char *const *at = fact->list; *at && out->size < SENTENCE; at++) {
            buf_text(out, at == fact->list ? "" : ", ");
            say(out, *at);
        }
}

/* `{target}` is the target's id, any other `{name}` an attribute. */
static void say_pattern(struct buf *out, const char *pattern, const struct canon *canon,
                        const struct facts *facts)
{
    while (*pattern && out->size < SENTENCE) {
        size_t plain = strcspn(pattern, "{");
        buf_add(out, pattern, plain);
        pattern += plain;
        if (!*pattern)
            break;
        char name[32] = "";
        size_t size = strcspn(pattern, "}");
        if (size <= sizeof(name))
            memcpy(name, pattern + 1, size - 1);
        const struct fact *fact = fact_named(facts, name);
        if (fact)
            say_fact(out, fact);
        else
            say(out, canon->target_id);
        pattern += size + 1;
    }
}

/* "Get Sandbox" and its target: "get sandbox i0abc". */
static void say_title(struct buf *out, const struct canon *canon)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    for (const char *at = canon->operation->title; *at; at++) {
        const char *capital = strchr(upper, *at);
        char c = *at;
        if (capital)
            c = lower[capital - upper];
        buf_char(out, c);
    }
    buf_text(out, *canon->target_id ? " " : "");
    say(out, canon->target_id);
}

/* What makes it worse than it sounds. */
static void say_worse(struct buf *out, const struct facts *facts)
{
    static const struct {
        const char *risk, *words;
    } worse[] = {
        {"ends_sandbox",    ", which ends it"         },
        {"drops_memory",    ", dropping its memory"   },
        {"clears_egress",   ", clearing what it omits"},
        {"unauthenticated", ", without authentication"},
    };
    for (const char *const *risk = facts->risks; *risk; risk++)
        for (size_t i = 0; i < sizeof(worse) / sizeof(worse[0]); i++)
            if (text_same(*risk, worse[i].risk)
                && facts->operation->effect != EFFECT_DESTRUCTIVE)
                buf_text(out, worse[i].words);
}

const char *facts_summary(const struct canon *canon, const struct facts *facts,
                          struct arena *arena)
{
    own_buf main = BUF(4 << 10), tail = BUF(1024);
    if (canon->operation->summary)
        say_pattern(&main, canon->operation->summary, canon, facts);
    else
        say_title(&main, canon);
    say_worse(&tail, facts);
    const char *worse = tail.size ? tail.data : "";
    if (main.failed || tail.failed)
        return NULL;
    if (main.size + tail.size <= SENTENCE)
        return arena_printf(arena, "%s%s", main.data, worse);
    return arena_printf(arena, "%.*s...%s", (int)(SENTENCE - 3 - tail.size), main.data,
                        worse);
}

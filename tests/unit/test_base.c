#include "base/arena.h"
#include "base/clock.h"
#include "base/inbox.h"
#include "base/loop.h"
#include "base/memory.h"
#include "base/snapshot.h"
#include "base/text.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

TEST(text_int_accepts_one_spelling_only)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0",                    true,  0 },
        {"42",                   true,  42},
        {"-7",                   true,  -7},
        {"007",                  false, 0 },
        {"+1",                   false, 0 },
        {" 1",                   false, 0 },
        {"1 ",                   false, 0 },
        {"-0",                   false, 0 },
        {"1e3",                  false, 0 },
        {"",                     false, 0 },
        {"-",                    false, 0 },
        {"1000",                 false, 0 },
        {"99999999999999999999", false, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t value = 0;
        CASE("%s", cases[i].text);
        EQ_INT(text_int(cases[i].text, -100, 999, &value), cases[i].ok);
        EQ_INT(value, cases[i].value);
    }
}

TEST(text_utf8_refuses_what_rfc_3629_refuses)
{
    static const struct {
        const char *bytes;
        bool ok;
    } cases[] = {
        {"plain",                true },
        {"\xc3\xa9",             true },
        {"\xf0\x9f\x98\x80",     true },
        {"\xc0\x80",             false},
        {"\xed\xa0\x80",         false},
        {"\xf4\x90\x80\x80",     false},
        {"\xc3",                 false},
        {"\x80",                 false},
        {"\xe2\x82",             false},
        {"\xf8\x88\x80\x80\x80", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("case %zu", i);
        EQ_INT(text_is_utf8(cases[i].bytes, strlen(cases[i].bytes)), cases[i].ok);
    }
}

TEST(text_base64_goes_there_and_back_and_refuses_slack)
{
    static const char *const bad[] = {
        "A", "AA=A", "AB==", "AAB=", "====", "AA==AA==", "A-_="};
    for (size_t size = 0; size < 70; size++) {
        unsigned char bytes[70];
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(i * 37 + size);
        own_buf text = BUF(200), back = BUF(200);
        OK(text_base64(&text, bytes, size));
        OK(text_unbase64(&back, text.data ? text.data : "", text.size));
        EQ_INT(back.size, size);
        if (size)
            EQ_MEM(back.data, bytes, size);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        own_buf back = BUF(200);
        CASE("%s", bad[i]);
        NOT(text_unbase64(&back, bad[i], strlen(bad[i])));
    }
}

TEST(text_escape_shows_what_a_terminal_would_hide)
{
    static const char hostile[] = "a\x1b[31m\xe2\x80\xae\n\xff\\";
    own_buf out = BUF(200);
    OK(text_escape(&out, hostile, sizeof(hostile) - 1));
    EQ_TEXT(out.data, "a\\x1b[31m\\u202e\\x0a\\xff\\\\");
}

TEST(buf_keeps_its_cap_and_stays_failed)
{
    own_buf buf = BUF(5);
    OK(buf_text(&buf, "12345"));
    NOT(buf_char(&buf, '6'));
    NOT(buf_text(&buf, ""));
    EQ_TEXT(buf.data, "12345");
    buf_clear(&buf);
    OK(buf_printf(&buf, "%d", 42));
    EQ_TEXT(buf.data, "42");
}

TEST(arena_refuses_past_its_cap_and_stays_usable)
{
    struct arena *arena = arena_new(10000);
    NOT_NULL(arena);
    IS_NULL(arena_alloc(arena, 20000));
    NOT_NULL(arena_alloc(arena, 5000));
    IS_NULL(arena_alloc(arena, 5000));
    EQ_TEXT(arena_printf(arena, "%s-%d", "a", 1), "a-1");
    arena_free(arena);
    arena_free(NULL);
}

struct letter {
    struct link link;
    int number;
};

static void *send_thousand(void *context)
{
    for (int i = 0; i < 1000; i++) {
        struct letter *letter = memory_new(sizeof(*letter));
        letter->number = i;
        inbox_send(context, &letter->link);
    }
    return NULL;
}

TEST(inbox_loses_nothing_between_threads)
{
    struct inbox inbox;
    pthread_t senders[4];
    int received = 0;
    inbox_init(&inbox, false);
    for (size_t i = 0; i < COUNT(senders); i++)
        EQ_INT(pthread_create(&senders[i], NULL, send_thousand, &inbox), 0);
    while (received < 4000) {
        struct link *next, *link = inbox_wait(&inbox, 5000);
        NOT_NULL(link);
        for (; link; link = next, received++) {
            next = link->next;
            memory_free(container_of(link, struct letter, link));
        }
    }
    for (size_t i = 0; i < COUNT(senders); i++)
        EQ_INT(pthread_join(senders[i], NULL), 0);
    inbox_destroy(&inbox);
}

static struct {
    struct loop *loop;
    int fired[8];
    size_t count;
} seen;

struct numbered {
    struct timer timer;
    int number;
};

static void note(struct timer *timer)
{
    seen.fired[seen.count++] = container_of(timer, struct numbered, timer)->number;
    if (seen.count == 3)
        loop_stop(seen.loop);
}

TEST(loop_fires_timers_in_order_and_not_the_cleared_one)
{
    struct numbered timers[] = {
        {{note, 0, 0}, 3},
        {{note, 0, 0}, 1},
        {{note, 0, 0}, 9},
        {{note, 0, 0}, 2}
    };
    int64_t now = clock_mono_ms();
    seen.loop = loop_new();
    seen.count = 0;
    timer_set(seen.loop, &timers[0].timer, now + 30);
    timer_set(seen.loop, &timers[1].timer, now + 50);
    timer_set(seen.loop, &timers[2].timer, now + 5);
    timer_set(seen.loop, &timers[3].timer, now + 20);
    timer_clear(seen.loop, &timers[2].timer);
    timer_set(seen.loop, &timers[1].timer, now + 10); /* moved */
    loop_run(seen.loop);
    EQ_INT(seen.fired[0], 1);
    EQ_INT(seen.fired[1], 2);
    EQ_INT(seen.fired[2], 3);
    loop_free(seen.loop);
}

struct value {
    struct shared shared;
    int *freed;
};

static void value_free(struct shared *shared)
{
    ++*((struct value *)(void *)shared)->freed;
}

TEST(snapshot_frees_a_value_with_its_last_reader)
{
    int freed = 0;
    struct value one = {{.free = value_free}, &freed},
                 two = {{.free = value_free}, &freed};
    struct snapshot snapshot;
    snapshot_init(&snapshot);
    snapshot_swap(&snapshot, &one.shared);
    struct shared *held = snapshot_take(&snapshot);
    snapshot_swap(&snapshot, &two.shared);
    EQ_INT(freed, 0);
    snapshot_drop(held);
    EQ_INT(freed, 1);
    snapshot_destroy(&snapshot);
    EQ_INT(freed, 2);
}

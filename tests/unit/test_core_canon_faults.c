/* tests of core/canon, facts and redact: any one allocation fails, and nothing is let
 * through that should not be.  The program runs itself with SANDGATE_FAIL_ALLOC=n; in
 * builds without faults that is n times the same. */
#include "canon_kit.h"

#include "base/text.h"
#include "core/facts.h"
#include "core/redact.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 20, ALLOCATIONS = 40 };

#define SECRET "s3cret"

static const char body[] =
    "{\"templateID\":\"b\",\"envVars\":{\"A\":\"" SECRET "\"},\"metadata\":{\"o\":"
    "\"" SECRET "\"},\"network\":{\"allowOut\":[\"a\"],\"egressProxy\":{\"address\":"
    "\"" SECRET "@h:1\"},\"rules\":{\"h\":[{\"transform\":{\"headers\":{\"A\":"
    "\"" SECRET "\"}}}]}},\"mcp\":{\"g\":{\"a\":1.5}},\"new\":\"" SECRET "\"}";

static enum err understand(struct arena *arena, struct canon *canon)
{
    static const struct header headers[] = {
        {"Host",            "h",        4,  1},
        {"X-API-Key",       "e2b_00",   9,  6},
        {"Sandgate-Reason", "why \xff", 15, 5},
        {"lang",            "js",       4,  2}
    };
    const struct raw_request raw = {.method = "POST",
                                    .target = "/v2/sandboxes",
                                    .version = "HTTP/1.1",
                                    .headers = headers,
                                    .header_count = COUNT(headers),
                                    .body = body,
                                    .body_size = sizeof(body) - 1};
    struct agent_headers agent;
    enum err err = canon_headers(&raw, arena, canon, &agent);
    if (!err)
        err = canon_target(&raw, arena, canon);
    return err ? err : canon_body(&raw, true, arena, canon);
}

static void show(const struct canon *canon, struct arena *arena)
{
    static const unsigned char key[REDACT_KEY];
    struct facts facts;
    own_buf out = BUF(1 << 16);
    struct writer w = WRITER(&out);
    if (!facts_of(canon, arena, &facts))
        return;
    OK(facts.unrecognised);
    EQ_TEXT(fact_named(&facts, "env_names")->list[0], "A");
    (void)facts_summary(canon, &facts, arena);
    redact_request(canon, key, &w, NULL);
    facts_write(&facts, &w, "facts");
    OK(out.failed || !strstr(out.data, SECRET));
}

static void strip(struct arena *arena)
{
    static const char answer[] = "{\"envdAccessToken\":\"" SECRET "\",\"url\":1}";
    own_buf out = BUF(1 << 16);
    const char *stripped = NULL;
    if (redact_response(operation_named("sandbox.get"), answer, strlen(answer), arena,
                        &out, &stripped))
        return;
    EQ_TEXT(stripped, "/envdAccessToken");
    EQ_TEXT(out.data, "{\"url\":1}");
}

TEST(one_call_from_its_headers_to_its_card)
{
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    if (!arena)
        return;
    if (understand(arena, &canon) == ERR_OK)
        show(&canon, arena);
    else
        IS_NULL(canon.doc);
    strip(arena);
    canon_free(&canon);
    arena_free(arena);
}

static int run_with_failing_allocation(int number)
{
    char text[12];
    int status = 0;
    OK(text_format(text, sizeof(text), "%d", number));
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
        (void)setenv("SANDGATE_FAIL_ALLOC", text, 1);
        (void)execl("/proc/self/exe", "test", "one_call_from", (char *)NULL);
        _exit(99);
    }
    OK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

TEST(no_failing_allocation_lets_anything_through)
{
    for (int number = 1; number <= ALLOCATIONS; number++) {
        CASE("allocation %d", number);
        EQ_INT(run_with_failing_allocation(number), 0);
    }
}

#include "core/canon.h"

#include "base/must.h"
#include "base/text.h"
#include "core/canon_parts.h"
#include "core/doc.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WHY_RAW = 512, ESCAPED = 8 * WHY_RAW, TARGET_MAX = 8192 };

enum err canon_refuse(struct canon *canon, const char *format, ...)
{
    char raw[WHY_RAW];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(raw, sizeof(raw), format, args); /* cut is fine */
    va_end(args);
    must(size >= 0);
    own_buf escaped = BUF(ESCAPED);
    (void)text_escape(&escaped, raw, strlen(raw));
    (void)text_copy(canon->why, sizeof(canon->why), escaped.data ? escaped.data : "");
    return ERR_REQUEST_REFUSED;
}

struct canon canon_blank(void)
{
    return (struct canon){.operation = &operation_unknown,
                          .target_id = "",
                          .path = "",
                          .query = "",
                          .content_length = SIZE_MAX};
}

enum err canon_target_form(struct canon *canon, const char *target)
{
    if (*target != '/')
        return canon_refuse(canon, "the request target does not start with a slash");
    if (strlen(target) > TARGET_MAX)
        return canon_refuse(canon, "the request target is longer than %d bytes",
                            TARGET_MAX);
    for (const char *at = target; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("#\\;\"<>^`{|}[]", *at))
            return canon_refuse(canon,
                                "the request target has a character that does not "
                                "belong there: 0x%02x",
                                (unsigned char)*at);
    return ERR_OK;
}

static void digest_part(crypto_generichash_state *state, const void *bytes, size_t size)
{
    unsigned char length[8];
    for (size_t i = 0; i < sizeof(length); i++)
        length[i] = (unsigned char)((uint64_t)size >> (56 - 8 * i));
    (void)crypto_generichash_update(state, length, sizeof(length));
    (void)crypto_generichash_update(state, bytes, size);
}

void canon_digest(const struct canon *canon, const char *agent, const char *environment,
                  unsigned char digest[static CANON_DIGEST])
{
    static const char domain[] = "sandgate-call-v1";
    const char *const parts[] = {
        domain, agent, environment, canon->operation->name, canon->path, canon->query};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, CANON_DIGEST); /* cannot fail */
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        digest_part(&state, parts[i], strlen(parts[i]));
    digest_part(&state, canon->body ? canon->body : "", canon->body_size);
    (void)crypto_generichash_final(&state, digest, CANON_DIGEST);
}

void canon_free(struct canon *canon)
{
    doc_free(canon->doc);
    canon->doc = NULL;
}

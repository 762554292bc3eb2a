#include "core/catalogue.h"

#include "base/must.h"
#include "base/text.h"

#define MIB ((size_t)1 << 20)

/* ---- the words that operations.def is written in ---- */

/* A row: name, effect, treatment, and what else there is. */
#define OP(name_, effect_, treatment_, ...) \
    {.name = name_,                         \
     .effect = EFFECT_##effect_,            \
     .treatment = TREAT_##treatment_,       \
     .body_cap = MIB,                       \
     __VA_ARGS__},
#define LARGE_OP(name_, effect_, treatment_, cap_, ...) \
    {.name = name_,                                     \
     .effect = EFFECT_##effect_,                        \
     .treatment = TREAT_##treatment_,                   \
     .body_cap = cap_,                                  \
     __VA_ARGS__},

#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* Routes, newest first: forwarded; forwarded though deprecated; never forwarded. */
#define ROUTES(...)        \
    (const struct route[]) \
    {                      \
        __VA_ARGS__,       \
        {                  \
            0              \
        }                  \
    }
#define ROUTE_(m, p, v, ...)                              \
    {                                                     \
        .method = m, .path = p, .version = v, __VA_ARGS__ \
    }
#define ROUTE(m, p, v, ...) ROUTE_(m, p, v, .forwarded = true, __VA_ARGS__)
#define OLD(m, p, v, ...) \
    ROUTE_(m, p, v, .forwarded = true, .deprecated = true, __VA_ARGS__)
#define SHUT(m, p, v, ...) ROUTE_(m, p, v, .forwarded = false, __VA_ARGS__)
#define QUERY(...) .query = NAMES(__VA_ARGS__)

/* Body keys. */
#define BODY(...)               \
    (const struct body_field[]) \
    {                           \
        __VA_ARGS__,            \
        {                       \
            0                   \
        }                       \
    }
#define FIELD(path_, type_, ...)                         \
    {                                                    \
        .path = path_, .type = BODY_##type_, __VA_ARGS__ \
    }
#define REQUIRED .required = true
#define SECRET .secret = true
#define NULLABLE .nullable = true
#define CLEAR .clear = true
#define ONLY(version) .only = version

const struct operation catalogue[] = {
#include "core/operations.def"
};
const size_t catalogue_size = COUNT(catalogue);

const struct operation operation_unknown = {
    .name = "unknown",
    .title = "Unknown Operation",
    .effect = EFFECT_UNKNOWN,
    .treatment = TREAT_NEVER,
    .routes = (const struct route[]){{0}},
    .body_cap = MIB,
};

const struct operation *operation_named(const char *name)
{
    for (size_t i = 0; i < catalogue_size; i++)
        if (text_same(catalogue[i].name, name))
            return &catalogue[i];
    return NULL;
}

int operation_index(const struct operation *operation)
{
    if (operation == &operation_unknown)
        return (int)catalogue_size;
    must(operation >= catalogue && operation < catalogue + catalogue_size);
    return (int)(operation - catalogue);
}

const char *effect_name(enum effect effect)
{
    static const char *const names[] = {[EFFECT_READ] = "read",
                                        [EFFECT_WRITE] = "write",
                                        [EFFECT_DESTRUCTIVE] = "destructive",
                                        [EFFECT_UNKNOWN] = "unknown"};
    return names[effect];
}

const char *target_kind_name(enum target_kind kind)
{
    static const char *const names[] = {
        [TARGET_NONE] = "none",         [TARGET_SANDBOX] = "sandbox",
        [TARGET_TEMPLATE] = "template", [TARGET_WEBHOOK] = "webhook",
        [TARGET_VOLUME] = "volume",     [TARGET_SECRET] = "secret"};
    return names[kind];
}

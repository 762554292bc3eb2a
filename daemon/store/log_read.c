/* Reading the log: ranges, and searching by walking backwards through the leaves. */
#include "base/text.h"
#include "core/doc.h"
#include "core/writer.h"
#include "store/lane/reader.h"
#include "store/log.h"

#include <string.h>

enum { CHUNK = 1024, NEEDLE_MAX = 2048, LEAF_DEPTH = 64 };

/* Clocks step: so much older than asked for, and nothing before it can be younger. */
static const int64_t slack_us = INT64_C(3600) * 1000000;

uint64_t log_size(struct db *db)
{
    uint64_t size = 0;
    return db_one(db, SQL_HEAD_SIZE, NOTHING, OUT(O(&size))) ? 0 : size;
}

enum err log_latest_checkpoint(struct db *db, struct buf *note)
{
    uint64_t size;
    struct bytes text;
    db_start(db, SQL_CHECKPOINT_LAST, NOTHING);
    bool found = db_next(db, SQL_CHECKPOINT_LAST, OUT(O(&size), LENT(&text)));
    if (found)
        buf_add(note, text.data, text.size);
    enum err err = db_end(db, SQL_CHECKPOINT_LAST);
    return err ? err : found ? ERR_OK : ERR_NOT_FOUND;
}

/* ---- ranges ---- */

struct walk {
    bool (*each)(void *context, uint64_t index, const char *leaf, size_t size);
    void *context;
};

/* `*at` moves on; false: the reader has had enough, or there is no more. */
static bool read_chunk(struct db *db, uint64_t *at, uint64_t end,
                       const struct walk *walk, enum err *err)
{
    uint64_t index, stop = end - *at > CHUNK ? *at + CHUNK : end;
    struct bytes leaf;
    bool more = true;
    db_start(db, SQL_ENTRIES, IN(P(*at), P(stop)));
    while (more && db_next(db, SQL_ENTRIES, OUT(O(&index), LENT(&leaf)))) {
        more = walk->each(walk->context, index, leaf.data, leaf.size);
        *at = index + 1;
    }
    *err = db_end(db, SQL_ENTRIES);
    return more && !*err && *at == stop;
}

/* What is read never changes, so a long walk need not hold one old state of the file,
 * which would keep the WAL from being emptied. */
enum err log_range(struct db *db, uint64_t first, uint64_t end,
                   bool (*each)(void *context, uint64_t index, const char *leaf,
                                size_t size),
                   void *context)
{
    const struct walk walk = {each, context};
    enum err err = ERR_OK;
    uint64_t at = first;
    while (at < end && read_chunk(db, &at, end, &walk, &err))
        reader_refresh(db);
    return err;
}

/* ---- searching ---- */

/* Where a filter's member stands in the leaf. */
static const struct place {
    size_t offset;
    const char *group, *inner, *key;
} places[] = {
    {offsetof(struct log_filter, agent),     "actor", NULL,     "agent"  },
    {offsetof(struct log_filter, person),    "actor", NULL,     "person" },
    {offsetof(struct log_filter, operation), "call",  NULL,     "op"     },
    {offsetof(struct log_filter, target),    "call",  "target", "id"     },
    {offsetof(struct log_filter, verdict),   "dec",   NULL,     "verdict"},
    {offsetof(struct log_filter, approval),  "appr",  NULL,     "id"     },
    {offsetof(struct log_filter, kind),      NULL,    NULL,     "t"      },
};

static const char *wanted(const struct log_filter *filter, size_t i)
{
    const char *value = *(const char *const *)((const char *)filter + places[i].offset);
    return value && *value ? value : NULL;
}

/* The value as it stands in a leaf: what lacks it need not be parsed. */
struct search {
    const struct log_filter *filter;
    char needles[COUNT(places)][NEEDLE_MAX];
    size_t sizes[COUNT(places)];
};

static bool search_init(struct search *search, const struct log_filter *filter)
{
    search->filter = filter;
    for (size_t i = 0; i < COUNT(places); i++) {
        own_buf needle = BUF(NEEDLE_MAX - 1);
        struct writer w = WRITER(&needle);
        search->sizes[i] = 0;
        if (!wanted(filter, i))
            continue;
        write_text(&w, NULL, wanted(filter, i));
        if (needle.failed)
            return false; /* longer than any member of a record */
        memcpy(search->needles[i], needle.data, needle.size);
        search->sizes[i] = needle.size;
    }
    return true;
}

static bool may_match(const struct search *search, const char *leaf, size_t size)
{
    for (size_t i = 0; i < COUNT(places); i++)
        if (search->sizes[i]
            && !memmem(leaf, size, search->needles[i], search->sizes[i]))
            return false;
    return true;
}

static const struct node *down(const struct node *node, const char *key)
{
    return node && key ? node_member(node, key) : node;
}

static bool matches(const struct search *search, const char *leaf, size_t size)
{
    struct doc_error error;
    own_doc *doc = doc_parse(leaf, size, LEAF_DEPTH, false, &error);
    if (!doc)
        return false;
    for (size_t i = 0; i < COUNT(places); i++) {
        const struct place *place = &places[i];
        const char *value = wanted(search->filter, i);
        const struct node *group =
            down(down(doc_root(doc), place->group), place->inner);
        if (!value || (group && text_same(member_text(group, place->key, NULL), value)))
            continue;
        bool event =
            !place->group && text_same(member_text(doc_root(doc), "ev", NULL), value);
        if (!event)
            return false;
    }
    return true;
}

/* "ts" comes before anything that others chose, so the first one is it. */
static int64_t time_of(const char *leaf, size_t size)
{
    static const char key[] = "\"ts\":";
    const char *at = memmem(leaf, size, key, sizeof(key) - 1), *end = leaf + size;
    int64_t time_us = 0;
    if (!at)
        return 0;
    for (at += sizeof(key) - 1; at < end && *at >= '0' && *at <= '9'; at++)
        time_us = time_us * 10 + (*at - '0');
    return time_us;
}

static bool in_time(const struct log_filter *filter, int64_t time_us)
{
    return time_us >= filter->since_us
           && (!filter->until_us || time_us < filter->until_us);
}

enum err log_search(struct db *db, const struct log_filter *filter,
                    bool (*each)(void *context, uint64_t index, const char *leaf,
                                 size_t size),
                    void *context)
{
    struct search search;
    struct bytes leaf;
    uint64_t index;
    size_t found = 0;
    if (!search_init(&search, filter))
        return ERR_OK;
    db_start(db, SQL_ENTRIES_BACK, IN(P(filter->before)));
    while (found < filter->limit
           && db_next(db, SQL_ENTRIES_BACK, OUT(O(&index), LENT(&leaf)))) {
        int64_t time_us = time_of(leaf.data, leaf.size);
        if (time_us + slack_us < filter->since_us)
            break;
        if (!in_time(filter, time_us) || !may_match(&search, leaf.data, leaf.size)
            || !matches(&search, leaf.data, leaf.size))
            continue;
        found++;
        if (!each(context, index, leaf.data, leaf.size))
            break;
    }
    return db_end(db, SQL_ENTRIES_BACK);
}

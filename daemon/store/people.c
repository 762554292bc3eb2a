/* People: who decides, by name or by the uid behind the admin socket. */
#include "base/text.h"
#include "store/db.h"
#include "store/registry.h"

#include <string.h>

#define PERSON_COLUMNS(row) \
    OUT(ROOM((row)->name), ROOM((row)->roles), O(&(row)->uid), O(&(row)->disabled))

enum err person_put(struct db *db, const struct person *row)
{
    return db_run(db, SQL_PERSON_PUT,
                  IN(P(row->name), P(row->roles), P(row->uid), P(row->disabled)), NULL);
}

enum err person_named(struct db *db, const char *name, struct person *row)
{
    return db_one(db, SQL_PERSON, IN(P(name)), PERSON_COLUMNS(row));
}

enum err person_by_uid(struct db *db, int64_t uid, struct person *row)
{
    return db_one(db, SQL_PERSON_BY_UID, IN(P(uid)), PERSON_COLUMNS(row));
}

enum err person_list(struct db *db, bool (*each)(void *, const struct person *),
                     void *context)
{
    struct person row;
    db_start(db, SQL_PEOPLE, NOTHING);
    while (db_next(db, SQL_PEOPLE, PERSON_COLUMNS(&row)) && each(context, &row))
        ;
    return db_end(db, SQL_PEOPLE);
}

/* ---- words in comma separated lists ---- */

static bool listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    while (*list) {
        size_t end = strcspn(list, ",");
        if (end == size && memcmp(list, word, size) == 0)
            return true;
        list += end + (list[end] == ',');
    }
    return false;
}

bool person_has_role(const struct person *person, const char *role)
{
    return !person->disabled && *role && listed(person->roles, role);
}

bool identity_may_claim(const struct identity *identity, const char *skill)
{
    return !*skill || text_same(identity->skills, "*")
           || listed(identity->skills, skill);
}

#include "test_store_rig.h"

static const struct environment production = {.name = "production",
                                              .base_url = "https://api.e2b.dev",
                                              .team = "t1",
                                              .key_hint = "e2b_1a2b...",
                                              .created_ms = 1000};
static const struct environment staging = {.name = "staging",
                                           .base_url = "https://staging",
                                           .key_hint = "e2b_ffff...",
                                           .lenient = true,
                                           .created_ms = 1000};
static const struct agent janitor = {
    .name = "janitor", .team = "data", .owner = "ines", .created_ms = 1000};

static const char e2b_key[] = "e2b_0123456789abcdef0123456789abcdef01234567";

struct minted {
    struct agent_key row;
    char text[KEY_TEXT];
};

static enum err populate(struct db *db, void *context)
{
    struct minted *key = context;
    enum err err = environment_add(db, &production, e2b_key);
    if (!err)
        err = environment_add(db, &staging, "e2b_other");
    if (!err)
        err = agent_add(db, &janitor);
    key->row = (struct agent_key){.agent = "janitor",
                                  .environment = "production",
                                  .minted_by = "tomasz",
                                  .skills = "fleet-hygiene,reports",
                                  .created_ms = 1000};
    return err ? err : key_add(db, &key->row, key->text);
}

static void open_populated(struct minted *key)
{
    rig_open();
    EQ_INT(rig_write(populate, key), ERR_OK);
}

/* ---- asking the keyring as FRONT does ---- */

static enum err identify(const char *text, int64_t now_ms, struct identity *copy,
                         struct upstream_target *target, char *secret)
{
    const struct identity *found;
    struct shared *held = snapshot_take(&keyring_snapshot);
    enum err err = keyring_identify((const struct keyring *)held, text, strlen(text),
                                    now_ms, &found);
    if (!err && copy) {
        *copy = *found;
        *target = *found->target;
        (void)text_copy(secret, KEY_TEXT, found->target->e2b_key);
    }
    snapshot_drop(held);
    return err;
}

static enum err known(const char *text)
{
    return identify(text, 5000, NULL, NULL, NULL);
}

TEST(a_key_identifies_its_agent_and_leads_to_its_environment)
{
    struct minted key;
    struct identity who;
    struct upstream_target target;
    char secret[KEY_TEXT];
    open_populated(&key);
    EQ_INT(identify(key.text, 5000, &who, &target, secret), ERR_OK);
    EQ_TEXT(who.agent, "janitor");
    EQ_TEXT(who.team, "data");
    EQ_TEXT(who.owner, "ines");
    EQ_TEXT(who.minted_by, "tomasz");
    EQ_TEXT(who.environment, "production");
    EQ_TEXT(who.key_id, key.row.id);
    EQ_TEXT(target.base_url, "https://api.e2b.dev");
    EQ_TEXT(secret, e2b_key);
    NOT(target.lenient);
    OK(identity_may_claim(&who, ""));
    OK(identity_may_claim(&who, "reports"));
    NOT(identity_may_claim(&who, "report"));
    NOT(identity_may_claim(&who, "fleet-hygiene,reports"));
    rig_close();
}

TEST(what_is_not_exactly_a_live_key_is_refused)
{
    struct minted key;
    char changed[KEY_TEXT];
    open_populated(&key);
    (void)text_copy(changed, sizeof(changed), key.text);
    changed[43] = changed[43] == '0' ? '1' : '0';
    EQ_INT(known(changed), ERR_BAD_KEY); /* same public id */
    EQ_INT(known(""), ERR_BAD_KEY);
    EQ_INT(known(e2b_key), ERR_BAD_KEY);
    EQ_INT(known(key.row.id), ERR_BAD_KEY);
    EQ_INT(known(key.text), ERR_OK);
    struct shared *held = snapshot_take(&keyring_snapshot);
    const struct keyring *keyring = (const struct keyring *)held;
    OK(keyring_is_gateway_key(keyring, key.text));
    NOT(keyring_is_gateway_key(keyring, changed));
    NOT(keyring_is_gateway_key(keyring, e2b_key));
    NOT_NULL(keyring_target(keyring, "staging"));
    IS_NULL(keyring_target(keyring, "nowhere"));
    snapshot_drop(held);
    rig_close();
}

/* ---- dying ---- */

struct revoking {
    struct job job;
    const struct minted *key;
    enum err known_when_told;
    struct inbox done;
    struct link link;
};

static enum err revoke_run(struct job *job, struct db *db)
{
    return key_revoke(db, container_of(job, struct revoking, job)->key->row.id, 4000);
}

static void revoke_done(struct job *job)
{
    struct revoking *one = container_of(job, struct revoking, job);
    one->known_when_told = known(one->key->text);
    inbox_send(&one->done, &one->link);
}

TEST(a_revoked_key_is_dead_before_anybody_hears_of_it)
{
    struct minted key;
    open_populated(&key);
    struct shared *held = snapshot_take(&keyring_snapshot);
    struct revoking one = {
        .job = {.run = revoke_run, .done = revoke_done},
          .key = &key
    };
    inbox_init(&one.done, false);
    store_write(&one.job);
    while (!inbox_wait(&one.done, -1))
        ;
    inbox_destroy(&one.done);
    EQ_INT(one.job.err, ERR_OK);
    EQ_INT(one.known_when_told, ERR_BAD_KEY);
    const struct identity *found; /* who holds the old ring finishes with it */
    EQ_INT(keyring_identify((const struct keyring *)held, key.text, KEY_TEXT - 1, 5000,
                            &found),
           ERR_OK);
    snapshot_drop(held);
    rig_stop();
    OK(rig_start());
    EQ_INT(known(key.text), ERR_BAD_KEY);
    rig_close();
}

static enum err disable_agent(struct db *db, void *context)
{
    (void)context;
    return agent_disable(db, "janitor");
}

static enum err revoke_and_fail(struct db *db, void *context)
{
    must(!key_revoke(db, context, 4000));
    return ERR_FORBIDDEN;
}

static enum err revoke_key(struct db *db, void *context)
{
    return key_revoke(db, context, 4000);
}

TEST(a_change_that_was_taken_back_does_not_reach_the_keyring)
{
    struct minted key;
    open_populated(&key);
    EQ_INT(rig_write(revoke_and_fail, key.row.id), ERR_FORBIDDEN);
    EQ_INT(known(key.text), ERR_OK);
    EQ_INT(rig_write(revoke_key, (char[]){"00000000"}), ERR_NOT_FOUND);
    EQ_INT(rig_write(revoke_key, key.row.id), ERR_OK);
    EQ_INT(rig_write(revoke_key, key.row.id), ERR_OK); /* again: still dead */
    EQ_INT(known(key.text), ERR_BAD_KEY);
    rig_close();
}

TEST(keys_of_a_disabled_agent_or_environment_identify_nobody)
{
    struct minted key;
    open_populated(&key);
    EQ_INT(rig_write(disable_agent, NULL), ERR_OK);
    EQ_INT(known(key.text), ERR_BAD_KEY);
    rig_close();
    open_populated(&key);
    rig_stop();
    rig_sql("UPDATE environment SET disabled = 1 WHERE name = 'production'");
    OK(rig_start());
    EQ_INT(known(key.text), ERR_BAD_KEY);
    rig_close();
}

TEST(keys_sealed_under_another_master_key_do_not_open_but_can_be_set_again)
{
    struct minted key;
    open_populated(&key);
    rig_stop();
    log_level_set(LOG_ERROR);
    memset(rig.master, 1, sizeof(rig.master));
    OK(rig_start());
    struct shared *held = snapshot_take(&keyring_snapshot);
    IS_NULL(keyring_target((const struct keyring *)held, "production"));
    snapshot_drop(held);
    EQ_INT(known(key.text), ERR_BAD_KEY);
    rig_close();
}

/* ---- rotating ---- */

struct rotation {
    const char *id;
    int64_t old_expires_ms;
    struct minted fresh;
};

static enum err rotate(struct db *db, void *context)
{
    struct rotation *rotation = context;
    return key_rotate(db, rotation->id, rotation->old_expires_ms, "ines",
                      &rotation->fresh.row, rotation->fresh.text);
}

TEST(a_rotated_key_and_its_successor_overlap)
{
    struct minted key;
    open_populated(&key);
    struct rotation rotation = {.id = key.row.id, .old_expires_ms = 6000};
    EQ_INT(rig_write(rotate, &rotation), ERR_OK);
    EQ_TEXT(rotation.fresh.row.agent, "janitor");
    EQ_TEXT(rotation.fresh.row.skills, "fleet-hygiene,reports");
    EQ_TEXT(rotation.fresh.row.minted_by, "ines");
    NOT(text_same(rotation.fresh.row.id, key.row.id));
    EQ_INT(identify(key.text, 5999, NULL, NULL, NULL), ERR_OK);
    EQ_INT(identify(key.text, 6000, NULL, NULL, NULL), ERR_BAD_KEY);
    EQ_INT(identify(rotation.fresh.text, 6000, NULL, NULL, NULL), ERR_OK);
    EQ_INT(rig_write(revoke_key, key.row.id), ERR_OK);
    EQ_INT(rig_write(rotate, &rotation), ERR_NOT_FOUND);
    EQ_INT(identify(rotation.fresh.text, 6000, NULL, NULL, NULL), ERR_OK);
    rig_close();
}

/* ---- rows ---- */

static bool copy_environment(void *context, const struct environment *row)
{
    struct environment *copies = context;
    copies[text_same(row->name, "staging")] = *row;
    return true;
}

static enum err list_environments(struct db *db, void *context)
{
    return environment_list(db, copy_environment, context);
}

static enum err set_key(struct db *db, void *context)
{
    return environment_set_key(db, context, "e2b_fresh", "e2b_fre...");
}

static enum err add_again(struct db *db, void *context)
{
    (void)context;
    return environment_add(db, &production, e2b_key);
}

TEST(environments_are_listed_without_their_keys)
{
    struct minted key;
    struct environment rows[2] = {0};
    struct identity who;
    struct upstream_target target;
    char secret[KEY_TEXT];
    open_populated(&key);
    EQ_INT(rig_write(add_again, NULL), ERR_CONFLICT);
    EQ_INT(rig_write(set_key, (char[]){"nowhere"}), ERR_NOT_FOUND);
    EQ_INT(rig_write(set_key, (char[]){"production"}), ERR_OK);
    EQ_INT(rig_read(list_environments, rows), ERR_OK);
    EQ_TEXT(rows[0].base_url, production.base_url);
    EQ_TEXT(rows[0].team, "t1");
    EQ_TEXT(rows[0].key_hint, "e2b_fre...");
    EQ_INT(rows[0].created_ms, 1000);
    OK(rows[1].lenient);
    EQ_INT(identify(key.text, 5000, &who, &target, secret), ERR_OK);
    EQ_TEXT(secret, "e2b_fresh");
    rig_close();
}

TEST(no_key_is_in_the_database_in_clear)
{
    struct minted key;
    open_populated(&key);
    rig_stop();
    own_buf bytes = BUF(64 << 20);
    OK(file_read(rig.db, &bytes, rig.error));
    IS_NULL(memmem(bytes.data, bytes.size, e2b_key, 20));
    IS_NULL(memmem(bytes.data, bytes.size, key.text, 20));
    NOT_NULL(memmem(bytes.data, bytes.size, key.row.id, 8));
    rig_remove();
}

static enum err put_person(struct db *db, void *context)
{
    return person_put(db, context);
}

static enum err named(struct db *db, void *context)
{
    return person_named(db, "ines", context);
}

static enum err by_uid(struct db *db, void *context)
{
    return person_by_uid(db, 1000, context);
}

static enum err by_no_uid(struct db *db, void *context)
{
    return person_by_uid(db, -1, context);
}

TEST(people_are_found_by_name_and_uid)
{
    struct person row = {.name = "ines", .roles = "approver,auditor", .uid = 1000};
    struct person nobody = {.name = "tomasz", .roles = "viewer", .uid = -1};
    struct person second = {.name = "eve", .roles = "viewer", .uid = 1000};
    struct person found = {0};
    rig_open();
    EQ_INT(rig_read(named, &found), ERR_NOT_FOUND);
    EQ_INT(rig_write(put_person, &row), ERR_OK);
    EQ_INT(rig_write(put_person, &nobody), ERR_OK);
    EQ_INT(rig_write(put_person, &second), ERR_CONFLICT);
    EQ_INT(rig_read(by_uid, &found), ERR_OK);
    EQ_TEXT(found.name, "ines");
    OK(person_has_role(&found, "auditor"));
    NOT(person_has_role(&found, "admin"));
    NOT(person_has_role(&found, "audit"));
    NOT(person_has_role(&found, ""));
    EQ_INT(rig_read(by_no_uid, &found), ERR_NOT_FOUND);
    row.disabled = true;
    EQ_INT(rig_write(put_person, &row), ERR_OK);
    EQ_INT(rig_read(named, &found), ERR_OK);
    OK(found.disabled);
    NOT(person_has_role(&found, "auditor"));
    rig_close();
}

TEST(many_keys_are_all_found)
{
    enum { MANY = 300 };
    static struct minted keys[MANY];
    struct minted first;
    open_populated(&first);
    for (size_t i = 0; i < MANY; i++) {
        struct rotation rotation = {.id = first.row.id, .old_expires_ms = 9000};
        EQ_INT(rig_write(rotate, &rotation), ERR_OK);
        keys[i] = rotation.fresh;
    }
    for (size_t i = 0; i < MANY; i++)
        EQ_INT(known(keys[i].text), ERR_OK);
    rig_close();
}

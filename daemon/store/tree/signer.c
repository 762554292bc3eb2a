#include "store/tree/signer.h"

#include "base/files.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/writer.h"
#include "store/log.h"

#include <string.h>
#include <unistd.h>

enum { STATE_MAX = 1024, VKEY_MAX = 512, PATH = 1024 };

struct secret_keys {
    unsigned char log[64], seal[64];
};

static struct signer {
    struct secret_keys *secret; /* in locked memory */
    unsigned char log_public[TLOG_PUBLIC], seal_public[TLOG_PUBLIC];
    char origin[TLOG_ORIGIN], state_file[PATH];
    struct buf vkey;
} signer;

/* ---- keys ---- */

bool signer_start(const struct store_config *config, char *error)
{
    unsigned char seed[TLOG_SEED];
    signer = (struct signer){.vkey = BUF(VKEY_MAX)};
    if (!text_copy(signer.origin, sizeof(signer.origin), config->origin)
        || !text_copy(signer.state_file, sizeof(signer.state_file),
                      config->state_file)) {
        (void)text_copy(error, STORE_ERROR, "log origin or state file: too long");
        return false;
    }
    signer.secret = keys_alloc(sizeof(*signer.secret));
    if (!signer.secret) {
        (void)text_copy(error, STORE_ERROR, "no lockable memory left for the log key");
        return false;
    }
    tlog_key_from_seed(config->log_seed, signer.log_public, signer.secret->log);
    keys_random(seed, sizeof(seed));
    tlog_key_from_seed(seed, signer.seal_public, signer.secret->seal);
    keys_wipe(seed, sizeof(seed));
    must(vkey_write(signer.origin, signer.log_public, &signer.vkey));
    return true;
}

void signer_stop(void)
{
    keys_free(signer.secret);
    signer.secret = NULL;
    buf_free(&signer.vkey);
}

const char *log_vkey(void)
{
    return signer.vkey.data;
}

const char *signer_origin(void)
{
    return signer.origin;
}

static struct checkpoint checkpoint_of(uint64_t size, const unsigned char *root)
{
    struct checkpoint checkpoint = {.size = size};
    memcpy(checkpoint.origin, signer.origin, sizeof(checkpoint.origin));
    memcpy(checkpoint.root, root, HASH);
    return checkpoint;
}

/* ---- seals ---- */

void signer_seal(uint64_t size, const unsigned char root[static HASH],
                 unsigned char seal[static TLOG_SIGNATURE])
{
    const struct checkpoint head = checkpoint_of(size, root);
    seal_sign(&head, signer.secret->seal, seal);
}

void signer_seal_key(char hex[static 2 * TLOG_PUBLIC + 1])
{
    text_hex(signer.seal_public, TLOG_PUBLIC, hex);
}

bool signer_check_seal(const char *key_hex, uint64_t size,
                       const unsigned char root[static HASH],
                       const unsigned char seal[static TLOG_SIGNATURE])
{
    unsigned char key[TLOG_PUBLIC];
    const struct checkpoint head = checkpoint_of(size, root);
    return text_unhex(key_hex, key, sizeof(key)) && seal_check(&head, key, seal);
}

/* ---- checkpoints and the state file ---- */

static bool remember(uint64_t size, const unsigned char *root)
{
    char hex[2 * HASH + 1], error[FILES_ERROR];
    own_buf text = BUF(STATE_MAX);
    struct writer w = WRITER(&text);
    text_hex(root, HASH, hex);
    write_open(&w, NULL, '{');
    write_text(&w, "origin", signer.origin);
    write_int(&w, "size", (int64_t)size);
    write_text(&w, "root", hex);
    write_close(&w, '}');
    buf_char(&text, '\n');
    must(!text.failed);
    if (file_replace(signer.state_file, text.data, text.size, 0600, error))
        return true;
    log_error("checkpoint", "not signed: %s", error);
    return false;
}

bool signer_checkpoint(uint64_t size, const unsigned char root[static HASH],
                       struct buf *note)
{
    const struct checkpoint checkpoint = checkpoint_of(size, root);
    return remember(size, root)
           && checkpoint_sign(&checkpoint, signer.secret->log, signer.log_public, note);
}

bool signer_open(const char *note, size_t note_size, struct checkpoint *checkpoint)
{
    return checkpoint_open(note, note_size, signer.origin, signer.log_public,
                           checkpoint)
           == NOTE_GOOD;
}

static bool read_state(const struct buf *text, struct checkpoint *state)
{
    struct doc_error error;
    own_doc *doc = doc_parse(text->data, text->size, 2, false, &error);
    const struct node *root = doc ? doc_root(doc) : NULL;
    int64_t size = root ? member_int(root, "size", -1) : -1;
    state->size = (uint64_t)size;
    return size > 0 && text_unhex(member_text(root, "root", ""), state->root, HASH)
           && text_copy(state->origin, sizeof(state->origin),
                        member_text(root, "origin", ""));
}

bool signer_state(bool *found, struct checkpoint *state, char *error)
{
    own_buf text = BUF(STATE_MAX);
    char why[FILES_ERROR];
    *found = access(signer.state_file, F_OK) == 0;
    if (!*found)
        return true;
    if (file_read(signer.state_file, &text, why) && read_state(&text, state))
        return true;
    (void)text_format(error, STORE_ERROR,
                      "%s: cannot be read as the log's last signed state",
                      signer.state_file);
    return false;
}

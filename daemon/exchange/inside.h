/* inside: the exchange itself, for the files of this folder only. */
#ifndef EXCHANGE_INSIDE_H
#define EXCHANGE_INSIDE_H

#include "core/facts.h"
#include "core/policy.h"
#include "exchange/exchange.h"
#include "exchange/world.h"
#include "store/approvals.h"
#include "store/log.h"
#include "store/runs.h"

/* FRONT and UPSTREAM are the exchange's own loop, PARKED is nobody's thread, INTAKE
 * waits for the body. */
enum lane { FRONT, INTAKE, STORE, READER, UPSTREAM, PARKED };

/* Set by the engine, after the commit. */
enum mark { BEGUN = 1, HELD = 2, SETTLED = 4 };

struct step {
    const char *name;
    enum lane lane;
    bool (*when)(const struct exchange *x);
    enum err (*run)(struct exchange *x, struct db *db); /* db on STORE and READER */
    enum mark mark;
};

extern const struct step request_path[], local_path[], run_path[];

enum { WAITER = 48, WHY = CANON_WHY };

struct exchange {
    struct worker *worker;
    struct arena *arena;

    /* where it is on its path */
    const struct step *path;
    size_t at;
    unsigned marks;
    enum err err;  /* the first failure; set once */
    char why[WHY]; /* its detail, printable */
    struct job job;
    struct task task;
    struct transfer transfer;
    bool transfer_failed; /* it never started: nothing was sent */
    void (*finished)(struct exchange *x);

    /* what came in */
    struct incoming in;
    struct raw_request raw;
    struct buf body;
    struct agent_headers agent;
    struct canon canon;
    struct shared *keyring, *policy; /* held while it lives */
    const struct identity *identity;

    /* what was judged */
    struct facts facts;
    struct verdict verdict;
    unsigned char digest[CANON_DIGEST];
    const char *summary, *shown, *verdict_json; /* drafts of the card */

    /* held */
    struct approval approval;         /* as it was last seen */
    struct announcement announcement; /* to be told after the commit */
    bool announces, joined;
    char waiter[WAITER];
    struct parked parked;
    struct timer deadline;
    int64_t wait_until_ms;
    bool gone; /* the client left; atomic: the store asks too */

    /* run */
    char run[ID_TEXT], intent[RECORD_ID];
    const struct upstream_target *target;
    struct sealed_call call; /* an approved one's */
    const char *answer_body; /* after redaction */
    size_t answer_size;
    struct buf redacted;
    const char *stripped, *created;
    enum run_outcome outcome;
    struct answer stored; /* of an approved call */

    /* the record of a read, written ahead on the loop's thread */
    struct buf leaf;
    unsigned char leaf_hash[HASH];
    struct receipt receipt;
    bool recording, recorded; /* recorded: its commit has returned */

    /* local endpoints */
    struct call local;
    struct reply reply;
    struct doc *local_doc;

    /* what goes out */
    struct outgoing out;
    struct header out_headers[REPLY_HEADERS];
    struct buf out_body;
};

/* ---- engine.c ---- */
void engine_walk_head(struct exchange *x); /* FRONT rows up to INTAKE */
void engine_walk(struct exchange *x);      /* from here on; may end in another lane */
void engine_resume(struct exchange *x, enum err err); /* UPSTREAM or PARKED is over */

/* Notes a failure; only the first counts. Never fails itself. */
void exchange_fail(struct exchange *x, enum err err, const char *why);
struct exchange *exchange_blank(struct worker *worker, const struct step *path);

/* ---- records.c ---- */
/* Actor, call and decision of this exchange. */
void record_fill(const struct exchange *x, struct record *record);
enum err record_add(struct exchange *x, struct db *db, struct record *record);

/* ---- transfers.c: E2B's side, shared by agents' requests and approved runs; when it
 * is over, outcome, err and the redacted answer are set ---- */
enum err transfer_begin(struct exchange *x, const struct sealed_call *call, bool read);
void record_outcome(const struct exchange *x, struct record *record);
/* The canonical form as what will be sent. False: it does not fit. */
bool call_of(struct exchange *x, struct sealed_call *call);
const char *headers_pack(struct exchange *x, const struct header *headers,
                         size_t count);

/* ---- steps, by file ---- */
#define STEP(name) enum err name(struct exchange *x, struct db *db)
STEP(identify); /* intake.c */
STEP(route);
STEP(canonicalise);
STEP(judge); /* judge.c */
STEP(draft);
STEP(begin); /* direct.c */
STEP(forward);
STEP(note_read);
STEP(settle);
STEP(refuse);
STEP(hold); /* hold.c */
STEP(park);
STEP(collect);
STEP(respond);     /* respond.c */
STEP(local_route); /* local.c */
STEP(local_parse);
STEP(local_authorise);
STEP(local_probe);
STEP(local_handle);
STEP(local_park);
STEP(local_respond);
STEP(claim); /* executor.c */
STEP(run_forward);
STEP(run_settle);
STEP(run_announce);

/* ---- waking.c ---- */
void exchange_wake(struct exchange *x); /* a parked exchange looks again now */
int64_t execution_deadline(void);
bool exchange_has_left(const struct exchange *x); /* any lane */

#endif

-- The first schema: the log and the facts it tells of, in one file, so that both commit
-- together.  Names of states and outcomes repeat the enums of core/approval and store/runs.

-- ---- the log ----

-- One record a row: its leaf bytes as they were hashed.  No index but the position.
CREATE TABLE entry (
    seq  INTEGER PRIMARY KEY CHECK (seq >= 0),
    leaf BLOB NOT NULL CHECK (length(leaf) BETWEEN 2 AND 60000)
) STRICT;

-- Full tiles only: 256 hashes of one level of the tree.
CREATE TABLE tile (
    level INTEGER NOT NULL CHECK (level >= 0),
    idx   INTEGER NOT NULL CHECK (idx >= 0),
    data  BLOB NOT NULL CHECK (length(data) = 8192),
    PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;

-- The tree after the last batch, sealed with the key that the record at `boot_seq` names.
CREATE TABLE head (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    size     INTEGER NOT NULL CHECK (size > 0),
    root     BLOB NOT NULL CHECK (length(root) = 32),
    boot_seq INTEGER NOT NULL CHECK (boot_seq >= 0 AND boot_seq < size),
    seal     BLOB NOT NULL CHECK (length(seal) = 64),
    wall_us  INTEGER NOT NULL
) STRICT;

-- Signed notes by the log key.
CREATE TABLE checkpoint (
    size    INTEGER PRIMARY KEY CHECK (size > 0),
    note    TEXT NOT NULL,
    wall_us INTEGER NOT NULL
) STRICT;

-- Against faults of our own; whoever edits the file is caught by the tree.
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER entry_remains BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER tile_stays BEFORE UPDATE ON tile
    BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER tile_remains BEFORE DELETE ON tile
    BEGIN SELECT RAISE(ABORT, 'append only'); END;

-- ---- who may call, and where calls go ----

-- `e2b_key` is sealed under a key derived from the master key.
CREATE TABLE environment (
    name       TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    base_url   TEXT NOT NULL CHECK (length(base_url) BETWEEN 1 AND 255),
    team       TEXT NOT NULL CHECK (length(team) < 64),
    e2b_key    BLOB NOT NULL,
    key_hint   TEXT NOT NULL CHECK (length(key_hint) < 16),
    disabled   INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    lenient    INTEGER NOT NULL CHECK (lenient IN (0, 1)),
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
    name       TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    team       TEXT NOT NULL CHECK (length(team) < 64),
    owner      TEXT NOT NULL CHECK (length(owner) < 64),
    disabled   INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Gateway keys: only their keyed hash is here.  Times of 0: never.
CREATE TABLE agent_key (
    id          TEXT PRIMARY KEY CHECK (length(id) = 8),
    hash        BLOB NOT NULL CHECK (length(hash) = 32),
    agent       TEXT NOT NULL REFERENCES agent (name),
    environment TEXT NOT NULL REFERENCES environment (name),
    minted_by   TEXT NOT NULL CHECK (length(minted_by) < 64),
    skills      TEXT NOT NULL CHECK (length(skills) < 512),
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,
    revoked_ms  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_key_agent ON agent_key (agent, id);

-- `uid`: of the admin socket's peer, or -1.
CREATE TABLE person (
    name     TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    roles    TEXT NOT NULL CHECK (length(roles) < 512),
    uid      INTEGER NOT NULL CHECK (uid >= -1),
    disabled INTEGER NOT NULL CHECK (disabled IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX person_uid ON person (uid) WHERE uid >= 0;

-- ---- held calls ----

-- The call and E2B's answer wait sealed under `call_key`, itself sealed under the master
-- key; NULL once it is shredded.  `due_*` is the deadline of the state it is in: the
-- stricter of both clocks decides, and the monotonic one counts within its boot only.
CREATE TABLE approval (
    id              TEXT PRIMARY KEY CHECK (length(id) BETWEEN 5 AND 31),
    state           TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'executing', 'executed', 'failed', 'unknown',
        'declined', 'expired', 'cancelled', 'superseded')),
    version         INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
    agent           TEXT NOT NULL,
    key_id          TEXT NOT NULL,
    team            TEXT NOT NULL,
    environment     TEXT NOT NULL,
    skill           TEXT NOT NULL,
    owner           TEXT NOT NULL,
    minted_by       TEXT NOT NULL,
    operation       TEXT NOT NULL,
    effect          TEXT NOT NULL,
    target_kind     TEXT NOT NULL,
    target_id       TEXT NOT NULL,
    summary         TEXT NOT NULL,
    shown           TEXT NOT NULL,
    reason          TEXT NOT NULL,
    ticket          TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    trace           TEXT NOT NULL,
    verdict         TEXT NOT NULL,
    policy          TEXT NOT NULL,
    digest          BLOB NOT NULL CHECK (length(digest) = 32),
    run_when_absent INTEGER NOT NULL CHECK (run_when_absent IN (0, 1)),
    created_ms      INTEGER NOT NULL,
    expires_ms      INTEGER NOT NULL,
    expires_mono_ms INTEGER NOT NULL,
    collect_s       INTEGER NOT NULL CHECK (collect_s >= 0),
    boot            TEXT NOT NULL,
    due_ms          INTEGER NOT NULL,
    due_mono_ms     INTEGER NOT NULL,
    due_boot        TEXT NOT NULL,
    waiter          TEXT NOT NULL,
    hold_index      INTEGER NOT NULL,
    hold_id         TEXT NOT NULL,
    decided_by      TEXT NOT NULL DEFAULT '',
    decided_reason  TEXT NOT NULL DEFAULT '',
    decided_ms      INTEGER NOT NULL DEFAULT 0,
    run             TEXT NOT NULL DEFAULT '',
    status          INTEGER NOT NULL DEFAULT 0,
    finished_ms     INTEGER NOT NULL DEFAULT 0,
    collected       INTEGER NOT NULL DEFAULT 0 CHECK (collected IN (0, 1)),
    call_key        BLOB,
    call            BLOB,
    answer          BLOB
) STRICT;

CREATE INDEX approval_state ON approval (state, id);
CREATE INDEX approval_digest ON approval (digest, id);
CREATE INDEX approval_idempotency ON approval (agent, environment, idempotency_key, id)
    WHERE idempotency_key <> '';
CREATE INDEX approval_due ON approval (due_ms) WHERE state IN ('pending', 'approved');
CREATE INDEX approval_due_mono ON approval (due_boot, due_mono_ms)
    WHERE state IN ('pending', 'approved');

CREATE TABLE vote (
    approval TEXT NOT NULL REFERENCES approval (id),
    person   TEXT NOT NULL CHECK (length(person) BETWEEN 1 AND 63),
    choice   TEXT NOT NULL CHECK (choice IN ('approve', 'decline')),
    reason   TEXT NOT NULL,
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (approval, person)
) STRICT, WITHOUT ROWID;

-- ---- runs ----

-- One execution against E2B; `approval` is '' when policy allowed it directly.
CREATE TABLE run (
    id          TEXT PRIMARY KEY CHECK (length(id) BETWEEN 5 AND 31),
    approval    TEXT NOT NULL,
    agent       TEXT NOT NULL,
    environment TEXT NOT NULL,
    operation   TEXT NOT NULL,
    target_id   TEXT NOT NULL,
    digest      BLOB NOT NULL CHECK (length(digest) = 32),
    intent_id   TEXT NOT NULL CHECK (length(intent_id) = 32),
    outcome     TEXT NOT NULL DEFAULT 'executing' CHECK (outcome IN (
        'executing', 'ok', 'failed', 'unknown', 'not_sent')),
    status      INTEGER NOT NULL DEFAULT 0,
    started_ms  INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX run_executing ON run (outcome) WHERE outcome = 'executing';

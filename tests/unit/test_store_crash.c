/* A process that dies anywhere: what was acknowledged is in the log, and the log holds.
 */
#include "test_store_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { CHILD_JOBS = 300 };

/* ---- what the child does ---- */

struct ack {
    uint64_t index;
    unsigned char leaf[HASH];
};

struct logged {
    struct job job;
    struct receipt receipt;
};

static int acks_fd;
static size_t answered; /* atomic */

static enum err logged_run(struct job *job, struct db *db)
{
    return rig_note(db, "load", &container_of(job, struct logged, job)->receipt);
}

/* A write that returned is with the kernel and outlives the process. */
static void logged_done(struct job *job)
{
    const struct logged *one = container_of(job, struct logged, job);
    struct ack ack = {.index = one->receipt.index};
    memcpy(ack.leaf, one->receipt.leaf, HASH);
    if (!job->err)
        must(write(acks_fd, &ack, sizeof(ack)) == sizeof(ack));
    __atomic_add_fetch(&answered, 1, __ATOMIC_SEQ_CST);
}

static void open_acks(void)
{
    char path[RIG_PATH];
    (void)text_format(path, sizeof(path), "%s/acks", rig.top);
    acks_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    must(acks_fd >= 0);
}

/* Twenty at a time, so that batches are of every size. */
static void child_writes(size_t count)
{
    static struct logged jobs[CHILD_JOBS];
    for (size_t i = 0; i < count; i++) {
        jobs[i].job = (struct job){.run = logged_run, .done = logged_done};
        store_write(&jobs[i].job);
        while (i % 20 == 19 && __atomic_load_n(&answered, __ATOMIC_SEQ_CST) + 5 < i)
            (void)usleep(50);
    }
    while (__atomic_load_n(&answered, __ATOMIC_SEQ_CST) < count)
        (void)usleep(50);
    answered = 0;
}

/* ---- what has to be true afterwards ---- */

struct check {
    struct ack ack;
    bool same;
};

static bool compare(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct check *check = context;
    unsigned char hash[HASH];
    tlog_leaf(leaf, size, hash);
    check->same = index == check->ack.index && memcmp(hash, check->ack.leaf, HASH) == 0;
    return false;
}

static enum err check_acks(struct db *db, void *context)
{
    const struct buf *acks = context;
    for (size_t at = 0; at + sizeof(struct ack) <= acks->size;
         at += sizeof(struct ack)) {
        struct check check = {.same = false};
        memcpy(&check.ack, acks->data + at, sizeof(check.ack));
        enum err err =
            log_range(db, check.ack.index, check.ack.index + 1, compare, &check);
        if (err || !check.same)
            return ERR_NOT_FOUND;
    }
    return ERR_OK;
}

static size_t all_acknowledged_is_there(void)
{
    char path[RIG_PATH];
    own_buf acks = BUF(16 << 20);
    (void)text_format(path, sizeof(path), "%s/acks", rig.top);
    OK(file_read(path, &acks, rig.error));
    bool started = rig_start();
    EQ_TEXT(rig.error, "");
    OK(started);
    EQ_INT(rig_read(check_acks, &acks), ERR_OK);
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
    rig_stop();
    return acks.size / sizeof(struct ack);
}

/* ---- killed from outside, whenever ---- */

static size_t acks_size(void)
{
    struct stat info;
    must(fstat(acks_fd, &info) == 0);
    return (size_t)info.st_size;
}

TEST(kill_9_at_any_moment_loses_nothing_that_was_acknowledged)
{
    size_t acknowledged = 0;
    rig_init(NULL);
    open_acks();
    for (unsigned round = 0; round < 12; round++) {
        CASE("round %u", round);
        (void)fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            must(rig_start());
            for (;;)
                child_writes(CHILD_JOBS);
        }
        size_t before = acks_size();
        for (int i = 0; round % 3 && i < 5000 && acks_size() == before; i++)
            (void)usleep(1000); /* each third one may die before its first answer */
        (void)usleep(round * 7919 % 30000);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        acknowledged = all_acknowledged_is_there();
    }
    OK(acknowledged > 0);
    rig_remove();
}

TEST(a_database_that_is_moved_away_while_running_stops_the_store)
{
    int status = 0;
    rig_init(NULL);
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        must(rig_start() && unlink(rig.db) == 0);
        (void)sleep(10);
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child);
    OK(WIFEXITED(status));
    EQ_INT(WEXITSTATUS(status), 74);
    NOT(rig_start()); /* and what a new one would begin with is not what was signed */
    EQ_INT(rig.exit_code, 2);
    rig_remove();
}

/* ---- killed from inside, at each point (builds with failpoints) ---- */

#ifdef SANDGATE_FAULTS

/* Does nothing unless it is the child that the tests below start. */
TEST(crash_child)
{
    const char *top = getenv("STORE_CHILD");
    if (!top)
        return;
    rig_init(top);
    open_acks();
    if (!rig_start())
        _exit(rig.exit_code);
    child_writes(CHILD_JOBS);
    rig_stop();
    _exit(0);
}

static int run_child(const char *fault, const char *test)
{
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        must(setenv("SANDGATE_FAIL", fault, 1) == 0);
        must(setenv("STORE_CHILD", rig.top, 1) == 0);
        must(freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr));
        (void)execl("/proc/self/exe", "test", test, (char *)NULL);
        _exit(127);
    }
    (void)waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(dying_at_each_point_of_a_commit_loses_nothing_that_was_acknowledged)
{
    static const struct {
        const char *fault;
        int end; /* exit code, or minus the signal */
    } cases[] = {
        {"before_commit:abort:1", -SIGKILL}, /* in the very first batch */
        {"after_commit:abort:1",  -SIGKILL},
        {"mid_batch:abort:100",   -SIGKILL},
        {"before_commit:abort:4", -SIGKILL},
        {"after_commit:abort:4",  -SIGKILL},
        {"commit_io:error:4",     74      },
        {"before_commit:abort:9", -SIGKILL},
        {"after_commit:abort:9",  -SIGKILL},
        {"nowhere:abort",         0       },
    };
    rig_init(NULL);
    open_acks();
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].fault);
        EQ_INT(run_child(cases[i].fault, "crash_child"), cases[i].end);
        (void)all_acknowledged_is_there();
    }
    rig_remove();
}

/* ---- no room at a COMMIT ---- */

static bool count_one(void *context, uint64_t index, const char *leaf, size_t size)
{
    (void)index;
    (void)leaf;
    (void)size;
    ++*(size_t *)context;
    return true;
}

static enum err count_notes(struct db *db, void *context)
{
    const struct log_filter filter = {
        .agent = "a1", .before = UINT64_MAX, .limit = 100};
    return log_search(db, &filter, count_one, context);
}

TEST(full_child)
{
    const char *top = getenv("STORE_CHILD");
    if (!top)
        return;
    struct receipt receipt = {0};
    rig_init(top);
    OK(rig_start());
    EQ_INT(rig_write(rig_append, &receipt), ERR_OK);
    EQ_INT(rig_write(rig_append, &receipt), ERR_STORE);
    NOT(store_writable());
    EQ_INT(rig_write(rig_append, &receipt), ERR_STORE); /* not even tried */
    rig_stop();
    _exit(33);
}

TEST(a_commit_that_fails_for_lack_of_room_is_undone)
{
    size_t notes = 0;
    rig_init(NULL);
    EQ_INT(run_child("commit:error:4", "full_child"), 33);
    OK(rig_start());
    EQ_INT(rig_read(count_notes, &notes), ERR_OK);
    EQ_INT(notes, 1);
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
    rig_close();
}

#endif

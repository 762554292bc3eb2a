#include "test.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TESTS = 512 };

static struct test *first, **last = &first;
static struct CMUnitTest tests[TESTS];
static char row[256]; /* the last CASE of the running test */
static pid_t child;

void test_add(struct test *test)
{
    *last = test;
    last = &test->next;
}

void test_case(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(row, sizeof(row), format, args);
    va_end(args);
}

static int forget_case(void **state)
{
    (void)state;
    row[0] = '\0';
    return 0;
}

static _Noreturn void give_up(const char *file, int line)
{
    if (row[0])
        print_error("in case: %s\n", row);
    _fail(file, line);
    abort(); /* cmocka has jumped away */
}

void test_ok(bool held, const char *what, const char *file, int line)
{
    if (held)
        return;
    print_error("not so: %s\n", what);
    give_up(file, line);
}

void test_eq_int(int64_t got, int64_t want, const char *what, const char *file,
                 int line)
{
    if (got == want)
        return;
    print_error("%s\n    is %lld\n  want %lld\n", what, (long long)got,
                (long long)want);
    give_up(file, line);
}

static void show(const char *label, const char *text)
{
    if (text)
        print_error("%s \"%s\"\n", label, text);
    else
        print_error("%s NULL\n", label);
}

void test_eq_text(const char *got, const char *want, const char *what, const char *file,
                  int line)
{
    if (got == want || (got && want && strcmp(got, want) == 0))
        return;
    print_error("%s\n", what);
    show("    is", got);
    show("  want", want);
    give_up(file, line);
}

void test_has_text(const char *got, const char *part, const char *what,
                   const char *file, int line)
{
    if (got && strstr(got, part))
        return;
    print_error("%s\n", what);
    show("      is", got);
    show("  lacks:", part);
    give_up(file, line);
}

static void show_bytes(const char *label, const unsigned char *bytes, size_t size)
{
    print_error("%s", label);
    for (size_t i = 0; i < size; i++)
        print_error(" %02x", bytes[i]);
    print_error("\n");
}

void test_eq_mem(const void *got, const void *want, size_t size, const char *what,
                 const char *file, int line)
{
    const unsigned char *is = got, *due = want;
    if (size == 0 || (is && due && memcmp(is, due, size) == 0))
        return;
    if (!is || !due) {
        print_error("%s: NULL\n", what);
        give_up(file, line);
    }
    size_t at = 0;
    while (is[at] == due[at])
        at++;
    size_t shown = size - at < 16 ? size - at : 16;
    print_error("%s differs at byte %zu of %zu\n", what, at, size);
    show_bytes("    is", is + at, shown);
    show_bytes("  want", due + at, shown);
    give_up(file, line);
}

bool test_in_child(void)
{
    (void)fflush(NULL);
    child = fork();
    must(child >= 0);
    if (child > 0)
        return false;
    must(freopen("/dev/null", "w", stderr)); /* its last words are expected */
    for (int sig = 1; sig < 32; sig++)
        (void)signal(sig, SIG_DFL);
    return true;
}

void test_child_lived(void)
{
    _exit(0);
}

bool test_child_aborted(void)
{
    int status = 0;
    must(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* a crash must not take the names along */
    for (struct test *test = first; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]))
            continue;
        must(count < TESTS);
        tests[count++] =
            (struct CMUnitTest){test->name, test->run, forget_case, NULL, NULL};
    }
    if (count == 0) {
        (void)fprintf(stderr, "no such test\n");
        return 1;
    }
    return _cmocka_run_group_tests(argv[0], tests, count, NULL, NULL) ? 1 : 0;
}

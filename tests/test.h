/* test: cmocka with sentences for names.
 *
 *     TEST(canon_refuses_dot_segments)
 *     {
 *         for (size_t i = 0; i < COUNT(cases); i++) {
 *             CASE("%s", cases[i].path);
 *             EQ_TEXT(canon(cases[i].path), NULL);
 *         }
 *     }
 *
 * Tests register themselves and run in the order of the file; the program takes part of
 * a name as argument and then runs only what contains it.  The value that the code gave
 * comes first, the expected one second. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include "base/must.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name;
    void (*run)(void **state);
    struct test *next;
};

#define TEST(sentence)                                            \
    static void sentence(void **state);                           \
    __attribute__((constructor)) static void add_##sentence(void) \
    {                                                             \
        static struct test test = {#sentence, sentence, NULL};    \
        test_add(&test);                                          \
    }                                                             \
    static void sentence(void **state __attribute__((unused)))

#define OK(condition) test_ok((condition), #condition, __FILE__, __LINE__)
#define NOT(condition) test_ok(!(condition), "not " #condition, __FILE__, __LINE__)
#define IS_NULL(p) test_ok((p) == NULL, #p " is NULL", __FILE__, __LINE__)
#define NOT_NULL(p) test_ok((p) != NULL, #p " is not NULL", __FILE__, __LINE__)
#define EQ_INT(got, want) test_eq_int((got), (want), #got, __FILE__, __LINE__)
#define EQ_TEXT(got, want) test_eq_text((got), (want), #got, __FILE__, __LINE__)
#define EQ_MEM(got, want, size) \
    test_eq_mem((got), (want), (size), #got, __FILE__, __LINE__)
#define HAS_TEXT(got, part) test_has_text((got), (part), #got, __FILE__, __LINE__)
#define FAIL(text) test_ok(false, text, __FILE__, __LINE__)

/* The statement must abort the process (a broken `must`); it runs in a child. */
#define DIES(statement)                                                           \
    do {                                                                          \
        if (test_in_child()) {                                                    \
            statement;                                                            \
            test_child_lived();                                                   \
        }                                                                         \
        test_ok(test_child_aborted(), "aborts: " #statement, __FILE__, __LINE__); \
    } while (0)

/* Says which row of a table failed. */
#define CASE(...) test_case(__VA_ARGS__)

void test_add(struct test *test);
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_ok(bool held, const char *what, const char *file, int line);
void test_eq_int(int64_t got, int64_t want, const char *what, const char *file,
                 int line);
void test_eq_text(const char *got, const char *want, const char *what, const char *file,
                  int line);
void test_eq_mem(const void *got, const void *want, size_t size, const char *what,
                 const char *file, int line);
void test_has_text(const char *got, const char *part, const char *what,
                   const char *file, int line);
bool test_in_child(void);
bool test_child_aborted(void);
_Noreturn void test_child_lived(void);

#endif

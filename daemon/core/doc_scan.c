#include "core/doc_scan.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest integer that every JSON implementation keeps: RFC 8259, section 6. */
#define INT_MOST 9007199254740991LL

enum { NUMBER_MAX = DOC_REAL_TEXT, POWER_MOST = 100000, VALUES_MAX = 1 << 17 };

/* ---- numbers ---- */

/* A decimal as its digits without outer zeros and a power of ten: equal numbers have
 * equal forms, so what a parser lost can be seen. */
struct decimal {
    bool negative;
    char digits[NUMBER_MAX];
    int64_t power;
};

static void add_digit(struct decimal *decimal, char digit, bool fraction)
{
    size_t size = strlen(decimal->digits);
    decimal->power -= fraction;
    if (size == 0 && digit == '0')
        return;
    decimal->digits[size] = digit;
}

static struct decimal decimal_of(const char *number)
{
    struct decimal decimal = {.negative = *number == '-'};
    const char *at = number + decimal.negative;
    bool fraction = false;
    for (; *at && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.')
            fraction = true;
        else
            add_digit(&decimal, *at, fraction);
    }
    int64_t power = *at ? strtoll(at + 1, NULL, 10) : 0;
    decimal.power += power > POWER_MOST    ? POWER_MOST
                     : power < -POWER_MOST ? -POWER_MOST
                                           : power;
    size_t size = strlen(decimal.digits);
    while (size > 0 && decimal.digits[size - 1] == '0') {
        decimal.digits[--size] = '\0';
        decimal.power++;
    }
    if (size == 0)
        decimal.power = 0;
    return decimal;
}

void doc_real_text(double real, char text[static DOC_REAL_TEXT])
{
    for (int digits = 1; digits <= 17; digits++) {
        (void)text_format(text, NUMBER_MAX, "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            return;
    }
}

static bool survives(const char *number)
{
    char again[NUMBER_MAX];
    double real = strtod(number, NULL);
    if (!isfinite(real))
        return false;
    doc_real_text(real, again);
    struct decimal before = decimal_of(number), after = decimal_of(again);
    return before.negative == after.negative && before.power == after.power
           && text_same(before.digits, after.digits);
}

/* What is wrong with the number, or NULL.  Malformed ones are left to the parser. */
static const char *number_fault(const char *at, size_t size, bool reals)
{
    char number[NUMBER_MAX];
    if (size >= sizeof(number))
        return "a number has too many digits";
    memcpy(number, at, size);
    number[size] = '\0';
    if (strpbrk(number, ".eE")) {
        if (!reals)
            return "a number is not a plain integer";
        return survives(number) ? NULL : "a number does not survive a round trip";
    }
    if (text_same(number, "-0"))
        return "-0 is not an integer";
    size_t digits = strlen(number) - (*number == '-');
    if (digits > 16 || llabs(strtoll(number, NULL, 10)) > INT_MOST)
        return "an integer is larger than 2^53-1";
    return NULL;
}

/* ---- the whole ---- */

bool doc_fault(struct doc_error *error, int line, int column, const char *text)
{
    error->line = line;
    error->column = column;
    (void)text_copy(error->text, sizeof(error->text), text);
    return false;
}

struct scan {
    const char *at, *end, *line_start;
    int line, depth, values;
    struct doc_error *error;
};

static bool scan_fail(const struct scan *scan, const char *text)
{
    int column = (int)(scan->at - scan->line_start) + 1;
    return doc_fault(scan->error, scan->line, column, text);
}

static bool scan_number(struct scan *scan, bool reals)
{
    size_t size = 1;
    while (scan->at + size < scan->end && scan->at[size]
           && strchr("0123456789+-.eE", scan->at[size]))
        size++;
    const char *fault = number_fault(scan->at, size, reals);
    if (fault)
        return scan_fail(scan, fault);
    scan->at += size - 1;
    return true;
}

/* Past the string that opens at `at`; the last byte when it does not close. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at : end - 1;
}

static bool scan_byte(struct scan *scan, int depth_max, bool reals)
{
    switch (*scan->at) {
    case '\n':
        scan->line++;
        scan->line_start = scan->at + 1;
        return true;
    case '"':
        scan->at = skip_string(scan->at, scan->end);
        return true;
    case ',':
        return ++scan->values < VALUES_MAX || scan_fail(scan, "too many values");
    case '{':
    case '[':
        return ++scan->depth <= depth_max || scan_fail(scan, "nested too deep");
    case '}':
    case ']':
        scan->depth--;
        return true;
    default:
        return !strchr("-0123456789", *scan->at) || !*scan->at
               || scan_number(scan, reals);
    }
}

bool doc_scan(const char *bytes, size_t size, int depth_max, bool reals,
              struct doc_error *error)
{
    struct scan scan = {.at = bytes,
                        .end = bytes + size,
                        .line_start = bytes,
                        .line = 1,
                        .error = error};
    for (; scan.at < scan.end; scan.at++)
        if (!scan_byte(&scan, depth_max, reals))
            return false;
    return true;
}

#include "cli/when.h"

#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/talk.h"

#include <string.h>

enum { DIGITS = 12, SECOND_MS = 1000 };

static const struct {
    const char *unit;
    int64_t ms;
} units[] = {
    {"d",  86400000},
    {"h",  3600000 },
    {"m",  60000   },
    {"s",  1000    },
    {"ms", 1       }
};

bool span_read(const char *text, int64_t *ms)
{
    char number[DIGITS];
    size_t size = strspn(text, "0123456789");
    int64_t count;
    if (!text_format(number, sizeof(number), "%.*s", (int)size, text)
        || !text_int(number, 0, 1000000000, &count))
        return false;
    for (size_t i = 0; i < COUNT(units); i++)
        if (text_same(text + size, units[i].unit)) {
            *ms = count * units[i].ms;
            return true;
        }
    return false;
}

int flag_span(struct call *call, const char *flag, int64_t otherwise, int64_t *ms)
{
    const char *text = flag_text(call, flag);
    *ms = otherwise;
    if (!text || span_read(text, ms))
        return DONE;
    return fail(call, USAGE, "--%s %s: a time is written 30s, 15m, 2h or 7d", flag,
                safe(call, text));
}

/* ---- moments ---- */

/* Days since 1970-01-01; the year begins in March, so that a leap day is its last. */
static int64_t days_from(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year % 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(const char *text, size_t count, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return true;
}

static bool fraction(const char *text, int64_t *ms)
{
    *ms = 0;
    if (*text != '.')
        return text_same(text, "Z");
    size_t size = strspn(text + 1, "0123456789");
    int64_t tenth = 100;
    for (size_t i = 0; i < size && i < 3; i++, tenth /= 10)
        *ms += (text[1 + i] - '0') * tenth;
    return size > 0 && text_same(text + 1 + size, "Z");
}

bool moment_read(const char *text, int64_t *wall_ms)
{
    static const char form[] = "0000-00-00T00:00:00";
    int64_t year, month, day, hour, minute, second, ms;
    if (strlen(text) < sizeof(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] != '0' && form[i] != text[i])
            return false;
    if (!digits(text, 4, &year) || !digits(text + 5, 2, &month)
        || !digits(text + 8, 2, &day) || !digits(text + 11, 2, &hour)
        || !digits(text + 14, 2, &minute) || !digits(text + 17, 2, &second)
        || !fraction(text + 19, &ms))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59
        || second > 59)
        return false;
    int64_t seconds = (days_from(year, month, day) * 24 + hour) * 3600 + minute * 60;
    *wall_ms = (seconds + second) * SECOND_MS + ms;
    return true;
}

const char *moment_text(struct call *call, int64_t wall_ms)
{
    char at[25];
    clock_rfc3339(wall_ms, at);
    if (!call->out_terminal)
        return words(call, "%s", at);
    int64_t away = wall_ms - clock_wall_ms();
    bool past = away <= 0;
    if (past)
        away = -away;
    for (size_t i = 0; i < 4; i++)
        if (away >= units[i].ms)
            return words(call, "%s%lld %s%s", past ? "" : "in ",
                         (long long)(away / units[i].ms), units[i].unit,
                         past ? " ago" : "");
    return "now";
}

#include "base/clock.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_us(clockid_t which)
{
    struct timespec now;
    must(clock_gettime(which, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#ifdef SANDGATE_FAULTS
static int64_t shift_us(void)
{
    static const char *path;
    static int looked;
    if (!__atomic_exchange_n(&looked, 1, __ATOMIC_RELAXED))
        __atomic_store_n(&path, getenv("SANDGATE_CLOCK_FILE"), __ATOMIC_RELAXED);
    const char *file = __atomic_load_n(&path, __ATOMIC_RELAXED);
    FILE *in = file ? fopen(file, "re") : NULL;
    long long shift_ms = 0;
    if (!in)
        return 0;
    if (fscanf(in, "%lld", &shift_ms) != 1) // NOLINT(cert-err34-c): test builds only
        shift_ms = 0;
    (void)fclose(in);
    return (int64_t)shift_ms * 1000;
}
#else
static int64_t shift_us(void)
{
    return 0;
}
#endif

int64_t clock_wall_us(void)
{
    return now_us(CLOCK_REALTIME) + shift_us();
}

int64_t clock_wall_ms(void)
{
    return clock_wall_us() / 1000;
}

int64_t clock_mono_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

void clock_rfc3339(int64_t wall_ms, char out[static 25])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    must(gmtime_r(&seconds, &utc));
    size_t size = strftime(out, 25, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + size, 25 - size, ".%03dZ", (int)(wall_ms % 1000));
}

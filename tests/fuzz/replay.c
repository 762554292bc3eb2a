/* Plays the corpus of a fuzz target once, in every build: what was found stays found.
 *
 *   fz_target FOLDER...      every file of every folder, in any order */
#include "base/buf.h"
#include "base/files.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { INPUT_MAX = 16 << 20 };

static bool play(void *context, const char *relative, const char *full)
{
    size_t *count = context;
    char error[FILES_ERROR];
    own_buf input = BUF(INPUT_MAX);
    if (!file_read(full, &input, error)) {
        (void)fprintf(stderr, "%s\n", error);
        return false;
    }
    (void)printf("%s\n", relative);
    (void)LLVMFuzzerTestOneInput((const uint8_t *)input.data, input.size);
    ++*count;
    return true;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    char error[FILES_ERROR] = "";
    for (int i = 1; i < argc; i++)
        if (!folder_walk(argv[i], "", play, &count, error)) {
            (void)fprintf(stderr, "%s\n", error);
            return 1;
        }
    (void)printf("%zu inputs\n", count);
    return count == 0;
}

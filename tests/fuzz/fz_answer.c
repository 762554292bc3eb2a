/* An answer's bytes in pieces: the same bytes at once and one by one are the same
 * answer; the caps hold; what is passed on is clean. */
#include "base/must.h"
#include "upstream/codec.h"
#include "upstream/passed.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { HEAD_CAP = 1024, BODY_CAP = 4096 };

struct reading {
    struct transfer transfer; /* `head` and `answer` */
    struct codec codec;
    bool reusable; /* before the connection ended */
};

static void take(struct reading *reading, const char *bytes, size_t size, size_t piece)
{
    *reading = (struct reading){.transfer.head = BUF(HEAD_CAP),
                                .transfer.answer = BUF(BODY_CAP)};
    struct codec *codec = &reading->codec;
    codec_start(codec, &reading->transfer.head, &reading->transfer.answer, false);
    for (size_t at = 0; at < size; at += piece)
        codec_feed(codec, bytes + at, size - at < piece ? size - at : piece);
    bool was_done = codec->state == CODEC_DONE;
    reading->reusable = was_done && codec->reusable;
    codec_end(codec);
    must(codec_finished(codec));
    must(!was_done || !codec->unframed);
}

static void check_bounds(const struct reading *reading)
{
    const struct codec *codec = &reading->codec;
    must(reading->transfer.head.size <= HEAD_CAP);
    must(reading->transfer.answer.size <= BODY_CAP);
    must((codec->state == CODEC_BROKEN) == (codec->why != NULL));
    if (codec->state != CODEC_DONE)
        return;
    must(codec->line.status >= 200 && codec->line.status <= 999);
    must(!(codec->line.chunked && codec->line.sized));
    if (codec->line.sized && codec->line.status != 204 && codec->line.status != 304)
        must(reading->transfer.answer.size == codec->line.length);
}

static void check_passed(struct reading *reading)
{
    struct transfer *transfer = &reading->transfer;
    passed_collect(transfer);
    for (size_t i = 0; i < transfer->passed_count; i++) {
        const struct header *header = &transfer->passed[i];
        must(strlen(header->name) == header->name_size);
        must(strlen(header->value) == header->value_size);
        must(strcasecmp(header->name, "Location") != 0);
        for (const char *c = header->value; *c; c++)
            must(*c >= ' ' && *c <= '~');
    }
}

static void check_same(const struct reading *a, const struct reading *b)
{
    must(a->codec.state == b->codec.state);
    must(a->codec.line.status == b->codec.line.status);
    must(a->codec.unframed == b->codec.unframed);
    must(a->reusable == b->reusable);
    must(a->codec.why == b->codec.why || strcmp(a->codec.why, b->codec.why) == 0);
    must(a->transfer.answer.size == b->transfer.answer.size
         || a->codec.state == CODEC_BROKEN);
    if (a->codec.state == CODEC_DONE && a->transfer.answer.size)
        must(memcmp(a->transfer.answer.data, b->transfer.answer.data,
                    a->transfer.answer.size)
             == 0);
}

static void drop(struct reading *reading)
{
    buf_free(&reading->transfer.head);
    buf_free(&reading->transfer.answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole, bytewise, cut;
    const char *bytes = (const char *)data;
    take(&whole, bytes, size, size + 1);
    take(&bytewise, bytes, size, 1);
    take(&cut, bytes, size, size ? data[size - 1] % 61 + 1 : 1);
    check_same(&whole, &bytewise);
    check_same(&whole, &cut);
    check_bounds(&whole);
    check_bounds(&bytewise);
    if (whole.codec.state == CODEC_DONE)
        check_passed(&whole);
    drop(&whole);
    drop(&bytewise);
    drop(&cut);
    return 0;
}

#include "upstream/codec.h"

#include "base/must.h"

#include <string.h>

enum {
    INTERIM_MAX = 16,
    CHUNK_DIGITS = 15,       /* no overflow */
    IDLE_MAX = 64 * 1024,    /* extensions and trailers of one answer */
    HEAD_USUAL = 1000,       /* one allocation for most */
    RESERVE_MAX = 64 * 1024, /* a claimed length is believed so far only */
};

static const char too_large[] = "the answer is larger than allowed";
static const char too_large_head[] = "the answer's headers are larger than allowed";

static size_t broken(struct codec *codec, const char *why)
{
    codec->state = CODEC_BROKEN;
    codec->reusable = false;
    codec->why = why;
    return 0;
}

static void done(struct codec *codec)
{
    codec->state = CODEC_DONE;
}

/* ---- the section above the body ---- */

static bool has_no_body(const struct codec *codec)
{
    int status = codec->line.status;
    return codec->bodyless || status == 204 || status == 304;
}

/* Whoever frames a body that cannot be may well send it: trust nothing after it. */
static void end_without_body(struct codec *codec)
{
    if (!codec->bodyless && codec->line.status == 204
        && (codec->line.chunked || codec->line.length))
        codec->reusable = false;
    done(codec);
}

static void begin_length(struct codec *codec)
{
    codec->left = codec->line.length;
    if (codec->left > codec->body->cap) {
        broken(codec, too_large);
        return;
    }
    codec->state = CODEC_LENGTH;
    size_t first = codec->left < RESERVE_MAX ? (size_t)codec->left : RESERVE_MAX;
    if (!buf_reserve(codec->body, first))
        broken(codec, "no memory for the answer");
    else if (codec->left == 0)
        done(codec);
}

static void begin_chunk_size(struct codec *codec)
{
    codec->state = CODEC_CHUNK_SIZE;
    codec->left = 0;
    codec->digits = 0;
}

static void begin_body(struct codec *codec)
{
    codec->reusable = !codec->line.http10 && !codec->line.close;
    if (has_no_body(codec)) {
        end_without_body(codec);
    } else if (codec->line.chunked) {
        begin_chunk_size(codec);
    } else if (codec->line.sized) {
        begin_length(codec);
    } else {
        codec->state = CODEC_UNTIL_CLOSE;
        codec->reusable = false;
    }
}

static void skip_interim(struct codec *codec)
{
    if (++codec->interim > INTERIM_MAX) {
        broken(codec, "too many interim answers");
        return;
    }
    buf_clear(codec->head);
    codec->line_start = 0;
    codec->state = CODEC_OPENING;
}

static void end_section(struct codec *codec)
{
    const char *why = head_complete(&codec->line);
    if (why)
        broken(codec, why);
    else if (codec->line.status < 200)
        skip_interim(codec);
    else
        begin_body(codec);
}

static void end_line(struct codec *codec)
{
    const char *line = codec->head->data + codec->line_start;
    size_t size = codec->head->size - codec->line_start;
    codec->line_start = codec->head->size;
    if (size < 2 || line[size - 2] != '\r') {
        broken(codec, "the answer has a line that does not end in CR LF");
        return;
    }
    size -= 2;
    if (size == 0 && codec->state == CODEC_HEADERS) {
        end_section(codec);
        return;
    }
    const char *why = codec->state == CODEC_STATUS
                          ? head_status_line(&codec->line, line, size)
                          : head_header_line(&codec->line, line, size);
    if (why)
        broken(codec, why);
    else
        codec->state = CODEC_HEADERS;
}

static size_t read_line(struct codec *codec, const char *bytes, size_t size)
{
    const char *feed = memchr(bytes, '\n', size);
    size_t used = feed ? (size_t)(feed - bytes) + 1 : size;
    if (!buf_add(codec->head, bytes, used))
        return broken(codec, too_large_head);
    if (feed)
        end_line(codec);
    return used;
}

/* Garbage is told before its line ends, which may be never. */
static size_t read_opening(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    if (!buf_add(codec->head, bytes, 1))
        return broken(codec, too_large_head);
    const char *why = head_opening(codec->head->data, codec->head->size);
    if (why)
        return broken(codec, why);
    if (codec->head->size == HEAD_OPENING)
        codec->state = CODEC_STATUS;
    return 1;
}

/* ---- the body ---- */

static size_t keep(struct codec *codec, const char *bytes, size_t size)
{
    return buf_add(codec->body, bytes, size) ? size : broken(codec, too_large);
}

static size_t keep_due(struct codec *codec, const char *bytes, size_t size)
{
    size_t used = keep(codec, bytes, size < codec->left ? size : (size_t)codec->left);
    codec->left -= used;
    return used;
}

static size_t read_length(struct codec *codec, const char *bytes, size_t size)
{
    size_t used = keep_due(codec, bytes, size);
    if (used && codec->left == 0)
        done(codec);
    return used;
}

static size_t read_chunk(struct codec *codec, const char *bytes, size_t size)
{
    size_t used = keep_due(codec, bytes, size);
    if (used && codec->left == 0)
        codec->state = CODEC_CHUNK_CR;
    return used;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t read_chunk_size(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    int value = hex_value(*bytes);
    if (value >= 0 && codec->digits < CHUNK_DIGITS) {
        codec->left = codec->left * 16 + (uint64_t)value;
        codec->digits++;
        return 1;
    }
    if (codec->digits == 0 || (*bytes != '\r' && *bytes != ';'))
        return broken(codec, "the answer has a malformed chunk size");
    if (codec->left > codec->body->cap - codec->body->size)
        return broken(codec, too_large);
    codec->state = *bytes == ';' ? CODEC_CHUNK_EXTENSION : CODEC_CHUNK_SIZE_END;
    return 1;
}

/* Bytes that are read past. */
static bool is_wasted(struct codec *codec, char c)
{
    return ((unsigned char)c >= 0x20 || c == '\t') && c != 0x7f
           && ++codec->idle <= IDLE_MAX;
}

static size_t read_extension(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    if (*bytes == '\r')
        codec->state = CODEC_CHUNK_SIZE_END;
    else if (!is_wasted(codec, *bytes))
        return broken(codec, "the answer has a malformed chunk extension");
    return 1;
}

static void begin_trailer(struct codec *codec)
{
    codec->state = CODEC_TRAILER;
    codec->trailer_size = 0;
    codec->before = '\0';
}

static size_t read_chunk_size_end(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    if (*bytes != '\n')
        return broken(codec, "the answer has a malformed chunk size");
    if (codec->left)
        codec->state = CODEC_CHUNK;
    else
        begin_trailer(codec);
    return 1;
}

static size_t read_chunk_cr(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    if (*bytes != '\r')
        return broken(codec, "the answer has a chunk of another size than it says");
    codec->state = CODEC_CHUNK_LF;
    return 1;
}

static size_t read_chunk_lf(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    if (*bytes != '\n')
        return broken(codec, "the answer has a chunk of another size than it says");
    begin_chunk_size(codec);
    return 1;
}

/* Trailers are read past; an empty line ends them, and the answer. */
static size_t read_trailer(struct codec *codec, const char *bytes, size_t size)
{
    (void)size;
    char c = *bytes, before = codec->before;
    codec->before = c;
    if (before == '\r') {
        if (c != '\n')
            return broken(codec, "the answer has a malformed trailer");
        if (codec->trailer_size == 0)
            done(codec);
        else
            begin_trailer(codec);
    } else if (c != '\r') {
        codec->trailer_size++;
        if (!is_wasted(codec, c))
            return broken(codec, "the answer has a malformed trailer");
    }
    return 1;
}

/* Of bytes that are there, each takes some, or breaks the answer. */
static size_t (*const readers[CODEC_DONE])(struct codec *, const char *, size_t) = {
    [CODEC_OPENING] = read_opening,
    [CODEC_STATUS] = read_line,
    [CODEC_HEADERS] = read_line,
    [CODEC_LENGTH] = read_length,
    [CODEC_UNTIL_CLOSE] = keep,
    [CODEC_CHUNK_SIZE] = read_chunk_size,
    [CODEC_CHUNK_EXTENSION] = read_extension,
    [CODEC_CHUNK_SIZE_END] = read_chunk_size_end,
    [CODEC_CHUNK] = read_chunk,
    [CODEC_CHUNK_CR] = read_chunk_cr,
    [CODEC_CHUNK_LF] = read_chunk_lf,
    [CODEC_TRAILER] = read_trailer,
};

void codec_start(struct codec *codec, struct buf *head, struct buf *body, bool bodyless)
{
    buf_clear(head);
    buf_clear(body);
    (void)buf_reserve(head, head->cap < HEAD_USUAL ? head->cap : HEAD_USUAL);
    *codec = (struct codec){.head = head, .body = body, .bodyless = bodyless};
}

void codec_feed(struct codec *codec, const char *bytes, size_t size)
{
    size_t at = 0;
    codec->began |= size > 0;
    while (at < size && !codec_finished(codec))
        at += readers[codec->state](codec, bytes + at, size - at);
    if (at < size)
        codec->reusable = false;
}

void codec_end(struct codec *codec)
{
    if (codec->state == CODEC_UNTIL_CLOSE) {
        codec->unframed = true;
        done(codec);
    } else if (!codec_finished(codec)) {
        broken(codec, codec->began ? "the connection ended within the answer"
                                   : "the connection ended before the answer");
    }
    codec->reusable = false;
}

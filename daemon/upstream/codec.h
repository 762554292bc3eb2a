/* codec: the bytes of one HTTP/1.1 answer -> status, header section and body.
 *
 * Incremental: how the bytes were cut makes no difference.  Strict: two lengths, a
 * length beside chunks, folded lines, bare line feeds, control bytes, unknown codings
 * and the like break the answer, so that nobody downstream can read it otherwise.
 * Bounded: the caps of `head` and `body` are the most it ever keeps.  Pure. */
#ifndef UPSTREAM_CODEC_H
#define UPSTREAM_CODEC_H

#include "base/buf.h"
#include "upstream/head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum codec_state {
    CODEC_OPENING, /* of an interim answer, too */
    CODEC_STATUS,
    CODEC_HEADERS,
    CODEC_LENGTH, /* in a body of `left` more bytes */
    CODEC_UNTIL_CLOSE,
    CODEC_CHUNK_SIZE,
    CODEC_CHUNK_EXTENSION,
    CODEC_CHUNK_SIZE_END,
    CODEC_CHUNK,
    CODEC_CHUNK_CR,
    CODEC_CHUNK_LF,
    CODEC_TRAILER,
    CODEC_DONE,
    CODEC_BROKEN,
};

struct codec {
    struct buf *head,
        *body; /* borrowed; `head` ends as the final section, CRLFs kept */
    enum codec_state state;
    struct head line;    /* what the section says; `line.status` is the answer's */
    bool bodyless;       /* answers HEAD */
    bool began;          /* a byte has come */
    bool unframed;       /* the body ended with the connection */
    bool reusable;       /* done, and the connection may carry another exchange */
    const char *why;     /* broken: a sentence */
    uint64_t left;       /* bytes due in this body or chunk */
    size_t line_start;   /* of the unfinished line in `head` */
    size_t digits, idle; /* of a chunk's size; spent on extensions and trailers */
    size_t trailer_size; /* of the unfinished trailer line */
    char before;         /* the last byte of a trailer */
    unsigned interim;    /* 1xx answers skipped */
};

/* Empties both buffers. */
void codec_start(struct codec *codec, struct buf *head, struct buf *body,
                 bool bodyless);

/* Bytes behind the answer are not taken and make the connection unusable. */
void codec_feed(struct codec *codec, const char *bytes, size_t size);
void codec_end(struct codec *codec); /* the peer closed, properly */

static inline bool codec_finished(const struct codec *codec)
{
    return codec->state >= CODEC_DONE;
}

#endif

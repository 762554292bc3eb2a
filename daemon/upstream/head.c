#include "upstream/head.h"

#include "base/must.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS = 18 }; /* far above any cap, and no overflow */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Tabs and bytes above ASCII are legal in a value; other controls never are. */
static bool is_clean(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *size)
{
    while (*size && is_blank((*text)[*size - 1]))
        (*size)--;
    while (*size && is_blank(**text)) {
        (*text)++;
        (*size)--;
    }
}

/* Most words differ in their first letter. */
static bool same(const char *text, size_t size, const char *word)
{
    return size && ((*text ^ *word) & ~0x20) == 0 && strlen(word) == size
           && strncasecmp(text, word, size) == 0;
}

/* ---- what a header does to the framing ---- */

static const char *read_length(struct head *head, const char *value, size_t size)
{
    if (head->sized)
        return "the answer has two Content-Length headers";
    if (size == 0 || size > LENGTH_DIGITS)
        return "the answer's Content-Length is not a length";
    head->sized = true;
    head->length = 0;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(value[i]))
            return "the answer's Content-Length is not a length";
        head->length = head->length * 10 + (uint64_t)(value[i] - '0');
    }
    return NULL;
}

static const char *read_coding(struct head *head, const char *value, size_t size)
{
    if (head->chunked || !same(value, size, "chunked"))
        return "the answer's Transfer-Encoding is not exactly chunked";
    head->chunked = true;
    return NULL;
}

static const char *read_connection(struct head *head, const char *value, size_t size)
{
    while (size) {
        const char *comma = memchr(value, ',', size);
        size_t word_size = comma ? (size_t)(comma - value) : size;
        size_t used = comma ? word_size + 1 : word_size;
        const char *word = value;
        trim(&word, &word_size);
        if (same(word, word_size, "close"))
            head->close = true;
        value += used;
        size -= used;
    }
    return NULL;
}

/* None was asked for; passing such bytes on as JSON would be a lie. */
static const char *read_content_coding(struct head *head, const char *value,
                                       size_t size)
{
    (void)head;
    return same(value, size, "identity") ? NULL : "the answer's body is encoded";
}

static const struct {
    const char *name;
    const char *(*read)(struct head *head, const char *value, size_t size);
} framing[] = {
    {"Content-Length",    read_length        },
    {"Transfer-Encoding", read_coding        },
    {"Connection",        read_connection    },
    {"Content-Encoding",  read_content_coding},
};

/* ---- lines ---- */

const char *head_opening(const char *line, size_t size)
{
    size_t due = size < HEAD_OPENING ? size : HEAD_OPENING;
    return memcmp(line, "HTTP/1.", due) == 0 ? NULL : "the answer is not HTTP/1";
}

/* "HTTP/1.1 200 OK", "HTTP/1.1 200 " or "HTTP/1.1 200". */
const char *head_status_line(struct head *head, const char *line, size_t size)
{
    enum { MINOR = HEAD_OPENING, CODE = 9, CODE_END = 12 };
    const char *why = head_opening(line, size);
    if (why)
        return why;
    if (size < CODE_END || (line[MINOR] != '0' && line[MINOR] != '1')
        || line[MINOR + 1] != ' ' || (size > CODE_END && line[CODE_END] != ' '))
        return "the answer's status line is malformed";
    int status = 0;
    for (size_t i = CODE; i < CODE_END; i++) {
        if (!is_digit(line[i]))
            return "the answer's status is not a number";
        status = status * 10 + (line[i] - '0');
    }
    if (status < 100 || status > 599) /* RFC 9110: nothing else is a status */
        return "the answer's status is out of range";
    if (!is_clean(line, size))
        return "the answer's status line has control bytes";
    *head = (struct head){.status = status, .http10 = line[MINOR] == '0'};
    return NULL;
}

static bool split(const char *line, size_t size, struct header *header)
{
    const char *colon = memchr(line, ':', size);
    if (!colon)
        return false;
    header->name = line;
    header->name_size = (size_t)(colon - line);
    header->value = colon + 1;
    header->value_size = size - header->name_size - 1;
    trim(&header->value, &header->value_size);
    return true;
}

/* A folded line begins with a blank, so its "name" is no token. */
const char *head_header_line(struct head *head, const char *line, size_t size)
{
    struct header header;
    if (!split(line, size, &header) || !text_is_token(line, header.name_size))
        return "the answer has a header whose name is not a token";
    if (!is_clean(header.value, header.value_size))
        return "the answer has a header with control bytes";
    for (size_t i = 0; i < COUNT(framing); i++)
        if (head_same_name(&header, framing[i].name))
            return framing[i].read(head, header.value, header.value_size);
    return NULL;
}

const char *head_complete(const struct head *head)
{
    if (head->status == 101)
        return "the answer switches protocols";
    if (head->chunked && head->sized)
        return "the answer has both Content-Length and Transfer-Encoding";
    if (head->chunked && head->http10)
        return "the answer is chunked in HTTP/1.0";
    return NULL;
}

bool head_same_name(const struct header *header, const char *name)
{
    return same(header->name, header->name_size, name);
}

static size_t line_end(const struct buf *section, size_t at)
{
    const char *end = memchr(section->data + at, '\n', section->size - at);
    return end ? (size_t)(end - section->data) + 1 : section->size;
}

bool head_next(struct buf *section, size_t *at, struct header *header)
{
    if (*at == 0 && section->size)
        *at = line_end(section, 0);
    size_t start = *at;
    if (start >= section->size)
        return false;
    *at = line_end(section, start);
    if (*at - start <= 2 || !split(section->data + start, *at - start - 2, header))
        return false;
    size_t value_at = (size_t)(header->value - section->data);
    section->data[start + header->name_size] = '\0';
    section->data[value_at + header->value_size] = '\0';
    return true;
}

#include "upstream/client.h"

#include "base/must.h"
#include "base/text.h"

#include <curl/curl.h>
#include <string.h>

enum { CONNECT_MS = 10000 };

struct answer {
    const struct client_call *call;
    struct buf *bytes;
    bool whole;   /* the empty line below the final headers has come */
    bool stopped; /* by the caller's `chunk` */
};

static size_t take_header(char *line, size_t one, size_t size, void *user)
{
    struct answer *answer = user;
    (void)one;
    if (size >= 5 && memcmp(line, "HTTP/", 5) == 0)
        answer->whole = false; /* the one before was an interim answer */
    else if (size == 2 && memcmp(line, "\r\n", 2) == 0)
        answer->whole = true;
    return size;
}

static size_t take_body(char *bytes, size_t one, size_t size, void *user)
{
    struct answer *answer = user;
    const struct client_call *call = answer->call;
    (void)one;
    if (!call->chunk)
        return buf_add(answer->bytes, bytes, size) ? size : 0;
    answer->stopped = !call->chunk(call->context, bytes, size);
    return answer->stopped ? 0 : size;
}

/* libcurl would pass a line break in a header or a method on as it is. */
static bool is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool add_line(struct curl_slist **lines, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*lines, line);
    if (longer)
        *lines = longer;
    return longer && is_one_line(line);
}

static bool add_headers(const struct client_call *call, struct curl_slist **lines)
{
    bool good = add_line(lines, "Expect:"); /* a second's wait for nothing */
    if (call->body)
        good = good && add_line(lines, "Content-Type: application/json");
    for (size_t i = 0; call->headers && call->headers[i]; i++)
        good = good && add_line(lines, call->headers[i]);
    return good;
}

static bool set(CURL *easy, CURLoption option, const void *value)
{
    return !curl_easy_setopt(easy, option, value);
}

static bool set_long(CURL *easy, CURLoption option, int64_t value)
{
    return !curl_easy_setopt(easy, option, (long)value);
}

static bool set_request(CURL *easy, const struct client_call *call)
{
    bool good = is_one_line(call->method) && set(easy, CURLOPT_URL, call->url)
                && set(easy, CURLOPT_UNIX_SOCKET_PATH, call->socket)
                && set(easy, CURLOPT_PROXY, "")
                && set(easy, CURLOPT_PROTOCOLS_STR, "http,https")
                && set_long(easy, CURLOPT_PATH_AS_IS, 1)
                && set_long(easy, CURLOPT_NOSIGNAL, 1)
                && set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS)
                && set_long(easy, CURLOPT_TIMEOUT_MS, call->timeout_ms);
    if (call->body)
        good = good && set(easy, CURLOPT_POSTFIELDS, call->body)
               && set_long(easy, CURLOPT_POSTFIELDSIZE, (int64_t)strlen(call->body));
    if (text_same(call->method, "HEAD"))
        good = good && set_long(easy, CURLOPT_NOBODY, 1);
    return good && set(easy, CURLOPT_CUSTOMREQUEST, call->method);
}

static bool set_answer(CURL *easy, struct answer *answer)
{
    return !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header)
           && set(easy, CURLOPT_HEADERDATA, answer)
           && !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body)
           && set(easy, CURLOPT_WRITEDATA, answer);
}

/* ---- in words ---- */

static const struct {
    CURLcode code;
    const char *format; /* of the place */
} failures[] = {
    {CURLE_COULDNT_CONNECT,          "cannot connect to %s: is sandgated running?" },
    {CURLE_COULDNT_RESOLVE_HOST,     "the host of %s is not known"                 },
    {CURLE_OPERATION_TIMEDOUT,       "%s did not answer in time"                   },
    {CURLE_URL_MALFORMAT,            "%s is not an http or https URL"              },
    {CURLE_UNSUPPORTED_PROTOCOL,     "%s does not speak HTTP"                      },
    {CURLE_PEER_FAILED_VERIFICATION, "the certificate of %s could not be verified" },
    {CURLE_GOT_NOTHING,              "%s closed the connection without an answer"  },
    {CURLE_RECV_ERROR,               "the connection to %s broke"                  },
    {CURLE_SEND_ERROR,               "the connection to %s broke"                  },
    {CURLE_PARTIAL_FILE,             "the answer of %s was cut short"              },
    {CURLE_WRITE_ERROR,              "the answer of %s is larger than expected"    },
    {CURLE_OUT_OF_MEMORY,            "no memory for a call to %s"                  },
    {CURLE_BAD_FUNCTION_ARGUMENT,    "the call to %s has a control character in it"},
    {CURLE_WEIRD_SERVER_REPLY,       "%s does not speak HTTP"                      },
};

/* `os` is the system's reason for a refused connection, or 0. */
static void explain(CURLcode code, long os, const struct client_call *call,
                    char error[static 256])
{
    const char *place = call->socket ? call->socket : call->url;
    const char *reason = os ? strerrordesc_np((int)os) : NULL;
    (void)text_format(error, 256, "%s: %s", place, curl_easy_strerror(code));
    for (size_t i = 0; i < COUNT(failures); i++)
        if (failures[i].code == code)
            (void)text_format(error, 256, failures[i].format, place);
    if (code == CURLE_COULDNT_CONNECT && reason)
        (void)text_format(error, 256,
                          "cannot connect to %s (%s): is sandgated running?", place,
                          reason);
}

static CURLcode perform(CURL *easy, const struct client_call *call,
                        struct answer *answer, struct curl_slist **lines)
{
    if (!text_starts(call->url, "http://") && !text_starts(call->url, "https://"))
        return CURLE_URL_MALFORMAT;
    if (!set_request(easy, call) || !set_answer(easy, answer)
        || !add_headers(call, lines) || !set(easy, CURLOPT_HTTPHEADER, *lines))
        return CURLE_BAD_FUNCTION_ARGUMENT;
    CURLcode code = curl_easy_perform(easy);
    if (code == CURLE_WRITE_ERROR && answer->stopped)
        return CURLE_OK;
    return code == CURLE_OK && !answer->whole ? CURLE_PARTIAL_FILE : code;
}

int client_call(const struct client_call *call, struct buf *answer,
                char error[static 256])
{
    struct answer taking = {.call = call, .bytes = answer};
    struct curl_slist *lines = NULL;
    must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    CURL *easy = curl_easy_init();
    must(easy);
    error[0] = '\0';
    CURLcode code = perform(easy, call, &taking, &lines);
    long status = 0, os = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os);
    if (code != CURLE_OK)
        explain(code, os, call, error);
    curl_easy_cleanup(easy);
    curl_slist_free_all(lines);
    curl_global_cleanup();
    return code == CURLE_OK ? (int)status : 0;
}

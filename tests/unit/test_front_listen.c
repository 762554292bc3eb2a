#include "test_front_rig.h"

#include <sys/stat.h>

#define HOST "Host: a\r\n"

TEST(unix_sockets_tell_who_calls)
{
    char folder[] = "/tmp/front-XXXXXX", path[64], expected[64];
    struct stat status;
    struct rig rig;
    own_buf out = BUF(RIG_BODY_MAX);
    NOT_NULL(mkdtemp(folder));
    OK(text_format(path, sizeof(path), "%s/s", folder));
    for (int round = 0; round < 2; round++) { /* the second finds a stale one */
        rig_start(&rig, path, (struct front_config){0},
                  (struct listener){.kind = LISTEN_ADMIN, .connections_max = 10});
        EQ_TEXT(rig.address, path);
        OK(stat(path, &status) == 0);
        EQ_INT(status.st_mode & 0777, 0660);
        EQ_INT(rig_ask(&rig, "GET /later HTTP/1.1\r\n" HOST "\r\n", 32, &out), 200);
        OK(text_format(expected, sizeof(expected), "|admin ip= uid=%u|", getuid()));
        HAS_TEXT(out.data, expected);
        rig_stop(&rig);
    }
    (void)unlink(path);
    (void)rmdir(folder);
}

static bool has_v6(void)
{
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6,
                                    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0
               && bind(fd, (struct sockaddr *)(void *)&loopback, sizeof(loopback)) == 0;
    (void)close(fd);
    return has;
}

TEST(a_mapped_address_is_the_address_itself)
{
    struct rig rig;
    own_buf out = BUF(RIG_BODY_MAX);
    if (!has_v6())
        return;
    rig_start(&rig, "[::]:0", (struct front_config){0},
              (struct listener){.kind = LISTEN_AGENTS, .connections_max = 10});
    EQ_INT(rig_ask(&rig, "GET /now HTTP/1.1\r\n" HOST "\r\n", 30, &out), 200);
    HAS_TEXT(out.data, "|agents ip=127.0.0.1 uid=-1|");
    rig_stop(&rig);
}

TEST(addresses_are_read_strictly)
{
    static const struct {
        const char *address, *error;
    } cases[] = {
        {"127.0.0.1:0",                                       NULL            },
        {"[::1]:0",                                           NULL            },
        {"127.0.0.1",                                         "not an address"},
        {"127.0.0.1:",                                        "not an address"},
        {"127.0.0.1:65536",                                   "not an address"},
        {"127.0.0.1:+1",                                      "not an address"},
        {"127.1:80",                                          "not an address"},
        {"localhost:80",                                      "not an address"},
        {"[::1:80",                                           "not an address"},
        {"[::1]80",                                           "not an address"},
        {"::1:80",                                            "not an address"},
        {"",                                                  "not an address"},
        {"192.0.2.1:80",                                      "Cannot assign" },
        {"/nowhere/at/all",                                   "No such file"  },
        {"/tmp/0123456789012345678901234567890123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789", "not an address"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char error[FRONT_ERROR] = "", address[128];
        CASE("%s", cases[i].address);
        if (!cases[i].error && cases[i].address[0] == '[' && !has_v6())
            continue;
        int fd = front_listen(cases[i].address, error);
        EQ_INT(fd >= 0, cases[i].error == NULL);
        if (cases[i].error) {
            HAS_TEXT(error, cases[i].error);
            continue;
        }
        front_address(fd, address);
        NOT(text_ends(address, ":0"));
        int again = front_listen(address, error);
        EQ_INT(again, -1);
        HAS_TEXT(error, "in use");
        (void)close(fd);
    }
}

/* config: sandgate.json as a struct, by the table in config.def.
 *
 * One JSON file, nested by the dots of the option names; comments do not exist, unknown
 * members are errors that name the place. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONFIG_TEXT = 256, CONFIG_ERROR = 512 };

struct config {
#define TEXT(path, name, otherwise, least, most, help) char name[CONFIG_TEXT];
#define NUMBER(path, name, otherwise, least, most, help) int64_t name;
#include "config.def"
#undef TEXT
#undef NUMBER
};

/* False: `error` names file, option and what would be right. */
bool config_read(const char *file, struct config *config,
                 char error[static CONFIG_ERROR]);

void config_help(void); /* every option, its default and its help, on stdout */

#endif

/* reader: the thread with the read-only connection.  Private to store/. */
#ifndef STORE_LANE_READER_H
#define STORE_LANE_READER_H

#include "store/db.h"

bool reader_start(const char *path, char *error);
void reader_stop(void);

/* Looks at the newest data from here on: for long walks through what only grows. */
void reader_refresh(struct db *db);

#endif

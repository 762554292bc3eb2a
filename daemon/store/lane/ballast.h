/* ballast: room on the disk that is given up when nothing else is left, so that what
 * was sent already can still be recorded.  Private to store/; STORE writer lane. */
#ifndef STORE_LANE_BALLAST_H
#define STORE_LANE_BALLAST_H

#include <stdbool.h>

bool ballast_make(const char *folder); /* false: the disk has no such room */
bool ballast_spare(
    const char *folder); /* some room besides: or it is full at once again */
void ballast_drop(const char *folder);

#endif

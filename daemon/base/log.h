/* log: one line a fact, on stderr, for the operator.  Any thread.
 *
 * Not the audit log (core/tlog, store/log).  `event` is a constant; the rest is
 * key=value written by a printf format.  Values that others control go through
 * text_escape first.  Never pass a secret. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_level_set(enum log_level level);
void log_line(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(event, ...) log_line(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) log_line(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...) log_line(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) log_line(LOG_DEBUG, event, __VA_ARGS__)

#endif

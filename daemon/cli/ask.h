/* ask: questions to the person at the terminal, and secrets from wherever they come.
 *
 * Without a terminal, or with --no-input, nothing is asked: a question is then answered
 * by its flag or refused. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "base/buf.h"
#include "cli/command.h"

/* DONE for yes; --yes says it beforehand.  Else told, and an exit_code. */
int ask_yes(struct call *call, const char *question);

/* A line typed at the prompt, in the arena; NULL when there is none. */
const char *ask_line(struct call *call, const char *question);

/* From the file of flag `file_flag`, from a prompt without echo, or from stdin when it
 * is no terminal.  One line; the caller wipes the buf.  Told when not DONE. */
int ask_secret(struct call *call, const char *file_flag, const char *question,
               struct buf *secret);

#endif

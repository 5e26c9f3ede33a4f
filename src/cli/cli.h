/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the commands share: their table, exit statuses, messages. Only this layer prints or exits.
 */
#ifndef BLKBOX_CLI_CLI_H
#define BLKBOX_CLI_CLI_H

#include "why.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/** Exit statuses of every command. */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_INCOMPLETE = 3, /* done, but events were dropped, or the log is cut off or damaged */
};

/** A sub-command; argv[0] is its own name. Returns the exit status. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

int cmd_check(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stall(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_taskio(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/** "blkbox: TEXT" on stderr. */
void message(const char *format, ...) _printf_(1, 2);
/** Formatted text that may have names of files, devices or processes in it, safe for a terminal. */
void put_safely(FILE *stream, const char *format, ...) _printf_(2, 3);
void put_safely_v(FILE *stream, const char *format, va_list args) _printf_(2, 0);
/** A line: @text, which may have names from a log in it, safe for a terminal. */
void put_sentence(FILE *stream, const char *text);
/** "blkbox COMMAND: SENTENCE" from @why on stderr, and STATUS_FAILED back. */
int failed(const char *command, const struct why *why);
/** "blkbox COMMAND: TEXT" and where to find help; STATUS_USAGE back. */
int usage_error(const char *command, const char *format, ...) _printf_(2, 3);

/**
 * Standard output failed with @error (0: not known): says so, but nothing where it is a pipe whose
 * reader has gone (`| head`). STATUS_FAILED back. @command: may be NULL.
 */
int stdout_failed(const char *command, int error);
/** failed(), for what may go to a file or (@output NULL or "-") to standard output as above. */
int output_failed(const char *command, const char *output, int error, const struct why *why);

/**
 * Flushes and closes stdout: a full disk or a closed pipe is an error, not a silently short result.
 * Returns @status, or STATUS_FAILED (as stdout_failed()) if it was STATUS_OK or STATUS_INCOMPLETE.
 */
int close_stdout(const char *command, int status);
/** For atexit(3): the same for what argp prints before it exits. */
void check_stdout_at_exit(void);

/**
 * Writes out what is left in @out, which goes to standard output.
 * Returns @status, or STATUS_FAILED as close_stdout() does.
 */
struct out;
int finish_out(const char *command, struct out *out, int status);

struct argp;
struct argp_state;
/** The argument of -o, which must not be empty (exits with STATUS_USAGE if it is). */
char *output_argument(char *argument, struct argp_state *state);

/**
 * argp_parse() with this program's habits: "blkbox COMMAND" in its messages, --help and --version.
 * Exits with STATUS_USAGE when the arguments are wrong, with 0 after --help and --version.
 */
void parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

#endif

/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "out.h"

#include <argp.h>
#include <stdarg.h>
#include <string.h>

void message(const char *format, ...)
{
	va_list args;

	fputs("blkbox: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int failed(const char *command, const struct why *why)
{
	fprintf(stderr, "blkbox %s: %s\n", command, why->text);
	return STATUS_FAILED;
}

int usage_error(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "blkbox %s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'blkbox %s --help'.\n", command);
	return STATUS_USAGE;
}

int close_stdout(const char *command, int status)
{
	bool bad = ferror(stdout);
	int error = 0;

	errno = 0;
	if (fclose(stdout) != 0) {
		bad = true;
		error = errno;
	}
	if (!bad)
		return status;
	fprintf(stderr, "blkbox %s: cannot write to standard output%s%s\n", command,
		error ? ": " : "", error ? strerror(error) : "");
	return status == STATUS_OK || status == STATUS_INCOMPLETE ? STATUS_FAILED : status;
}

int finish_out(const char *command, struct out *out, int status)
{
	int r = out_flush(out);

	if (r == 0)
		return status;
	fprintf(stderr, "blkbox %s: cannot write to standard output: %s\n", command, strerror(-r));
	return status == STATUS_OK || status == STATUS_INCOMPLETE ? STATUS_FAILED : status;
}

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "blkbox %s\n", BLKBOX_VERSION);
}

void parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	_cleanup_free_ char *name = NULL;
	char *plain_name = argv[0];

	/* argp prints argv[0] in front of messages and usage. */
	if (asprintf(&name, "blkbox %s", argv[0]) < 0)
		exit(STATUS_FAILED);
	argv[0] = name;
	program_invocation_name = name;
	program_invocation_short_name = name;
	argp_program_version_hook = print_version;
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(argp, argc, argv, flags, NULL, input);
	argv[0] = plain_name;
	/* @name goes out of scope. */
	program_invocation_name = plain_name;
	program_invocation_short_name = plain_name;
}

/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "cleanup.h"
#include "escape.h"
#include "out.h"

#include <argp.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

/* Lines stay lines; all else that a terminal would act upon is escaped. */
static void put_escaped(FILE *stream, const char *text)
{
	const char *end = text + strlen(text);

	while (text < end) {
		char piece[ESCAPE_NEXT_MAX];

		if (*text == '\n')
			putc(*text++, stream);
		else
			fwrite(piece, 1, escape_next(piece, &text, (size_t)(end - text)), stream);
	}
}

void put_safely_v(FILE *stream, const char *format, va_list args)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = strdup("out of memory");
	if (text)
		put_escaped(stream, text);
}

void put_safely(FILE *stream, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_safely_v(stream, format, args);
	va_end(args);
}

void message(const char *format, ...)
{
	va_list args;

	fputs("blkbox: ", stderr);
	va_start(args, format);
	put_safely_v(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void put_sentence(FILE *stream, const char *text)
{
	put_escaped(stream, text);
	putc('\n', stream);
}

int failed(const char *command, const struct why *why)
{
	fprintf(stderr, "blkbox %s: ", command);
	put_sentence(stderr, why->text);
	return STATUS_FAILED;
}

int usage_error(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "blkbox %s: ", command);
	va_start(args, format);
	put_safely_v(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'blkbox %s --help'.\n", command);
	return STATUS_USAGE;
}

/* A pipe that nobody reads any more. @error: 0 if it is not known. */
static bool is_reader_gone(int error)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (error)
		return error == -EPIPE;
	return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

int stdout_failed(const char *command, int error)
{
	if (!is_reader_gone(error))
		fprintf(stderr, "blkbox%s%s: cannot write to standard output%s%s\n",
			command ? " " : "", command ? command : "", error ? ": " : "",
			error ? strerror(-error) : "");
	return STATUS_FAILED;
}

int output_failed(const char *command, const char *output, int error, const struct why *why)
{
	bool is_stdout = !output || !strcmp(output, "-");

	return is_stdout && error == -EPIPE ? STATUS_FAILED : failed(command, why);
}

/* STATUS_USAGE is not outdone. */
static int with_lost_output(const char *command, int status, int error)
{
	int lost = stdout_failed(command, error);

	return status == STATUS_OK || status == STATUS_INCOMPLETE ? lost : status;
}

int close_stdout(const char *command, int status)
{
	bool bad = ferror(stdout);
	int error = 0;

	if (fflush(stdout) != 0 || close(STDOUT_FILENO) < 0) {
		bad = true;
		error = -errno;
	}
	/* For check_stdout_at_exit(): it has been told. */
	clearerr(stdout);
	return bad ? with_lost_output(command, status, error) : status;
}

void check_stdout_at_exit(void)
{
	int error = fflush(stdout) != 0 ? -errno : 0;

	if (error || ferror(stdout))
		_exit(stdout_failed(NULL, error));
}

int finish_out(const char *command, struct out *out, int status)
{
	int r = out_flush(out);

	return r < 0 ? with_lost_output(command, status, r) : status;
}

char *output_argument(char *argument, struct argp_state *state)
{
	if (!*argument)
		argp_error(state, "-o: the name of the output is empty");
	return argument;
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

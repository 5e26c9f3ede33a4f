/* SPDX-License-Identifier: MIT */
#include "record_output.h"

#include <string.h>
#include <sys/stat.h>

/* Makes a directory and those above it. Somebody else may make them at the same moment. */
static int make_directory(const char *path, struct why *why)
{
	_cleanup_free_ char *copy = strdup(path);

	if (!copy)
		return why_errno(why, -ENOMEM, "cannot make the directory %s", path);
	for (char *slash = copy + 1;; slash++) {
		char end = *slash;

		if (end != '/' && end != '\0')
			continue;
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return why_errno(why, -errno, "cannot make the directory %s", copy);
		*slash = end;
		if (!end)
			return 0;
	}
}

/* "sda.blkbox", "sda+sdb.blkbox"; a '/' in a kernel name becomes '!', as in sysfs. */
static int default_name(const struct session *session, char **ret)
{
	const struct block_device *devices;
	size_t n = session_devices(session, &devices);
	size_t size = 0;
	FILE *out = open_memstream(ret, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc('+', out);
		for (const char *c = devices[i].name; *c; c++)
			fputc(*c == '/' ? '!' : *c, out);
	}
	fputs(".blkbox", out);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

static int output_path(const struct record_args *args, const struct session *session, char **ret,
		       struct why *why)
{
	_cleanup_free_ char *name = NULL;
	int r = 0;

	if (args->output)
		name = strdup(args->output);
	else
		r = default_name(session, &name);
	if (r < 0 || !name)
		return why_errno(why, -ENOMEM, "cannot name the output");
	if (!args->directory) {
		*ret = take_ptr(name);
		return 0;
	}
	r = make_directory(args->directory, why);
	if (r < 0)
		return r;
	if (asprintf(ret, "%s/%s", args->directory, name) < 0)
		return why_errno(why, -ENOMEM, "cannot name the output");
	return 0;
}

static int open_log(struct record_output *output, const struct record_args *args, const char *path,
		    struct why *why)
{
	struct log_sink_options options = {
		.compress = args->compress,
		.force = args->session.force,
	};
	int r = log_sink_create(path, &options, &output->log, why);

	if (r < 0)
		return r;
	output->sink = log_sink_span_sink(output->log);
	return 0;
}

int record_output_open(struct record_output *output, const struct record_args *args,
		       const struct session *session, struct why *why)
{
	_cleanup_free_ char *path = NULL;
	int r = output_path(args, session, &path, why);

	if (r < 0)
		return r;
	return open_log(output, args, path, why);
}

void record_output_discard(struct record_output *output)
{
	if (output->log)
		log_sink_discard(output->log);
}

void record_output_deinit(struct record_output *output)
{
	log_sink_destroy(output->log);
}

const char *record_output_name(const struct record_output *output)
{
	return output->log ? log_sink_path(output->log) : "standard output";
}

uint64_t record_output_bytes(const struct record_output *output)
{
	return output->log ? log_sink_file_bytes(output->log) : 0;
}

/* So that a shell gives the same words back. */
static void put_quoted(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void put_words(FILE *out, const char *key, char *const *words, size_t n)
{
	fprintf(out, "%s=", key);
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc(' ', out);
		put_quoted(out, words[i]);
	}
	fputc('\0', out);
}

int record_meta(const struct record_args *args, int argc, char **argv, char **ret,
		size_t *ret_bytes, struct why *why)
{
	FILE *out = open_memstream(ret, ret_bytes);
	size_t n = 0;

	if (!out)
		return why_errno(why, -ENOMEM, "cannot describe the recording");
	put_words(out, "arguments", argv, (size_t)argc);
	while (args->command && args->command[n])
		n++;
	if (n)
		put_words(out, "command", args->command, n);
	return fclose(out) == 0 ? 0 : why_errno(why, -ENOMEM, "cannot describe the recording");
}

/* SPDX-License-Identifier: MIT */
#include "record_output.h"

#include "files_sink.h"
#include "live_sink.h"
#include "output.h"

#include <string.h>

/* Makes a directory and those above it. Somebody else may make them at the same moment. */
static int make_directory(const char *path, struct why *why)
{
	_cleanup_free_ char *copy = strdup(path);
	int r;

	if (!copy)
		return why_errno(why, -ENOMEM, "cannot make the directory %s", path);
	for (char *slash = copy;; slash++) {
		char end = *slash;

		if ((end != '/' && end != '\0') || (end && slash == copy))
			continue;
		*slash = '\0';
		r = output_make_directory(copy, why);
		if (r < 0)
			return r;
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

/* -D in front of @name, which may be NULL for the directory itself. The directory is made. */
static int in_directory(const struct record_args *args, const char *name, char **ret,
			struct why *why)
{
	int r;

	if (!args->directory) {
		*ret = name ? strdup(name) : NULL;
		return name && !*ret ? why_errno(why, -ENOMEM, "cannot name the output") : 0;
	}
	r = make_directory(args->directory, why);
	if (r < 0)
		return r;
	if (asprintf(ret, "%s/%s", args->directory, name ? name : "") < 0)
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

static int open_files(struct record_output *output, const char *base, bool force, struct why *why)
{
	struct blktrace_files *files;
	int r = blktrace_files_create(base, force, &files);

	if (r >= 0)
		r = files_sink_adopt_create(files, &output->files);
	if (r < 0)
		return why_errno(why, r, "cannot write blktrace files");
	output->sink = files_sink_span_sink(output->files);
	return 0;
}

/* @base is used only for files. */
static int open_live(struct record_output *output, const struct record_args *args, const char *base,
		     struct why *why)
{
	struct blktrace_files *files;
	struct sink *sink;
	int r = live_sink_create(&output->live);

	output->to_stdout = record_output_is_stdout(args);
	if (r >= 0 && args->format == RECORD_TEXT) {
		live_sink_set_filter(output->live, args->filter);
		live_sink_scene(output->live, &output->scene);
		r = text_sink_create(STDOUT_FILENO, &args->text, &output->scene, &sink);
	} else if (r >= 0 && args->format == RECORD_STREAM) {
		r = blktrace_stream_create(STDOUT_FILENO, args->protocol, &output->counts, &sink);
	} else if (r >= 0) {
		r = blktrace_files_create(base, args->session.force, &files);
		if (r >= 0)
			r = blktrace_split_create(files, args->protocol, live_sink_device_name,
						  output->live, &output->counts, &sink);
		if (r >= 0)
			output->split = files;
	}
	if (r < 0)
		return why_errno(why, r, "cannot write the events");
	live_sink_adopt_output(output->live, sink);
	output->sink = live_sink_span_sink(output->live);
	return 0;
}

bool record_output_is_stdout(const struct record_args *args)
{
	return args->format == RECORD_STREAM || args->format == RECORD_TEXT;
}

bool record_output_is_live(const struct record_args *args)
{
	return record_output_is_stdout(args) || (args->format == RECORD_BLKTRACE && args->protocol);
}

static int open_blktrace(struct record_output *output, const struct record_args *args,
			 struct why *why)
{
	_cleanup_free_ char *base = NULL;
	int r = in_directory(args, args->output, &base, why);

	if (r < 0)
		return r;
	if (args->output && args->session.n_devices > 1)
		return why_set(why, -EINVAL,
			       "several devices cannot be written under the one name %s: leave -o "
			       "away (the files are named after the devices) and use -D",
			       args->output);
	return args->protocol ? open_live(output, args, base, why)
			      : open_files(output, base, args->session.force, why);
}

int record_output_open(struct record_output *output, const struct record_args *args,
		       const struct session *session, struct why *why)
{
	_cleanup_free_ char *name = NULL, *path = NULL;
	int r;

	if (record_output_is_stdout(args))
		return open_live(output, args, NULL, why);
	if (args->format == RECORD_BLKTRACE)
		return open_blktrace(output, args, why);
	if (!args->output && default_name(session, &name) < 0)
		return why_errno(why, -ENOMEM, "cannot name the output");
	r = in_directory(args, args->output ? args->output : name, &path, why);
	return r < 0 ? r : open_log(output, args, path, why);
}

void record_output_discard(struct record_output *output)
{
	if (output->log)
		log_sink_discard(output->log);
	if (output->files)
		files_sink_discard(output->files);
	output->split = NULL;
}

void record_output_deinit(struct record_output *output)
{
	log_sink_destroy(output->log);
	files_sink_destroy(output->files);
	/* A recording that failed on the way keeps what it has. */
	if (output->split)
		blktrace_files_keep(output->split);
	live_sink_destroy(output->live);
}

const char *record_output_name(const struct record_output *output)
{
	if (output->log)
		return log_sink_path(output->log);
	return output->to_stdout ? "standard output" : "blktrace files";
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

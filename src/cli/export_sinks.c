/* SPDX-License-Identifier: MIT */
#include "export.h"

#include "aside.h"
#include "cli.h"
#include "ctf.h"
#include "perfetto.h"
#include "reading.h"
#include "sqlite.h"
#include "rows.h"

#include <string.h>

/* Makes a sink of one of the formats that are one stream of bytes. */
typedef int (*stream_create)(int fd, const struct scene *scene, const struct recording *recording,
			     struct sink **ret);

static int write_to(int fd, stream_create create, const struct export_options *options,
		    struct recording *recording, struct why *why)
{
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct scene scene;
	int r;

	scene_init_recording(&scene, recording);
	scene.filter = &options->filter;
	r = create(fd, &scene, recording, &sink);
	if (r < 0)
		return why_set(why, r, "no memory");
	return export_events(options, recording, sink, why);
}

static int write_stream(stream_create create, const struct export_options *options,
			struct recording *recording, struct why *why)
{
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	int r;

	if (!options->output || !strcmp(options->output, "-"))
		return write_to(STDOUT_FILENO, create, options, recording, why);
	r = reading_open_aside(recording, options->output, options->force, &aside, why);
	if (r == 0)
		r = write_to(aside.fd, create, options, recording, why);
	if (r == 0)
		r = aside_commit(&aside, options->force, why);
	return r;
}

static int export_stream(stream_create create, const struct export_options *options,
			 struct recording *recording)
{
	struct why why = {""};

	int r = write_stream(create, options, recording, &why);

	return r < 0 ? output_failed("export", options->output, r, &why) : STATUS_OK;
}

int export_jsonl(const struct export_options *options, struct recording *recording)
{
	return export_stream(jsonl_sink_create, options, recording);
}

int export_csv(const struct export_options *options, struct recording *recording)
{
	return export_stream(csv_sink_create, options, recording);
}

int export_perfetto(const struct export_options *options, struct recording *recording)
{
	return export_stream(perfetto_sink_create, options, recording);
}

static bool has_path(const struct export_options *options)
{
	return options->output && strcmp(options->output, "-") != 0;
}

static int write_ctf(const struct export_options *options, struct recording *recording,
		     struct why *why)
{
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct scene scene;
	int r;

	scene_init_recording(&scene, recording);
	scene.filter = &options->filter;
	r = ctf_sink_create(options->output, options->force, &scene, recording, &sink, why);
	return r < 0 ? r : export_events(options, recording, sink, why);
}

int export_ctf(const struct export_options *options, struct recording *recording)
{
	struct why why = {""};

	if (!has_path(options))
		return usage_error("export", "--format ctf is a folder; give its name with -o");
	if (write_ctf(options, recording, &why) < 0)
		return failed("export", &why);
	return STATUS_OK;
}

static int write_database(const char *path, const struct export_options *options,
			  struct recording *recording, struct why *why)
{
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct scene scene;
	int r;

	scene_init_recording(&scene, recording);
	scene.filter = &options->filter;
	r = sqlite_sink_create(path, &scene, recording, &sink, why);
	return r < 0 ? r : export_events(options, recording, sink, why);
}

static int write_sqlite(const struct export_options *options, struct recording *recording,
			struct why *why)
{
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	int r = reading_open_aside(recording, options->output, options->force, &aside, why);

	if (r < 0)
		return r;
	if (!aside.part)
		return why_set(why, -EINVAL, "%s is no regular file", options->output);
	r = write_database(aside.part, options, recording, why);
	return r < 0 ? r : aside_commit(&aside, options->force, why);
}

int export_sqlite(const struct export_options *options, struct recording *recording)
{
	struct why why = {""};

	if (!has_path(options))
		return usage_error("export", "--format sqlite is a file; give its name with -o");
	if (write_sqlite(options, recording, &why) < 0)
		return failed("export", &why);
	return STATUS_OK;
}

/* SPDX-License-Identifier: MIT */
#include "blktrace_files.h"

#include "aside.h"
#include "blktrace_set.h"
#include "input.h"
#include "out.h"

enum {
	HOLES_MAX = 256 /* each is an open file; a hand-made record may name any CPU */
};

struct file {
	struct aside aside;
	struct out out;
	char *device;
	uint32_t cpu;
};

struct blktrace_files {
	char *base;
	bool force;
	blktrace_may_write may_write; /* may be NULL */
	const void *context;
	struct file *files;
	size_t n;
};

int blktrace_files_create(const char *base, bool force, struct blktrace_files **ret)
{
	struct blktrace_files *files = calloc(1, sizeof(*files));

	if (files && base)
		files->base = strdup(base);
	if (!files || (base && !files->base)) {
		free(files);
		return -ENOMEM;
	}
	files->force = force;
	*ret = files;
	return 0;
}

void blktrace_files_ask(struct blktrace_files *files, blktrace_may_write may_write,
			const void *context)
{
	files->may_write = may_write;
	files->context = context;
}

void blktrace_files_keep(struct blktrace_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].aside.fd >= 0)
			out_flush(&files->files[i].out); /* as far as it goes */
		aside_keep(&files->files[i].aside);
	}
}

void blktrace_files_destroy(struct blktrace_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++) {
		aside_deinit(&files->files[i].aside);
		out_deinit(&files->files[i].out);
		free(files->files[i].device);
	}
	free(files->files);
	free(files->base);
	free(files);
}

static bool in_directory(const struct blktrace_files *files)
{
	size_t n = files->base ? strlen(files->base) : 0;

	return n && files->base[n - 1] == '/';
}

static int make_path(const struct blktrace_files *files, const char *device, uint32_t cpu,
		     char **ret)
{
	_cleanup_free_ char *name = strdup(device);

	if (!name)
		return -ENOMEM;
	for (char *c = name; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	if (!files->base || in_directory(files))
		return asprintf(ret, "%s%s.blktrace.%u", files->base ? files->base : "", name,
				cpu) < 0
			       ? -ENOMEM
			       : 0;
	return asprintf(ret, "%s.blktrace.%u", files->base, cpu) < 0 ? -ENOMEM : 0;
}

/* Nothing else may be there under the base of file @i: with force, what will be replaced. */
static int check_set(const struct blktrace_files *files, size_t i, struct why *why)
{
	const struct file *file = &files->files[i];
	_cleanup_free_ uint32_t *cpus = calloc(files->n, sizeof(*cpus));
	_cleanup_free_ char *base = NULL;
	size_t base_bytes, n = 0;
	uint32_t cpu;

	if (!cpus || make_path(files, file->device, file->cpu, &base) < 0)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t k = 0; k < files->n; k++) {
		if (!strcmp(files->files[k].device, file->device))
			cpus[n++] = files->files[k].cpu;
	}
	if (!input_set_parse(base, &base_bytes, &cpu))
		return 0;
	base[base_bytes] = '\0';
	return blktrace_set_check(base, cpus, n, why);
}

static bool is_first(const struct blktrace_files *files, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(files->files[k].device, files->files[i].device))
			return false;
	}
	return true;
}

static int open_file(struct blktrace_files *files, const char *device, uint32_t cpu,
		     struct why *why)
{
	struct file *file = &files->files[files->n];
	_cleanup_free_ char *path = NULL;
	int r;

	*file = (struct file){.aside.fd = -1, .cpu = cpu, .device = strdup(device)};
	r = file->device ? make_path(files, device, cpu, &path) : -ENOMEM;
	if (r < 0)
		why_set(why, r, "no memory");
	if (r == 0 && files->may_write)
		r = files->may_write(files->context, path, why);
	if (r == 0)
		r = aside_open(&file->aside, path, files->force, why);
	if (r == 0 && out_init(&file->out, file->aside.fd, OUT_ROOM_MAX) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	if (r < 0) {
		aside_deinit(&file->aside);
		free(file->device);
		return r;
	}
	files->n++;
	/* Before a kernel is touched or a recording read, where that can be. */
	if (!files->force && is_first(files, files->n - 1))
		return check_set(files, files->n - 1, why);
	return 0;
}

int blktrace_files_add(struct blktrace_files *files, const char *device, uint32_t cpu,
		       size_t *ret_index, struct why *why)
{
	struct file *grown;
	int r;

	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].cpu == cpu && !strcmp(files->files[i].device, device)) {
			*ret_index = i;
			return 0;
		}
	}
	if (files->n && files->base && !in_directory(files) &&
	    strcmp(files->files[0].device, device) != 0)
		return why_set(
			why, -EINVAL,
			"%s and %s cannot both be written to %s.blktrace.*; give a directory "
			"(%s/) instead",
			files->files[0].device, device, files->base, files->base);
	grown = reallocarray(files->files, files->n + 1, sizeof(*grown));
	if (!grown)
		return why_set(why, -ENOMEM, "no memory");
	files->files = grown;
	r = open_file(files, device, cpu, why);
	if (r < 0)
		return r;
	*ret_index = files->n - 1;
	return 0;
}

int blktrace_files_append(struct blktrace_files *files, size_t index, const void *bytes,
			  size_t size, struct why *why)
{
	struct file *file = &files->files[index];

	out_bytes(&file->out, bytes, size);
	if (file->out.error)
		return why_errno(why, file->out.error, "cannot write %s", file->aside.path);
	return 0;
}

/* blkparse takes the first missing CPU for the end of the set: a CPU that was offline gets a file.
 */
static int fill_holes(struct blktrace_files *files, struct why *why)
{
	size_t n = files->n;

	for (size_t i = 0; i < n; i++) {
		/* Each round moves files->files. */
		uint32_t cpus = files->files[i].cpu < HOLES_MAX ? files->files[i].cpu : 0;

		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			size_t ignored;
			int r = blktrace_files_add(files, files->files[i].device, cpu, &ignored,
						   why);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int blktrace_files_commit(struct blktrace_files *files, struct why *why)
{
	int filled = fill_holes(files, why);

	if (filled < 0)
		return filled;
	for (size_t i = 0; i < files->n; i++) {
		struct file *file = &files->files[i];
		int r = is_first(files, i) ? check_set(files, i, why) : 0;

		if (r < 0)
			return r;
		r = out_flush(&file->out);

		if (r < 0)
			return why_errno(why, r, "cannot write %s", file->aside.path);
	}
	/* Only when all of them are whole does one get its name. */
	for (size_t i = 0; i < files->n; i++) {
		int r = aside_commit(&files->files[i].aside, files->force, why);

		if (r < 0) {
			blktrace_files_keep(files);
			return r;
		}
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "source.h"

enum {
	FILE_SPAN_BYTES = 32 << 10 /* there may be one for each CPU */
};

struct source_file {
	struct source source;
	int fd;
	const char *name;
	uint64_t at;
	uint8_t bytes[FILE_SPAN_BYTES];
};

static int file_next(struct source *source, struct span *ret, struct why *why)
{
	struct source_file *file = (struct source_file *)source;
	ssize_t n;

	do
		n = pread(file->fd, file->bytes, sizeof(file->bytes), (off_t)file->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return why_errno(why, -errno, "cannot read %s at byte %llu", file->name,
				 (unsigned long long)file->at);
	if (n == 0)
		return 0;
	*ret = (struct span){.bytes = file->bytes, .size = (size_t)n, .offset = file->at};
	file->at += (uint64_t)n;
	return 1;
}

static void file_destroy(struct source *source)
{
	free(source);
}

static const struct source_ops file_ops = {.next = file_next, .destroy = file_destroy};

int source_file_create(int fd, const char *name, uint64_t from, struct source **ret)
{
	struct source_file *file = malloc(sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->source.ops = &file_ops;
	file->fd = fd;
	file->name = name;
	file->at = from;
	*ret = &file->source;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "csv_file.h"

#include "out.h"
#include "output.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HEADER_MAX = 1024,
};

/* A row is whole when its line is: there are no line ends in fields. */
static size_t whole_rows(const char *rows, size_t n)
{
	const char *end = memrchr(rows, '\n', n);

	return end ? (size_t)(end - rows) + 1 : 0;
}

/* Takes an open descriptor; what it had before is closed. */
static int adopt(struct csv_file *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		close_keep_errno(fd);
		return -errno;
	}
	if (file->fd != STDOUT_FILENO)
		close_keep_errno(file->fd);
	file->fd = fd;
	file->regular = S_ISREG(st.st_mode);
	file->bytes = file->regular ? (uint64_t)st.st_size : 0;
	file->torn = false;
	file->identity = (struct csv_identity){st.st_dev, st.st_ino};
	if (file->options.identity)
		*file->options.identity = file->identity;
	return 0;
}

static int write_header(struct csv_file *file)
{
	size_t n = strlen(file->options.header), done;
	int r = write_all(file->fd, file->options.header, n, &done);

	/* Half of one would be no header. */
	if (r < 0 && file->regular && done && ftruncate(file->fd, 0) < 0)
		return -errno;
	file->bytes += r < 0 ? 0 : n;
	return r;
}

/* What somebody wrote before is gone on with only if it is the same kind of file. */
static int check_header(struct csv_file *file, struct why *why)
{
	char text[HEADER_MAX], last;
	size_t n = strlen(file->options.header);

	if (pread(file->fd, text, n, 0) != (ssize_t)n || memcmp(text, file->options.header, n) != 0)
		return why_set(why, -EINVAL,
			       "cannot append to %s: its first line is not that of these samples",
			       file->options.path);
	/* Who wrote it may have died within a row. */
	if (pread(file->fd, &last, 1, (off_t)file->bytes - 1) == 1 && last != '\n')
		csv_file_mend(file->options.path, &file->identity);
	return 0;
}

/* What is there is anew with force: it may have another mode, or other names. */
static int open_plain(const struct csv_file_options *options, bool exists, struct why *why)
{
	if (exists && options->append && !options->force)
		return output_open_append(options->path, why);
	if (exists && !options->force)
		return why_set(why, -EEXIST,
			       "%s exists; --force overwrites it, --append goes on behind what is "
			       "there",
			       options->path);
	if (exists)
		unlink(options->path); /* if that fails, so does the next */
	return output_create(options->path, O_RDWR | O_APPEND, why);
}

static int open_path(struct csv_file *file, struct why *why)
{
	const struct csv_file_options *options = &file->options;
	enum output_place place;
	int fd, r = output_look(options->path, &place, why);

	if (r < 0)
		return r;
	/* What is no plain file is there already, and is what was meant. */
	fd = place == OUTPUT_DIRECT ? output_open_direct(options->path, why)
				    : open_plain(options, place == OUTPUT_FILE, why);
	if (fd < 0)
		return fd;
	r = adopt(file, fd);
	return r == 0 && file->regular && file->bytes ? check_header(file, why) : r;
}

int csv_file_open(struct csv_file *file, const struct csv_file_options *options, struct why *why)
{
	int r;

	*file = (struct csv_file){.options = *options, .fd = -1};
	r = options->path ? open_path(file, why) : adopt(file, STDOUT_FILENO);
	if (r == 0 && !(file->regular && file->bytes))
		r = write_header(file);
	if (r < 0 && !why->text[0])
		why_errno(why, r, "cannot write to %s",
			  options->path ? options->path : "standard output");
	return r;
}

void csv_file_close(struct csv_file *file)
{
	if (file->fd != STDOUT_FILENO)
		close_keep_errno(file->fd);
	file->fd = -1;
}

void csv_file_discard(struct csv_file *file)
{
	if (file->fd >= 0 && file->regular && file->options.path && !file->options.append)
		unlink(file->options.path);
	csv_file_close(file);
}

int csv_file_reopen(struct csv_file *file)
{
	int fd;

	if (!file->options.path || !file->regular)
		return 0;
	/* Whoever moved the old one away may have made the next. */
	fd = output_create(file->options.path, O_RDWR | O_APPEND, NULL);
	if (fd == -EEXIST)
		fd = output_open_append(file->options.path, NULL);
	return fd < 0 ? fd : adopt(file, fd);
}

/* PATH.1 becomes PATH.2, and so on; the oldest one goes. */
static int put_aside(const struct csv_file *file)
{
	char from[PATH_MAX], to[PATH_MAX];
	const char *path = file->options.path;

	for (unsigned i = file->options.keep; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%u", path, i);
		snprintf(from, sizeof(from), i > 1 ? "%s.%u" : "%s", path, i - 1);
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	if (!file->options.keep && unlink(path) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* How many of the rows go into this file. */
static size_t fitting_rows(const struct csv_file *file, const char *rows, size_t n)
{
	uint64_t most = file->options.max_bytes;

	if (!most || !file->regular || !file->options.path || file->bytes + n <= most || file->torn)
		return n;
	return file->bytes < most ? whole_rows(rows, (size_t)(most - file->bytes)) : 0;
}

/* Takes the last @n bytes of the file back. */
static bool take_back(struct csv_file *file, size_t n)
{
	struct stat st;

	if (!file->regular || fstat(file->fd, &st) < 0 || st.st_size < (off_t)n ||
	    ftruncate(file->fd, st.st_size - (off_t)n) < 0)
		return false;
	file->bytes -= n;
	return true;
}

static int write_rows(struct csv_file *file, const char *rows, size_t n, size_t *ret_done)
{
	size_t done, whole;
	int r = write_all(file->fd, rows, n, &done);

	file->bytes += file->regular ? done : 0;
	whole = whole_rows(rows, done);
	if (done > whole && !(file->torn && !whole) && take_back(file, done - whole))
		done = whole;
	if (done)
		file->torn = done > whole;
	*ret_done = done;
	return r;
}

int csv_file_write(struct csv_file *file, const char *rows, size_t n, size_t *ret_done)
{
	size_t done = 0;
	int r = 0;

	while (r == 0 && done < n) {
		size_t fits, part = 0;

		/* A new one, or one whose header could not be written. */
		if (file->regular && !file->bytes && (r = write_header(file)) < 0)
			break;
		fits = fitting_rows(file, rows + done, n - done);
		if (!fits && file->bytes > strlen(file->options.header)) {
			r = put_aside(file);
			if (r == 0)
				r = csv_file_reopen(file);
			continue;
		}
		/* A row longer than a file is let through. */
		r = write_rows(file, rows + done, fits ? fits : n - done, &part);
		done += part;
	}
	*ret_done = done;
	return r;
}

void csv_file_mend(const char *path, const struct csv_identity *identity)
{
	_cleanup_close_ int fd =
		open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char tail[8192];
	struct stat st;
	off_t from;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != identity->device ||
	    st.st_ino != identity->inode)
		return;
	from = st.st_size > (off_t)sizeof(tail) ? st.st_size - (off_t)sizeof(tail) : 0;
	n = pread(fd, tail, sizeof(tail), from);
	if (n > 0 && tail[n - 1] != '\n') {
		int ignored = ftruncate(fd, from + (off_t)whole_rows(tail, (size_t)n));

		(void)ignored;
	}
}
